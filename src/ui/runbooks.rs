//! Runbooks: pages that a rule names and the console opens by itself. Those of the rules that ship are part of the program.

use super::lang::tr;
use std::io::Read;
use std::path::Path;

/// A page is for people to read.
const BYTES_MAX: u64 = 256 << 10;

macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        /// Name of the rule, and its page.
        pub const PAGES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../docs/runbooks/", $name, ".md"))),)*];
    };
}

pages! {
    "Watchdog",
    "ActionFailures",
    "ActionFailureRatio",
    "SuccessLow",
    "WrongToolCall",
    "CompressionLow",
    "PolicyLossNotFalling",
    "ValueLossNotFalling",
    "RolloutTrainerMismatch",
    "ImportanceRatioOff",
    "EffectiveSampleSizeLow",
    "KlHigh",
    "MismatchKlGrowing",
    "EntropyCollapse",
    "GradientSpike",
    "RewardGone",
    "TruncationHigh",
    "PolicyStale",
    "EvaluationFalling",
    "GpuHot",
    "GpuPowerThrottle",
    "GpuEccErrors",
    "GpuXid",
    "GpuLost",
    "GpuMemoryFull",
    "StuckRun",
    "MemoryOfAgentGrows",
    "BacklogOld",
    "RecorderFailing",
    "SamplesDropped",
    "EndpointDown",
}

/// The page that a `runbook_url` means: one of ours by its name, or a local file. Why there is none, if so.
pub fn text(url: &str) -> Result<String, String> {
    let last = url.split(['#', '?']).next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    let name = last.strip_suffix(".md").unwrap_or(last);
    if let Some((_, page)) = PAGES.iter().find(|(own, _)| *own == name) {
        return Ok((*page).to_owned());
    }
    let path = url.strip_prefix("file://").unwrap_or(url);
    if path.contains("://") {
        return Err(tr!("{url} is on the web: open it in a browser", url = url));
    }
    file(Path::new(path)).map_err(|why| tr!("no runbook {url}: {why}", url = url, why = why))
}

fn file(path: &Path) -> Result<String, String> {
    use std::os::unix::fs::OpenOptionsExt;
    // What is no file, such as a pipe that nobody writes to, holds nothing up.
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(nonblock).open(path).map_err(|e| e.to_string())?;
    if !file.metadata().map_err(|e| e.to_string())?.is_file() {
        return Err(tr!("it is no regular file"));
    }
    let mut text = String::new();
    file.take(BYTES_MAX).read_to_string(&mut text).map_err(|e| e.to_string())?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_are_found_by_name_and_others_are_read_or_told() {
        assert!(text("https://example.org/x/docs/runbooks/Watchdog.md#top").is_ok_and(|t| t.contains("Watchdog")));
        assert!(text("Watchdog").is_ok());
        assert!(text("https://example.org/other.md").is_err_and(|e| e.contains("browser")));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.md");
        std::fs::write(&path, "# Own").unwrap();
        assert_eq!(text(&path.display().to_string()).as_deref(), Ok("# Own"));
        assert_eq!(text(&format!("file://{}", path.display())).as_deref(), Ok("# Own"));
        assert!(text(&folder.path().display().to_string()).is_err());
        assert!(text("/no/such.md").is_err());
    }
}
