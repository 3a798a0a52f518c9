//! Bytes that the host's disks read and write, from Linux' `/proc/diskstats`. Other systems tell nothing.

use std::path::Path;

/// Of `/proc/diskstats`, whatever the disk's own are (Documentation/admin-guide/iostats.rst of Linux).
const SECTOR_BYTES: u64 = 512;

/// Counts since the host started, read again and again.
#[derive(Default)]
pub(super) struct Disks {
    last: Option<(u64, u64)>,
}

impl Disks {
    /// Bytes read and written since the last call; the first has nothing to compare with.
    pub fn moved(&mut self) -> Option<(u64, u64)> {
        let stats = std::fs::read_to_string("/proc/diskstats").ok();
        // Partitions, loops and what is mapped onto other disks would count the same bytes again; only a disk has a device.
        let now = stats.and_then(|text| totals(&text, |name| Path::new("/sys/block").join(name).join("device").exists()));
        let last = std::mem::replace(&mut self.last, now);
        let ((read, written), (read_before, written_before)) = (now?, last?);
        // A disk that was pulled out takes its counts with it.
        Some((read.saturating_sub(read_before), written.saturating_sub(written_before)))
    }
}

/// Bytes read and written by all disks; unset where there is none.
fn totals(stats: &str, is_disk: impl Fn(&str) -> bool) -> Option<(u64, u64)> {
    let sectors = |words: &[&str], at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let bytes = stats.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        // Numbers of the device and its name; reads, merged, sectors, milliseconds; the same of writes.
        words.get(2).filter(|name| is_disk(name))?;
        Some((sectors(&words, 5)?.saturating_mul(SECTOR_BYTES), sectors(&words, 9)?.saturating_mul(SECTOR_BYTES)))
    });
    bytes.reduce(|(read, written), (r, w)| (read.saturating_add(r), written.saturating_add(w)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATS: &str = "\
   8       0 sda 100 5 2000 30 40 6 800 70 0 90 100 0 0 0 0 2 3
   8       1 sda1 100 5 2000 30 40 6 800 70 0 90 100
 259       0 nvme0n1 1 0 4 0 2 0 6 0 0 0 0
   7       0 loop0 9 0 999 0 0 0 0 0 0 0 0
 nonsense
";

    #[test]
    fn disks_are_counted_once_and_in_bytes() {
        let is_disk = |name: &str| ["sda", "nvme0n1"].contains(&name);
        assert_eq!(totals(STATS, is_disk), Some((2004 * 512, 806 * 512)));
        assert_eq!(totals(STATS, |_| false), None);
        assert_eq!(totals("8 0 sda 1 2 x 4", |_| true), None);
    }

    #[test]
    fn the_first_call_has_nothing_to_compare_with() {
        let mut disks = Disks::default();
        assert_eq!(disks.moved(), None);
        disks.last = disks.last.map(|_| (u64::MAX, u64::MAX));
        assert!(disks.moved().is_none_or(|moved| moved == (0, 0)), "counts that fall are no movement");
    }
}
