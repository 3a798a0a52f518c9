//! Asks a device for one thing after another. Each fails by itself, and what a device does not have it is asked for seldom.

use super::reason::reason;
use crate::event::SafeText;
use nvml_wrapper::error::NvmlError;
use std::collections::BTreeMap;

/// A call that the device or its driver does not have is tried again this much later: MIG may be turned off meanwhile.
const AGAIN_AFTER_NS: u64 = 300_000_000_000;

/// By field: when to ask again, and why it is not to be had.
#[derive(Default)]
pub(super) struct Refused(BTreeMap<&'static str, (u64, &'static str)>);

/// One round of questions.
pub(super) struct Asked<'a> {
    refused: &'a mut Refused,
    now_ns: u64,
    missing: Vec<(SafeText, SafeText)>,
    lost: Option<SafeText>,
}

impl<'a> Asked<'a> {
    pub fn new(refused: &'a mut Refused, now_ns: u64) -> Self {
        Self { refused, now_ns, missing: Vec::new(), lost: None }
    }

    /// The value, or a note why it is missing. Once the device is lost nothing more is asked.
    pub fn field<T>(&mut self, name: &'static str, ask: impl FnOnce() -> Result<T, NvmlError>) -> Option<T> {
        if self.lost.is_some() {
            return None;
        }
        if let Some((again_ns, why)) = self.refused.0.get(name).copied()
            && self.now_ns < again_ns
        {
            self.note(name, why);
            return None;
        }
        self.refused.0.remove(name);
        match ask() {
            Ok(value) => Some(value),
            Err(error) => {
                self.failed(name, &error);
                None
            }
        }
    }

    fn failed(&mut self, name: &'static str, error: &NvmlError) {
        let why = reason(error);
        self.note(name, why);
        match error {
            NvmlError::GpuLost | NvmlError::ResetRequired => self.lost = Some(why.into()),
            NvmlError::NotSupported | NvmlError::FailedToLoadSymbol(_) | NvmlError::FunctionNotFound => {
                self.refused.0.insert(name, (self.now_ns.saturating_add(AGAIN_AFTER_NS), why));
            }
            // A foreign enum; the rest may be better the next time.
            _ => {}
        }
    }

    /// One call that gives two fields fails for both.
    fn note(&mut self, name: &'static str, why: &'static str) {
        let second = match name {
            "utilization_ratio" => Some("memory_utilization_ratio"),
            "memory_used_bytes" => Some("memory_total_bytes"),
            "bar1_used_bytes" => Some("bar1_total_bytes"),
            _ => None,
        };
        self.missing.extend(std::iter::once(name).chain(second).map(|name| (name.into(), why.into())));
    }

    /// The notes since the last call.
    pub fn take_missing(&mut self) -> Vec<(SafeText, SafeText)> {
        std::mem::take(&mut self.missing)
    }

    pub fn lost(&self) -> Option<SafeText> {
        self.lost.clone()
    }
}
