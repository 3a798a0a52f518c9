//! A sealed recording's bytes: Zstandard frames with a table of them at the end, so that any place is one frame away.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use zeekstd::Decoder;

/// Bytes of a frame, unpacked, as `seal` makes them.
pub const FRAME_BYTES: u32 = 1 << 20;
/// No frame that is longer is unpacked.
const FRAME_BYTES_MAX: u64 = 8 << 20;
/// Recordings pack to a tenth or so; what packs better by far is made to fill memory or time.
const RATIO_MAX: u64 = 1000;
/// What stands in the place of a frame that is damaged: nothing that could be a line of a recording.
const UNREADABLE: u8 = b'?';
/// Unpacked frames that are kept.
const KEPT: usize = 8;

pub struct Frames {
    /// The same file, to be asked which it is.
    file: File,
    decoder: Decoder<'static, Packed<File>>,
    length: u64,
    place: u64,
    /// Number and bytes; the one used last stands last.
    kept: VecDeque<(u32, Arc<Vec<u8>>)>,
}

impl Frames {
    pub fn open(file: File) -> io::Result<Self> {
        let own = file.try_clone()?;
        let packed = file.metadata()?.len();
        let decoder = Decoder::new(Packed(file)).map_err(|e| invalid(format!("it is packed and its table of frames is missing or damaged, as where a file was cut short ({e}); `zstd -dc` gives what stands before the damage")))?;
        let table = decoder.seek_table();
        let length = table.size_decomp();
        if table.num_frames() == 0 || table.max_frame_size_decomp() > FRAME_BYTES_MAX {
            return Err(invalid("its frames are none of ours".into()));
        }
        if length / RATIO_MAX > packed {
            return Err(invalid(format!("{packed} bytes are said to hold {length}: it is refused")));
        }
        Ok(Self { file: own, decoder, length, place: 0, kept: VecDeque::new() })
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    fn frame(&mut self, number: u32) -> io::Result<Arc<Vec<u8>>> {
        if let Some(at) = self.kept.iter().position(|(n, _)| *n == number)
            && let Some(found) = self.kept.remove(at)
        {
            self.kept.push_back(found.clone());
            return Ok(found.1);
        }
        let failed = |e: zeekstd::Error| invalid(format!("frame {number} can't be unpacked: {e}"));
        let bytes = self.decoder.seek_table().frame_size_decomp(number).map_err(failed)?.min(FRAME_BYTES_MAX);
        self.decoder.reset();
        self.decoder.set_lower_frame(number).map_err(failed)?;
        self.decoder.set_upper_frame(number).map_err(failed)?;
        let mut unpacked = Vec::with_capacity(bytes as usize);
        match self.decoder.by_ref().take(bytes).read_to_end(&mut unpacked) {
            Err(error) if error.raw_os_error().is_some() => return Err(error),
            Ok(_) if unpacked.len() as u64 == bytes => {}
            // The reader of lines finds that this is no line, tells which events are missing, and goes on behind it.
            Ok(_) | Err(_) => unpacked = vec![UNREADABLE; bytes as usize],
        }
        if self.kept.len() >= KEPT {
            self.kept.pop_front();
        }
        let unpacked = Arc::new(unpacked);
        self.kept.push_back((number, unpacked.clone()));
        Ok(unpacked)
    }
}

/// What is unpacked. Its end is an error: whoever asks for more was promised more, and would ask for ever.
struct Packed<R>(R);

impl<R: Read> Read for Packed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => Ok(bytes),
        }
    }
}

impl<R: Seek> Seek for Packed<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// Unpacks what is held in memory, unless it is more than `bytes_max`.
pub fn unpacked(bytes: &[u8], bytes_max: u64) -> Option<Vec<u8>> {
    let decoder = Decoder::new(Packed(io::Cursor::new(bytes))).ok()?;
    let length = decoder.seek_table().size_decomp();
    let mut unpacked = Vec::new();
    let read = if length > bytes_max { 0 } else { decoder.take(length).read_to_end(&mut unpacked).ok()? };
    (read as u64 == length).then_some(unpacked)
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.place >= self.length {
            return Ok(0);
        }
        let number = self.decoder.seek_table().frame_index_decomp(self.place);
        let start = self.decoder.seek_table().frame_start_decomp(number).map_err(|e| invalid(e.to_string()))?;
        let frame = self.frame(number)?;
        let rest = frame.get(self.place.saturating_sub(start) as usize..).unwrap_or_default();
        let bytes = rest.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&rest[..bytes]);
        self.place += bytes as u64;
        Ok(bytes)
    }
}

impl Seek for Frames {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.place.checked_add_signed(by),
        };
        self.place = place.ok_or_else(|| invalid("a place before the beginning".into()))?;
        Ok(self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use zeekstd::{EncodeOptions, FrameSizePolicy};

    /// One frame that holds so many zeros, without a table.
    fn zeros(bytes: u64) -> Vec<u8> {
        let mut out = Vec::new();
        let policy = FrameSizePolicy::Uncompressed(u32::MAX);
        let mut encoder = EncodeOptions::new().frame_size_policy(policy).into_encoder(&mut out).unwrap();
        io::copy(&mut io::repeat(0).take(bytes), &mut encoder).unwrap();
        encoder.finish().unwrap();
        let table = out.windows(4).rposition(|w| w == [0x5e, 0x2a, 0x4d, 0x18]).unwrap();
        out.truncate(table);
        out
    }

    /// `frames` with a table that says of each how many bytes it takes and holds.
    fn file(frames: &[u8], said: &[(u32, u32)]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(frames).unwrap();
        let mut table = Vec::new();
        said.iter().for_each(|(packed, whole)| table.extend([packed.to_le_bytes(), whole.to_le_bytes()].concat()));
        table.extend((said.len() as u32).to_le_bytes());
        table.push(0);
        table.extend(0x8f92_eab1_u32.to_le_bytes());
        file.write_all(&0x184d_2a5e_u32.to_le_bytes()).unwrap();
        file.write_all(&(table.len() as u32).to_le_bytes()).unwrap();
        file.write_all(&table).unwrap();
        file
    }

    fn refusal(file: File) -> String {
        Frames::open(file).map(drop).unwrap_err().to_string()
    }

    #[test]
    fn what_would_fill_memory_or_time_is_refused() {
        const FRAME: u32 = 8 << 20;
        let one = zeros(u64::from(FRAME));
        let said = (one.len() as u32, FRAME);
        // Ten gigabytes of zeros in frames of a length that is read.
        let count = 1280;
        let told = refusal(file(&one.repeat(count), &vec![said; count]));
        assert!(told.contains("are said to hold 10737418240: it is refused"), "{told}");
        let long = zeros(u64::from(FRAME) + 1);
        let told = refusal(file(&long, &[(long.len() as u32, FRAME + 1)]));
        assert!(told.contains("none of ours"), "{told}");
        assert!(refusal(file(&[], &[])).contains("none of ours"));
    }

    #[test]
    fn a_table_that_lies_ends_in_what_is_no_line() {
        let mut packed = Vec::new();
        let mut encoder = EncodeOptions::new().into_encoder(&mut packed).unwrap();
        encoder.write_all(b"{\"a\":1}\n").unwrap();
        encoder.finish().unwrap();
        let frame = packed.windows(4).rposition(|w| w == [0x5e, 0x2a, 0x4d, 0x18]).unwrap();
        let read = |whole: u32| {
            let mut text = String::new();
            let opened = Frames::open(file(&packed[..frame], &[(frame as u32, whole)]));
            opened.unwrap().read_to_string(&mut text).map(|_| text)
        };
        assert_eq!(read(8).unwrap(), "{\"a\":1}\n");
        // More than there is: the end of the file ends it.
        assert_eq!(read(100).unwrap(), "?".repeat(100));
        assert_eq!(read(3).unwrap(), "{\"a");
    }
}
