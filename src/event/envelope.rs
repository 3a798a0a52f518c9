//! An event with its place in the run.

use super::{EpisodeId, Event, LaneId, Seq, StepIndex};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::str::FromStr;

/// One line of a recording, one frame of a subscription.
///
/// As JSON: `{"seq":9,"t":1200,"lane":0,"k":"DecisionSettled","ep":1,"step":4,"d":{…}}`; `ep` and `step` are left out
/// where the event belongs to none.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    pub seq: Seq,
    /// Nanoseconds since the run began, monotonic.
    pub t_ns: u64,
    pub lane: LaneId,
    pub episode: Option<EpisodeId>,
    pub step: Option<StepIndex>,
    pub event: Event,
}

/// A line that is not an event.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    #[error("not an event line: {0}")]
    Line(#[source] serde_json::Error),
    #[error("event {seq} of kind {kind} has a payload that does not fit: {source}")]
    Payload { seq: Seq, kind: String, source: serde_json::Error },
}

struct Data<'a>(&'a Event);

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.0.serialize_data(s)
    }
}

impl Serialize for Envelope {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(None)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("t", &self.t_ns)?;
        map.serialize_entry("lane", &self.lane)?;
        map.serialize_entry("k", self.event.kind())?;
        if let Some(episode) = self.episode {
            map.serialize_entry("ep", &episode)?;
        }
        if let Some(step) = self.step {
            map.serialize_entry("step", &step)?;
        }
        map.serialize_entry("d", &Data(&self.event))?;
        map.end()
    }
}

#[derive(Deserialize)]
struct Line<'a> {
    seq: Seq,
    t: u64,
    lane: LaneId,
    #[serde(borrow)]
    k: std::borrow::Cow<'a, str>,
    ep: Option<EpisodeId>,
    step: Option<StepIndex>,
    #[serde(borrow)]
    d: &'a RawValue,
}

impl Envelope {
    /// Reads one line. Unknown kinds become `Event::Unknown`, unknown fields are ignored.
    pub fn from_json(line: &str) -> Result<Self, DecodeError> {
        if let Some(envelope) = Self::as_written(line) {
            return Ok(envelope);
        }
        Self::from_parts(line)
    }

    fn from_parts(line: &str) -> Result<Self, DecodeError> {
        let line: Line<'_> = serde_json::from_str(line).map_err(DecodeError::Line)?;
        let event = Event::decode(&line.k, line.d.get()).map_err(|source| DecodeError::Payload {
            seq: line.seq,
            kind: line.k.to_string(),
            source,
        })?;
        Ok(Self { seq: line.seq, t_ns: line.t, lane: line.lane, episode: line.ep, step: line.step, event })
    }

    /// Reads a line whose fields stand as `serialize` puts them, without looking at its payload twice. None where anything is otherwise.
    fn as_written(line: &str) -> Option<Self> {
        let (seq, rest) = number(line.strip_prefix("{\"seq\":")?)?;
        let (t_ns, rest) = number(rest.strip_prefix(",\"t\":")?)?;
        let (lane, rest) = number(rest.strip_prefix(",\"lane\":")?)?;
        let (kind, rest) = rest.strip_prefix(",\"k\":\"")?.split_once('"')?;
        let (episode, rest) = number_after(",\"ep\":", rest)?;
        let (step, rest) = number_after(",\"step\":", rest)?;
        let data = rest.strip_prefix(",\"d\":")?.trim_ascii_end().strip_suffix('}')?;
        let event = Event::decode(kind, data).ok().filter(|event| !matches!(event, Event::Unknown { .. }))?;
        Some(Self { seq: Seq(seq), t_ns, lane: LaneId(lane), episode: episode.map(EpisodeId), step: step.map(StepIndex), event })
    }

    /// `[lane:]episode/step`, or `@seq` where the event belongs to no step.
    pub fn address(&self) -> String {
        address(self.lane, self.episode, self.step, self.seq)
    }
}

/// The address of an event by its place.
pub fn address(lane: LaneId, episode: Option<EpisodeId>, step: Option<StepIndex>, seq: Seq) -> String {
    match (episode, step) {
        (Some(e), Some(s)) if lane == LaneId(0) => format!("{e}/{s}"),
        (Some(e), Some(s)) => format!("{lane}:{e}/{s}"),
        (Some(_), None) | (None, Some(_)) | (None, None) => format!("@{seq}"),
    }
}

/// A number as JSON has it, without sign, and what stands behind it.
fn number<N: FromStr>(text: &str) -> Option<(N, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    // JSON has no leading zeros.
    let is_one = digits == 1 || !number.starts_with('0');
    is_one.then(|| number.parse().ok())?.map(|n| (n, rest))
}

/// The same where `key` comes first; else there is none, and nothing is taken.
fn number_after<'a, N: FromStr>(key: &str, text: &'a str) -> Option<(Option<N>, &'a str)> {
    match text.strip_prefix(key) {
        Some(rest) => number(rest).map(|(n, rest)| (Some(n), rest)),
        None => Some((None, text)),
    }
}

impl<'de> Deserialize<'de> for Envelope {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(d)?;
        Envelope::from_json(raw.get()).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;

    #[test]
    fn a_line_reads_back_as_it_was_written() {
        let text = r#"{"seq":9,"t":1200,"lane":0,"k":"DecisionSettled","ep":1,"step":4,"d":{"duration_ns":7}}"#;
        let envelope = Envelope::from_json(text).unwrap();
        assert_eq!(envelope.event, Event::DecisionSettled(DecisionSettled { duration_ns: 7, memory_bytes: None }));
        assert_eq!(serde_json::to_string(&envelope).unwrap(), text);
        assert_eq!(envelope.address(), "1/4");
    }

    #[test]
    fn an_unknown_kind_is_kept_and_an_unknown_field_ignored() {
        let text = r#"{"seq":9,"t":1,"lane":0,"k":"FutureThing","d":{"x":[1]}}"#;
        let envelope = Envelope::from_json(text).unwrap();
        assert_eq!(envelope.event.kind(), "FutureThing");
        assert_eq!(serde_json::to_string(&envelope).unwrap(), text);
        let more = r#"{"seq":9,"t":1,"lane":0,"k":"DecisionSettled","new":1,"d":{"duration_ns":7,"new":2}}"#;
        assert!(Envelope::from_json(more).is_ok());
    }

    #[test]
    fn the_quick_way_to_read_a_line_says_what_the_other_one_does() {
        let written = r#"{"seq":9,"t":1200,"lane":0,"k":"DecisionSettled","ep":1,"step":4,"d":{"duration_ns":7}}"#;
        assert!(Envelope::as_written(written).is_some());
        let changes = [
            ("\"t\":1200", "\"t\":01200"),
            ("\"t\":1200", "\"t\":-1"),
            ("\"t\":1200", "\"t\": 1200"),
            ("\"t\":1200", "\"t\":18446744073709551616"),
            ("\"lane\":0", "\"lane\":4294967296"),
            ("\"ep\":1,", "\"ep\":1,\"ep\":2,"),
            ("\"ep\":1,", "\"ep\":null,"),
            ("\"ep\":1,\"step\":4", "\"step\":4,\"ep\":1"),
            ("\"k\":", "\"x\":[1],\"k\":"),
            ("DecisionSettled", "Decision\\u0053ettled"),
            ("DecisionSettled", "Other"),
            ("7}}", "7}"),
            ("7}}", "7},\"d\":{\"duration_ns\":8}}"),
            ("7}}", "7},\"blobs\":{}}"),
            ("7}}", "7}} "),
            ("7}}", "7}}\n"),
            ("7}}", "7}}}"),
            ("{\"duration_ns\":7}", "{}"),
            ("{\"duration_ns\":7}", "7"),
        ];
        for (from, to) in changes {
            let line = written.replacen(from, to, 1);
            let slow = Envelope::from_parts(&line).ok();
            let quick = Envelope::as_written(&line);
            assert!(quick.is_none() || quick == slow, "{line}");
            assert_eq!(Envelope::from_json(&line).ok(), slow, "{line}");
        }
    }

    #[test]
    fn a_payload_that_does_not_fit_names_the_event() {
        let error = Envelope::from_json(r#"{"seq":9,"t":1,"lane":0,"k":"DecisionSettled","d":{}}"#).unwrap_err();
        assert!(error.to_string().contains("event 9 of kind DecisionSettled"), "{error}");
    }
}
