//! `diff`: two episodes, branches or recordings: where they part, and what it cost.

use super::bundle::{Unpacked, unpack_if_bundle};
use super::cli::DiffArgs;
use super::exit::{Code, Failure, Outcome, note, unwritten};
use crate::event::{SafeText, num::five_places};
use crate::journal::{Header, write_json};
use crate::source::diff::{
    Address, Cost, Decision, DiffError, Difference, EpisodeDiff, First, Found, Given, Mark, Named, PairDiff, Piece, RecordingDiff, Saw,
    Story, Token, Typed, Unpaired, episodes as episodes_of, recordings as recordings_of, records, token_diff,
};
use crate::ui::widgets::format;
use std::io::{BufWriter, StdoutLock, Write};

pub fn diff(args: &DiffArgs) -> Outcome {
    let a = Typed::parse(&args.a).map_err(Failure::usage)?;
    let b = args.b.as_deref().map(Typed::parse).transpose().map_err(Failure::usage)?;
    let Some(file_a) = a.file else { return Err(Failure::usage("the first name needs a file, such as FILE#1:3")) };
    let mut b = b.map(|b| Named::new(b.file.unwrap_or_else(|| file_a.clone()), b.address));
    let mut a = Named::new(file_a, a.address);
    // What is unpacked is gone with the process, also where a signal ends it.
    super::signals::remove_on_signal();
    let _held = unpack_bundles(&mut a, b.as_mut())?;
    let mut out = Printer { out: BufWriter::new(std::io::stdout().lock()), json: args.json, all: args.all, around: args.around };
    let ended = match (a.address, &b) {
        (None, None) => Err(Failure::usage("name a second recording, or an episode of this one, such as FILE#1:3")),
        (None, Some(b @ Named { address: None, .. })) => recordings(&mut out, &a, b),
        (Some(address), None) => episodes(&mut out, (&a, address), None),
        (Some(in_a), Some(b @ Named { address: Some(in_b), .. })) => episodes(&mut out, (&a, in_a), Some((b, *in_b))),
        (None, Some(_)) | (Some(_), Some(_)) => Err(Failure::usage(DiffError::Kinds)),
    };
    let flushed = out.out.flush().map_err(unwritten);
    let (is_same, broken) = ended.and_then(|ended| flushed.map(|()| ended))?;
    if !is_same {
        broken.iter().for_each(note);
        return Ok(Code::Differs);
    }
    match broken.is_empty() {
        true => Ok(Code::Holds),
        false => Err(Failure { code: Code::Partial, message: format!("what was read is the same, but\n{}", broken.join("\n")) }),
    }
}

/// Lets sides that name a bundle lie where its recording does, for as long as what is given back is held. Their names stay.
pub fn unpack_bundles(a: &mut Named, b: Option<&mut Named>) -> Result<Vec<Unpacked>, Failure> {
    let (asked, mut held) = (a.file.clone(), Vec::new());
    let mut unpack = |side: &mut Named| {
        if let Some(unpacked) = unpack_if_bundle(&side.file)? {
            side.file.clone_from(&unpacked.recording);
            held.push(unpacked);
        }
        Ok(())
    };
    unpack(a)?;
    match b {
        Some(b) if b.file == asked => b.file.clone_from(&a.file),
        Some(b) => unpack(b)?,
        None => {}
    }
    Ok(held)
}

/// Whether nothing differs, and what is wrong with the files.
type Ended = Result<(bool, Vec<String>), Failure>;

fn failure(error: DiffError) -> Failure {
    match error {
        DiffError::Read(_) | DiffError::NoEpisode { .. } | DiffError::NoBranch { .. } | DiffError::Kinds => Failure::usage(error),
        DiffError::Cancelled => Failure::failed(error),
    }
}

fn never() -> bool {
    false
}

fn episodes(out: &mut Printer<'_>, (a, in_a): (&Named, Address), b: Option<(&Named, Address)>) -> Ended {
    let compared = episodes_of((a, in_a), b, &never).map_err(failure)?;
    let names = (a.name.as_str(), b.map_or(a, |(b, _)| b).name.as_str());
    let Found::Episodes(diff) = compared.found else { return Err(Failure::failed("two episodes were asked for")) };
    let written = if out.json { out.episodes_json(&diff, names) } else { out.episodes_text(&diff, names) };
    written.map_err(unwritten)?;
    Ok((diff.is_same(), compared.broken))
}

fn recordings(out: &mut Printer<'_>, a: &Named, b: &Named) -> Ended {
    let mut failed = None;
    let mut differing = 0;
    let mut on_piece = |piece: Piece<'_>| {
        let written = match piece {
            Piece::Headers(headers) => out.headers((&a.name, headers[0]), (&b.name, headers[1])),
            Piece::Pair(pair) => {
                differing += usize::from(!pair.is_same);
                out.pair(&pair, differing)
            }
        };
        written.map_err(|error| {
            failed = Some(error);
            DiffError::Cancelled
        })
    };
    let compared = recordings_of(a, b, &never, &mut on_piece);
    if let Some(error) = failed {
        return Err(unwritten(error));
    }
    let (diff, broken) = compared.map_err(failure)?;
    out.end_of_all(&diff, differing).map_err(unwritten)?;
    Ok((diff.is_same(), broken))
}

struct Printer<'a> {
    out: BufWriter<StdoutLock<'a>>,
    json: bool,
    /// Also what is the same, and all pairs.
    all: bool,
    /// Rows before and behind the first that differs.
    around: usize,
}

/// Pairs that differ and are told one by one.
const PAIRS_TOLD: usize = 40;

type Written = std::io::Result<()>;

impl Printer<'_> {
    fn json(&mut self, record: serde_json::Value) -> Written {
        write_json(&mut self.out, &record)
    }

    /// A line for people. What a file says stands in it, so that it is made safe.
    fn line(&mut self, text: std::fmt::Arguments<'_>) -> Written {
        writeln!(self.out, "{}", one_line(&text.to_string()))
    }

    fn headers(&mut self, a: (&str, &Header), b: (&str, &Header)) -> Written {
        if self.json {
            return self.json(records::recordings(a, b));
        }
        self.line(format_args!("- A {}  run {}  {}", a.0, a.1.id, a.1.started))?;
        self.line(format_args!("+ B {}  run {}  {}", b.0, b.1.id, b.1.started))
    }

    fn episodes_json(&mut self, diff: &EpisodeDiff, names: (&str, &str)) -> Written {
        self.json(records::episodes(diff, names))?;
        for given in &diff.given {
            self.json(records::given(given, true))?;
        }
        if let Some(first) = &diff.first {
            self.json(records::first("divergence", first))?;
        }
        if let Some(drift) = &diff.drift {
            self.json(records::first("drift", drift))?;
        }
        for row in 0..diff.rows.len() {
            if self.all || diff.rows[row].mark() != Mark::Same {
                self.json(records::step(diff, row))?;
            }
        }
        for given in &diff.outcome {
            self.json(records::outcome(given))?;
        }
        let (a, b) = diff.costs();
        self.json(records::cost("a", &a))?;
        self.json(records::cost("b", &b))?;
        self.json(records::summary(diff))
    }

    fn episodes_text(&mut self, diff: &EpisodeDiff, (a, b): (&str, &str)) -> Written {
        self.line(format_args!("- A {a}#{}", titled(&diff.a)))?;
        self.line(format_args!("+ B {b}#{}", titled(&diff.b)))?;
        for given in &diff.given {
            self.given("~", given)?;
        }
        if diff.is_same() {
            self.line(format_args!("= nothing differs in {}", format::counted(diff.rows.len() as u64, "step")))?;
        }
        if let Some(first) = &diff.first {
            let text = told_first(first, diff);
            self.line(format_args!("~ first difference: step {}: {text}", first.step))?;
        }
        if let Some(drift) = &diff.drift {
            let text = told_first(drift, diff);
            self.line(format_args!("~ the same is said with another confidence from step {} on: {text}", drift.step))?;
        }
        self.rows(diff)?;
        self.outcome(diff)
    }

    /// The rows around the first that differs, or all.
    fn rows(&mut self, diff: &EpisodeDiff) -> Written {
        let first = diff.first.as_ref().or(diff.drift.as_ref()).map(|f| f.row);
        let shown = match first {
            _ if self.all => 0..diff.rows.len(),
            Some(row) => row.saturating_sub(self.around)..row.saturating_add(self.around + 1).min(diff.rows.len()),
            None => 0..0,
        };
        if shown.is_empty() {
            return Ok(());
        }
        writeln!(self.out)?;
        let (before, behind) = (shown.start, diff.rows.len() - shown.end);
        if before > 0 {
            self.line(format_args!("  ... {} before", format::counted(before as u64, "step")))?;
        }
        for row in shown {
            self.row(diff, row)?;
        }
        if behind > 0 {
            self.line(format_args!("  ... {} more; --all shows them", format::counted(behind as u64, "step")))?;
        }
        Ok(())
    }

    fn row(&mut self, diff: &EpisodeDiff, row: usize) -> Written {
        let (a, b) = diff.decisions(row);
        let steps = match (a, b) {
            (Some(a), Some(b)) if a.step != b.step => format!("{}|{}", a.step, b.step),
            (Some(d), _) | (None, Some(d)) => d.step.to_string(),
            (None, None) => return Ok(()),
        };
        let mark = diff.rows[row].mark();
        let action = |d: Option<&Decision>| d.and_then(|d| d.action()).map_or_else(|| format::UNSET.to_owned(), |t| one_line(&t));
        let parts: Vec<&str> = diff.rows[row].parts.iter().map(|p| p.word()).collect();
        match mark {
            Mark::Same => return self.line(format_args!("= {steps:<5} {}", action(a))),
            Mark::OnlyA => return self.line(format_args!("- {steps:<5} {}", action(a))),
            Mark::OnlyB => return self.line(format_args!("+ {steps:<5} {}", action(b))),
            Mark::Differs => self.line(format_args!("~ {steps:<5} {}", parts.join(", ")))?,
        }
        if action(a) == action(b) {
            self.line(format_args!("        = {}", action(a)))?;
        } else {
            self.line(format_args!("        - {}", action(a)))?;
            self.line(format_args!("        + {}", action(b)))?;
        }
        self.differences(diff, row)
    }

    fn differences(&mut self, diff: &EpisodeDiff, row: usize) -> Written {
        let (a, b) = diff.decisions(row);
        let found = diff.differences(row);
        let fields = found.iter().filter(|d| matches!(d, Difference::Field { .. })).count();
        let mut told = 0;
        for difference in &found {
            match difference {
                Difference::Action { .. } => {}
                Difference::Token { .. } => self.thought(a, b)?,
                Difference::Field { .. } if !self.all && told >= FIELDS_TOLD => {}
                Difference::Field { .. } => {
                    told += 1;
                    self.line(format_args!("          {}", told_difference(difference)))?;
                }
                // Another observation leads to another confidence.
                Difference::Drift { .. } | Difference::Value { .. } if found.len() > 1 && !self.all => {}
                Difference::Observation { .. }
                | Difference::Message { .. }
                | Difference::Result { .. }
                | Difference::Reward { .. }
                | Difference::Ends { .. }
                | Difference::Hash { .. }
                | Difference::Drift { .. }
                | Difference::Value { .. } => self.line(format_args!("          {}", told_difference(difference)))?,
            }
        }
        match fields.saturating_sub(told) {
            0 => Ok(()),
            more => self.line(format_args!("          and {more} more numbers of the observation")),
        }
    }

    /// The thought with what only one of the two says, and these tokens with their log-probabilities.
    fn thought(&mut self, a: Option<&Decision>, b: Option<&Decision>) -> Written {
        let words = token_diff(a.and_then(|d| d.message.as_ref()), b.and_then(|d| d.message.as_ref()));
        let mut text = String::new();
        for run in words.pairs.chunk_by(|x, y| (x.0.is_some(), x.1.is_some()) == (y.0.is_some(), y.1.is_some())) {
            let of = |tokens: &[Token], places: Vec<usize>| places.iter().map(|n| tokens[*n].text.as_str()).collect::<String>();
            match run.first() {
                Some((Some(_), Some(_))) => text += &of(&words.a, run.iter().filter_map(|p| p.0).collect()),
                Some((Some(_), None)) => text += &format!("[-{}-]", of(&words.a, run.iter().filter_map(|p| p.0).collect())),
                Some((None, _)) => text += &format!("{{+{}+}}", of(&words.b, run.iter().filter_map(|p| p.1).collect())),
                None => {}
            }
        }
        self.line(format_args!("          thought: {text}"))?;
        let alone: Vec<String> = words
            .pairs
            .iter()
            .filter_map(|pair| match pair {
                (Some(n), None) => Some(format!("-{}", told_token(words.a.get(*n)))),
                (None, Some(n)) => Some(format!("+{}", told_token(words.b.get(*n)))),
                (Some(_), Some(_)) | (None, None) => None,
            })
            .collect();
        let shown = if self.all { alone.len() } else { TOKENS_TOLD.min(alone.len()) };
        let more = alone.len() - shown;
        let more = if more > 0 { format!("  and {more} more") } else { String::new() };
        self.line(format_args!("          tokens:  {}{more}", alone[..shown].join("  ")))
    }

    fn given(&mut self, mark: &str, given: &Given) -> Written {
        let text = |v: &Option<String>| cut(v.as_deref().unwrap_or(format::UNSET));
        self.line(format_args!("{mark} {}: {} -> {}", given.what, text(&given.a), text(&given.b)))
    }

    fn outcome(&mut self, diff: &EpisodeDiff) -> Written {
        writeln!(self.out)?;
        for given in &diff.outcome {
            let number = |v: &Option<String>| v.as_ref().and_then(|v| v.parse::<f64>().ok());
            match (number(&given.a), number(&given.b)) {
                (Some(a), Some(b)) => self.line(format_args!("~ {}: {}", given.what, format::apart(Some(a), Some(b)).join(" -> ")))?,
                (_, _) => self.given("~", given)?,
            }
        }
        let (a, b) = diff.costs();
        self.costs(&a, &b)
    }

    fn costs(&mut self, a: &Cost, b: &Cost) -> Written {
        self.line(format_args!("  {:<14} {:>12} {:>12} {:>12}", "cost", "A", "B", "B less A"))?;
        let counts = [
            ("decisions", a.decisions, b.decisions),
            ("tokens", a.tokens, b.tokens),
            ("prompt tokens", a.prompt_tokens, b.prompt_tokens),
            ("tool errors", a.tool_errors, b.tool_errors),
        ];
        for (what, a, b) in counts {
            let less = i128::from(b) - i128::from(a);
            self.line(format_args!("  {what:<14} {a:>12} {b:>12} {less:>+12}"))?;
        }
        for (what, a, b) in [("thinking", a.think_ns, b.think_ns), ("tools", a.tool_ns, b.tool_ns)] {
            let sign = if b >= a { '+' } else { '-' };
            let less = format!("{sign}{}", format::duration(b.abs_diff(a)));
            self.line(format_args!("  {what:<14} {:>12} {:>12} {less:>12}", format::duration(a), format::duration(b)))?;
        }
        Ok(())
    }

    fn pair(&mut self, pair: &PairDiff, differing: usize) -> Written {
        if self.json {
            return self.json(records::pair(pair));
        }
        if !self.all && (pair.is_same || differing > PAIRS_TOLD) {
            return Ok(());
        }
        let names = if pair.a == pair.b { pair.a.to_string() } else { format!("{} | {}", pair.a, pair.b) };
        let seed = format::or_unset(pair.seed, |s| s.to_string());
        if pair.is_same {
            return self.line(format_args!("= {names}  seed {seed}"));
        }
        let first = pair.first.as_ref().or(pair.drift.as_ref());
        let place = first.map_or_else(
            || "what they were given differs".to_owned(),
            |f| {
                let text = f.difference.as_ref().map_or_else(|| "only one goes on".to_owned(), told_difference);
                format!("step {}: {text}", f.step)
            },
        );
        let returns = format::apart(pair.returns.0, pair.returns.1);
        let verdicts = (pair.verdicts.0.unwrap_or("unfinished"), pair.verdicts.1.unwrap_or("unfinished"));
        self.line(format_args!("~ {names}  seed {seed}  {place}"))?;
        self.line(format_args!("      return {} -> {}  {} -> {}", returns[0], returns[1], verdicts.0, verdicts.1))
    }

    fn end_of_all(&mut self, diff: &RecordingDiff, differing: usize) -> Written {
        if self.json {
            for (given, counts) in diff.given.iter().map(|g| (g, true)).chain(diff.told.iter().map(|g| (g, false))) {
                self.json(records::given(given, counts))?;
            }
            for (side, all) in [("a", &diff.only_a), ("b", &diff.only_b)] {
                for alone in all {
                    self.json(records::unpaired(side, alone))?;
                }
            }
            self.json(records::cost("a", &diff.costs.0))?;
            self.json(records::cost("b", &diff.costs.1))?;
            return self.json(records::summary_of_all(diff));
        }
        if differing > PAIRS_TOLD && !self.all {
            self.line(format_args!("  ... {} more pairs differ; --all shows them", differing - PAIRS_TOLD))?;
        }
        for (mark, all) in [("-", &diff.only_a), ("+", &diff.only_b)] {
            self.unpaired(mark, all)?;
        }
        for given in &diff.given {
            self.given("~", given)?;
        }
        for given in &diff.told {
            self.given(" ", given)?;
        }
        if diff.is_same() {
            self.line(format_args!("= nothing differs in {}", format::counted(diff.pairs as u64, "episode")))?;
        } else {
            let pairs = format::counted(diff.pairs as u64, "pair");
            self.line(format_args!("~ {} of {pairs} of episodes the same; {} fixed, {} broken", diff.same, diff.fixed, diff.broken))?;
        }
        self.costs(&diff.costs.0, &diff.costs.1)
    }

    fn unpaired(&mut self, mark: &str, all: &[Unpaired]) -> Written {
        let shown = if self.all { all.len() } else { PAIRS_TOLD.min(all.len()) };
        for alone in &all[..shown] {
            let seed = format::or_unset(alone.seed, |s| s.to_string());
            self.line(format_args!("{mark} {}  seed {seed}  has no partner", alone.address))?;
        }
        match all.len() - shown {
            0 => Ok(()),
            more => self.line(format_args!("{mark} ... {more} more have no partner; --all shows them")),
        }
    }
}

/// Numbers of an observation, and tokens of a thought, that are told one by one.
const FIELDS_TOLD: usize = 6;
const TOKENS_TOLD: usize = 12;
/// A longer text is cut.
const TEXT_CHARS: usize = 120;

fn titled(story: &Story) -> String {
    let seed = format::or_unset(story.seed(), |s| s.to_string());
    let level = format::or_unset(story.level(), |l| l.to_string());
    let agent = story.checkpoint().map_or(String::new(), |c| format!("  {c}"));
    let branch = story.branch.as_ref().map_or(String::new(), |b| format!("  ({b})"));
    format!("{}  seed {seed}  {level}{agent}{branch}", story.address)
}

fn told_first(first: &First, diff: &EpisodeDiff) -> String {
    let Some(difference) = &first.difference else {
        let (a, _) = diff.decisions(first.row);
        let (whose, which) = if a.is_some() { ("A", "B") } else { ("B", "A") };
        return format!("{whose} goes on, {which} has no such step");
    };
    told_difference(difference)
}

/// One line of what differs, with both sides.
fn told_difference(difference: &Difference) -> String {
    let text = |t: &Option<SafeText>| t.as_ref().map_or_else(|| format::UNSET.to_owned(), |t| cut(t));
    let figures = |a: &Option<f64>, b: &Option<f64>| format::apart(*a, *b).join(" -> ");
    let saw = |s: &Saw| {
        let error = s.error_type.map_or(String::new(), |e| format!("{e:?}: "));
        error + &text(&s.text)
    };
    match difference {
        Difference::Field { name, a, b, .. } => format!("observation {name}: {}", figures(a, b)),
        Difference::Observation { a, b } => format!("observation: {} -> {}", text(a), text(b)),
        Difference::Token { index, a, b } => {
            format!("token {} of the thought: A {}, B {}", index + 1, told_token(a.as_ref()), told_token(b.as_ref()))
        }
        Difference::Message { a, b } => format!("message: {} -> {}", text(a), text(b)),
        Difference::Action { a, b } => format!("action: {} -> {}", text(a), text(b)),
        Difference::Result { a, b } => format!("result: {} -> {}", saw(a), saw(b)),
        Difference::Reward { a, b } => format!("reward: {}", figures(a, b)),
        Difference::Ends { a, b } => format!("episode: {} -> {}", a.unwrap_or(format::UNSET), b.unwrap_or(format::UNSET)),
        Difference::Hash { a, b } => {
            let hash = |v: &Option<u64>| format::or_unset(*v, |v| format!("{v:016x}"));
            format!("state hash: {} -> {}", hash(a), hash(b))
        }
        Difference::Drift { index, a, b } => {
            format!("log-probability of token {}: A {}, B {}", index + 1, told_token(a.as_ref()), told_token(b.as_ref()))
        }
        Difference::Value { a, b } => format!("value: {}", figures(a, b)),
    }
}

fn told_token(token: Option<&Token>) -> String {
    let Some(token) = token else { return "nothing".to_owned() };
    let logprob = format::or_unset(token.logprob, |l| format!("{}", five_places(l)));
    format!("{:?} ({logprob})", cut(&token.text))
}

fn one_line(text: &str) -> String {
    SafeText::new(text).replace(['\n', '\t'], " ")
}

fn cut(text: &str) -> String {
    let text = one_line(text);
    let mut chars = text.chars();
    let head: String = chars.by_ref().take(TEXT_CHARS).collect();
    if chars.next().is_some() { head + "..." } else { head }
}

#[cfg(test)]
mod tests;
