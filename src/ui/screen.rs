//! The terminal as a grid of cells: only what changed is written, in one write, inside a synchronised update.

use super::pen::{PLAIN, Pen};
use ratatui::buffer::{Buffer, CellWidth};
use ratatui::layout::Rect;
use std::io::{self, Write};
use std::time::{Duration, Instant};

const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";
const CLEAR: &[u8] = b"\x1b[m\x1b[2J";

pub struct Screen<W: Write> {
    out: W,
    shown: Buffer,
    /// Everything must be written again.
    stale: bool,
    pub bytes_total: u64,
    /// How long the terminal took for the last picture.
    pub took: Duration,
}

/// How many times as long as a picture took the next one waits: a slow link has room for keys and for what else comes.
const REST: u32 = 3;

/// When the next picture is due. Nothing queues: what is drawn is the newest state.
#[derive(Debug)]
pub struct Pacer {
    least: Duration,
    drawn: Option<Instant>,
    took: Duration,
    /// What a slow link carries.
    bytes_per_second: Option<u32>,
    /// How long a slow link has to do with the last picture.
    carrying: Duration,
    /// A key waits for its answer.
    urgent: bool,
}

impl Pacer {
    pub fn new(fps_max: u32, bytes_per_second: Option<u32>) -> Self {
        let least = Duration::from_secs(1) / fps_max.max(1);
        Self { least, drawn: None, took: Duration::ZERO, bytes_per_second, carrying: Duration::ZERO, urgent: false }
    }

    /// A picture of so many bytes was drawn, and the terminal took so long for it.
    pub fn drawn(&mut self, now: Instant, took: Duration, bytes: u64) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        (self.drawn, self.took, self.urgent) = (Some(now), took, false);
        self.carrying = self.bytes_per_second.map_or(Duration::ZERO, |each| Duration::from_secs(1) * bytes / each.max(1));
    }

    /// A key is answered at once, as far as the link takes it.
    pub fn hurry(&mut self) {
        self.urgent = true;
    }

    /// How long until the next picture is due.
    pub fn wait(&self, now: Instant) -> Duration {
        let Some(drawn) = self.drawn else { return Duration::ZERO };
        let gap = if self.urgent { self.took } else { self.least.max(self.took * REST).max(self.carrying) };
        gap.saturating_sub(now.saturating_duration_since(drawn))
    }
}

impl<W: Write> Screen<W> {
    pub fn new(out: W) -> Self {
        Self { out, shown: Buffer::empty(Rect::default()), stale: true, bytes_total: 0, took: Duration::ZERO }
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
        self.took = Duration::ZERO;
        let mut bytes = BEGIN.to_vec();
        if self.stale || self.shown.area != next.area {
            bytes.extend_from_slice(CLEAR);
            self.shown = Buffer::empty(next.area);
            self.stale = false;
        }
        forget_second_halves(&mut self.shown, &next);
        let mut pen = Pen::default();
        for (x, y, cell) in self.shown.diff_iter(&next) {
            pen.put(&mut bytes, (x, y), cell);
        }
        if bytes.len() == BEGIN.len() {
            return Ok(());
        }
        bytes.extend_from_slice(PLAIN);
        bytes.extend_from_slice(END);
        let begin = Instant::now();
        self.send(&bytes)?;
        self.took = begin.elapsed();
        self.shown = next;
        Ok(())
    }
}

/// Where a wide character gives way, terminals differ in what they leave of its second half: that is written again, whatever it was.
fn forget_second_halves(shown: &mut Buffer, next: &Buffer) {
    let is_wide = |symbol: &str| symbol.len() > 2 && symbol.cell_width() > 1;
    for at in 1..shown.content.len() {
        let before = &shown.content[at - 1];
        if is_wide(before.symbol()) && *before != next.content[at - 1] {
            shown.content[at].set_symbol("\u{fffd}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    #[test]
    fn a_slow_terminal_gets_fewer_pictures() {
        let ms = Duration::from_millis;
        let (start, mut pacer) = (Instant::now(), Pacer::new(20, None));
        assert_eq!(pacer.wait(start), Duration::ZERO);
        pacer.drawn(start, ms(1), 9_000);
        assert_eq!(pacer.wait(start + ms(10)), ms(40));
        pacer.drawn(start, ms(200), 9_000);
        assert_eq!(pacer.wait(start + ms(50)), ms(550));
        pacer.hurry();
        assert_eq!(pacer.wait(start + ms(50)), ms(150));
        assert_eq!(pacer.wait(start + ms(300)), Duration::ZERO);
        pacer.drawn(start, ms(0), 9_000);
        pacer.hurry();
        assert_eq!(pacer.wait(start), Duration::ZERO, "a key is answered at once");
        let mut slow = Pacer::new(2, Some(2_000));
        slow.drawn(start, ms(0), 3_000);
        assert_eq!(slow.wait(start), ms(1_500), "as long as the link carries it");
        slow.drawn(start, ms(0), 10);
        assert_eq!(slow.wait(start), ms(500));
    }

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
