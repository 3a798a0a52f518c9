//! The terminal as a grid of cells: only what changed is written, in one write, inside a synchronised update.

use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::io::{self, Write};

/// Bytes of a frame, collected so that one write carries them all.
#[derive(Default)]
struct Frame(Vec<u8>);

impl Write for Frame {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";

pub struct Screen<W: Write> {
    out: W,
    shown: Buffer,
    /// Everything must be written again.
    stale: bool,
    pub bytes_total: u64,
}

impl<W: Write> Screen<W> {
    pub fn new(out: W) -> Self {
        Self { out, shown: Buffer::empty(Rect::default()), stale: true, bytes_total: 0 }
    }

    /// What is on the terminal is not known any more.
    pub fn forget(&mut self) {
        self.stale = true;
    }

    /// Hands the terminal something that is no picture.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.out.flush()?;
        self.bytes_total += bytes.len() as u64;
        Ok(())
    }

    /// Shows `next`. Writes nothing when nothing changed.
    pub fn show(&mut self, next: Buffer) -> io::Result<()> {
        let mut frame = Frame::default();
        if self.stale || self.shown.area != next.area {
            frame.0.extend_from_slice(b"\x1b[0m\x1b[2J");
            self.shown = Buffer::empty(next.area);
            self.stale = false;
        }
        let blank = frame.0.is_empty();
        let updates = self.shown.diff(&next);
        if updates.is_empty() && blank {
            return Ok(());
        }
        let mut backend = CrosstermBackend::new(&mut frame);
        backend.draw(updates.into_iter())?;
        let mut bytes = Vec::with_capacity(frame.0.len() + 16);
        bytes.extend_from_slice(BEGIN);
        bytes.extend_from_slice(&frame.0);
        bytes.extend_from_slice(END);
        self.send(&bytes)?;
        self.shown = next;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    #[test]
    fn nothing_is_written_when_nothing_changed() {
        let mut out = Vec::new();
        let mut screen = Screen::new(&mut out);
        let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 2));
        buffer.set_string(0, 0, "hello", Style::new());
        screen.show(buffer.clone()).unwrap();
        let first = screen.bytes_total;
        screen.show(buffer.clone()).unwrap();
        assert_eq!(screen.bytes_total, first);
        buffer.set_string(0, 1, "x", Style::new());
        screen.show(buffer).unwrap();
        assert!(screen.bytes_total > first && screen.bytes_total - first < 60);
    }
}
