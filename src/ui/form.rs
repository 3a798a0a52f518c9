//! The editor of a decision: the call that is pending, field by field as its tool's schema has them, and what is to be answered.
//!
//! What is wrong is known while it is typed, by the same check that the engine makes.

use super::keymap::key_name;
use super::line::{Edit, History, Line};
use crate::event::schema::Type;
use crate::event::{
    CheckpointId, Command, EpisodeId, LaneId, Overriding, Phase, SafeText, Schema, Seed, StepIndex, ToolCall, ToolSpec, Variation, nearest,
};
use crate::state::{DashState, LaneState, Row, RowKind};
use crate::ui::lang::tr;
use crossterm::event::KeyEvent;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A tool that the agent may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    pub name: String,
    pub description: SafeText,
    /// Unset where this program can't read it; then the engine alone checks.
    pub schema: Option<Schema>,
}

/// What comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The decision under way does this instead.
    Override { lane: LaneId, episode: EpisodeId, step: StepIndex },
    /// A branch from before that step does this first.
    Fork { lane: LaneId, episode: EpisodeId, step: StepIndex },
}

impl Purpose {
    pub fn place(self) -> (LaneId, EpisodeId, StepIndex) {
        match self {
            Purpose::Override { lane, episode, step } | Purpose::Fork { lane, episode, step } => (lane, episode, step),
        }
    }

    pub fn is_fork(self) -> bool {
        matches!(self, Purpose::Fork { .. })
    }
}

/// An argument, as it is filled in.
#[derive(Clone, Debug, PartialEq)]
struct Field {
    name: String,
    line: Line,
    /// What the tool says of it, and whether it must be there; unset where it knows none of that name.
    known: Option<(Schema, bool)>,
}

/// What a row of the form is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Tool,
    Argument(usize),
    Result,
    /// Of a fork: whose weights decide in it, and by what its messages are sampled.
    Checkpoint,
    Seed,
}

/// A row, as it is drawn.
pub struct FormRow<'a> {
    pub name: SafeText,
    pub line: &'a Line,
    pub is_required: bool,
    /// What is wrong with it.
    pub problem: Option<String>,
}

/// What became of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormEdit {
    More,
    Send,
    Cancel,
    /// Go on in the editor of the operator's choice.
    Outside,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    pub purpose: Purpose,
    tools: Vec<Tool>,
    checkpoints: Vec<String>,
    /// Whoever carries it out knows more of them: a recording names only those of its run.
    pub any_checkpoint: bool,
    tool: Line,
    fields: Vec<Field>,
    result: Line,
    checkpoint: Line,
    seed: Line,
    at: usize,
    /// The call as the agent made it; unset where it has not said it whole.
    said: Option<ToolCall>,
    /// Texts of arguments that the tool chosen now does not have.
    kept: BTreeMap<String, String>,
    /// What the outside editor left that can't be read, to be mended there.
    pub draft: Option<String>,
    /// The run was paused for this, and goes on behind it.
    pub resumes: bool,
}

/// Fields of a form at most: a file may name any number of arguments.
const FIELDS_MAX: usize = 64;

impl Form {
    /// Of the decision under way; why there is none, if so. `tools` are those of its episode, where they are known: they have its names.
    pub fn of_pending(lane: LaneId, state: &DashState, tools: Vec<ToolSpec>) -> Result<Self, String> {
        let Some(found) = state.lane(lane).filter(|l| l.episode.ended.is_none()) else { return Err(tr!("no episode runs in this lane")) };
        let (episode, step) = (found.episode.episode, found.episode.step);
        let Some(pending) = pending(found) else {
            return Err(tr!("nothing is pending: step {step} is carried out; > goes on to the next one, :rs decides it anew", step = step));
        };
        if pending != step {
            return Ok(Self::new(Purpose::Override { lane, episode, step: pending }, state, tools, None, None));
        }
        let whole = found.episode.message.as_ref().map(|m| m.as_str());
        let streaming = found.transcript.streaming.as_ref().map(|s| s.text.as_str());
        let said = whole.and_then(call_so_far);
        let so_far = said.clone().or_else(|| call_so_far(streaming?));
        Ok(Self::new(Purpose::Override { lane, episode, step }, state, tools, so_far, said))
    }

    /// Of a branch from before a row's step, with what was called there.
    pub fn of_fork(lane: LaneId, row: &Row, rows: &[&Row], state: &DashState, tools: Vec<ToolSpec>) -> Self {
        let here = |r: &&&Row| (r.episode, r.step) == (row.episode, row.step);
        let call =
            rows.iter().filter(here).find_map(|r| if let RowKind::Action { call, .. } = &r.kind { Some(call.clone()) } else { None });
        let purpose = Purpose::Fork { lane, episode: row.episode, step: StepIndex(row.step.0.max(1)) };
        Self::new(purpose, state, tools, call.clone(), call)
    }

    fn new(purpose: Purpose, state: &DashState, known: Vec<ToolSpec>, shown: Option<ToolCall>, said: Option<ToolCall>) -> Self {
        // What is not known of the episode is said of the run, in general.
        let of_run = state.run.iter().flat_map(|run| run.tools.iter());
        let mut tools: Vec<Tool> = Vec::new();
        for spec in known.iter().chain(of_run) {
            if tools.iter().all(|t| t.name != spec.name) {
                let schema = Schema::of_parameters(&spec.parameters).ok();
                tools.push(Tool { name: spec.name.clone(), description: SafeText::new(&spec.description), schema });
            }
        }
        let mut form = Self {
            purpose,
            tools,
            checkpoints: state.checkpoints.iter().map(|c| c.checkpoint.0.clone()).collect(),
            any_checkpoint: false,
            tool: Line::default(),
            fields: Vec::new(),
            result: Line::default(),
            checkpoint: Line::default(),
            seed: Line::default(),
            at: 0,
            said,
            kept: BTreeMap::new(),
            draft: None,
            resumes: false,
        };
        if let Some(call) = shown {
            form.show(&call);
        }
        form
    }

    /// Fills in a call.
    pub fn show(&mut self, call: &ToolCall) {
        self.tool = Line::from(call.name.as_str());
        self.fields.clear();
        self.kept.clear();
        self.lay_out();
        for (name, value) in &call.arguments {
            let at = self.fields.iter().position(|f| f.name == *name);
            let field = match at {
                Some(at) => &mut self.fields[at],
                None if self.fields.len() < FIELDS_MAX => {
                    self.fields.push(Field { name: name.clone(), line: Line::default(), known: None });
                    let last = self.fields.len() - 1;
                    &mut self.fields[last]
                }
                None => continue,
            };
            let text = field.known.as_ref().map_or_else(|| value.to_string(), |(schema, _)| schema.written(value));
            field.line = Line::from(text);
        }
    }

    pub fn result(&self) -> &str {
        self.result.text()
    }

    pub fn set_result(&mut self, text: &str) {
        self.result = Line::from(text);
    }

    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The tool that is named, if there is one of that name.
    pub fn tool(&self) -> Option<&Tool> {
        self.tools.iter().find(|t| t.name == self.tool.text())
    }

    /// Makes the fields those of the tool, with what was typed by their names.
    fn lay_out(&mut self) {
        for field in std::mem::take(&mut self.fields) {
            if !field.line.text().is_empty() {
                self.kept.insert(field.name, field.line.text().to_owned());
            }
        }
        let schema = self.tool().and_then(|t| t.schema.clone());
        let arguments = schema.iter().flat_map(|s| s.arguments());
        let fields: Vec<Field> = arguments
            .take(FIELDS_MAX)
            .map(|(name, schema, is_required)| Field {
                name: name.to_owned(),
                line: Line::from(self.kept.remove(name).unwrap_or_default()),
                known: Some((schema.clone(), is_required)),
            })
            .collect();
        self.fields = fields;
    }

    pub fn slots(&self) -> Vec<Slot> {
        let arguments = (0..self.fields.len()).map(Slot::Argument);
        let fork: &[Slot] = if self.purpose.is_fork() { &[Slot::Checkpoint, Slot::Seed] } else { &[] };
        [Slot::Tool].into_iter().chain(arguments).chain([Slot::Result]).chain(fork.iter().copied()).collect()
    }

    /// The row that has the keys.
    pub fn at(&self) -> usize {
        self.at.min(self.slots().len() - 1)
    }

    pub fn slot(&self) -> Slot {
        self.slots()[self.at()]
    }

    fn line(&self, slot: Slot) -> &Line {
        match slot {
            Slot::Tool => &self.tool,
            Slot::Argument(at) => &self.fields[at].line,
            Slot::Result => &self.result,
            Slot::Checkpoint => &self.checkpoint,
            Slot::Seed => &self.seed,
        }
    }

    fn line_mut(&mut self, slot: Slot) -> &mut Line {
        match slot {
            Slot::Tool => &mut self.tool,
            Slot::Argument(at) => &mut self.fields[at].line,
            Slot::Result => &mut self.result,
            Slot::Checkpoint => &mut self.checkpoint,
            Slot::Seed => &mut self.seed,
        }
    }

    pub fn rows(&self) -> Vec<FormRow<'_>> {
        let row = |slot: Slot| FormRow {
            name: self.name(slot),
            line: self.line(slot),
            is_required: matches!(slot, Slot::Argument(at) if self.fields[at].known.as_ref().is_some_and(|(_, required)| *required)),
            problem: self.problem(slot),
        };
        self.slots().into_iter().map(row).collect()
    }

    fn name(&self, slot: Slot) -> SafeText {
        match slot {
            Slot::Tool => tr!("tool").into(),
            Slot::Argument(at) => SafeText::new(&self.fields[at].name),
            Slot::Result => tr!("result").into(),
            Slot::Checkpoint => tr!("checkpoint").into(),
            Slot::Seed => tr!("seed").into(),
        }
    }

    /// The value of an argument; unset where nothing is typed.
    fn value(&self, at: usize) -> Option<Value> {
        let (field, text) = (&self.fields[at], self.fields[at].line.text());
        if text.is_empty() {
            return None;
        }
        let as_it_is = || serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        Some(field.known.as_ref().map_or_else(as_it_is, |(schema, _)| schema.read(text)))
    }

    /// What is wrong with a row.
    fn problem(&self, slot: Slot) -> Option<String> {
        match slot {
            // Where no tool is known, whoever carries it out says what there is.
            Slot::Tool if self.tool.text().is_empty() || self.tools.is_empty() || self.tool().is_some() => None,
            Slot::Tool => {
                let near = nearest(self.tool.text(), self.tools.iter().map(|t| t.name.as_str()));
                Some(
                    near.map_or_else(
                        || tr!("no tool has this name"),
                        |near| tr!("no tool has this name; did you mean {near}?", near = near),
                    ),
                )
            }
            Slot::Argument(at) => self.problem_of_argument(at),
            Slot::Result => None,
            Slot::Checkpoint if self.checkpoint.text().is_empty() => None,
            Slot::Checkpoint => self.checkpoint_named().is_none().then(|| tr!("no checkpoint has this name")),
            Slot::Seed if self.seed.text().is_empty() => None,
            Slot::Seed => self.seed.text().parse::<u64>().is_err().then(|| tr!("a whole number is needed")),
        }
    }

    fn problem_of_argument(&self, at: usize) -> Option<String> {
        let field = &self.fields[at];
        match (&field.known, self.value(at)) {
            (Some((_, true)), None) => Some(tr!("it is required and missing")),
            (_, None) => None,
            (Some((schema, _)), Some(value)) => {
                let violation = schema.check_one("", &value).err()?;
                let inner = violation.argument.trim_start_matches('.');
                Some(if inner.is_empty() { violation.problem.to_string() } else { format!("{inner}: {}", violation.problem) })
            }
            // What the schema leaves open, it takes.
            (None, Some(value)) => {
                let schema = self.tool()?.schema.as_ref()?;
                let alone: Map<String, Value> = [(field.name.clone(), value)].into_iter().collect();
                let violation = schema.check(&alone).err().filter(|v| v.argument.as_str() == field.name)?;
                Some(violation.problem.to_string())
            }
        }
    }

    fn checkpoint_named(&self) -> Option<CheckpointId> {
        let text = self.checkpoint.text();
        let suffix = format!("-{text}");
        let known = self.checkpoints.iter().find(|c| *c == text || c.ends_with(&suffix)).map(|c| CheckpointId::from(c.as_str()));
        known.or_else(|| (self.any_checkpoint && !text.is_empty()).then(|| CheckpointId::from(text)))
    }

    /// What a row can be, where that is a few words.
    pub fn choices(&self, slot: Slot) -> Vec<String> {
        match slot {
            Slot::Tool => self.tools.iter().map(|t| t.name.clone()).collect(),
            Slot::Argument(at) => self.fields[at].known.as_ref().map_or_else(Vec::new, |(schema, _)| choices_of(schema)),
            Slot::Checkpoint => self.checkpoints.clone(),
            Slot::Result | Slot::Seed => Vec::new(),
        }
    }

    /// What is said of the row that has the keys, for whoever is to fill it in.
    pub fn explained(&self) -> Vec<String> {
        let slot = self.slot();
        let mut told = match slot {
            Slot::Tool => match self.tool() {
                Some(tool) => vec![tool.description.to_string()],
                None if self.tool.text().is_empty() => vec![tr!("empty: the call is what the agent says")],
                None => Vec::new(),
            },
            Slot::Argument(at) => match &self.fields[at].known {
                Some((schema, is_required)) => {
                    let kind = kind_words(schema.kind());
                    let must = if *is_required { tr!("required") } else { tr!("may be left empty") };
                    let bounds = schema.bounds().map(|b| format!(", {b}")).unwrap_or_default();
                    vec![format!("{kind}{bounds}, {must}"), schema.description().to_string()]
                }
                None => Vec::new(),
            },
            Slot::Result => vec![tr!("answers the call in place of the tool, and the call is not made; empty: the tool answers")],
            Slot::Checkpoint => vec![tr!("whose weights decide in the branch; empty: the same")],
            Slot::Seed => vec![tr!("what its messages are sampled by; empty: the same")],
        };
        let choices = self.choices(slot);
        if !choices.is_empty() {
            told.push(tr!("one of: {choices}", choices = choices.join(", ")));
        }
        told.retain(|line| !line.is_empty());
        told
    }

    /// The call that is filled in; unset where no tool is named.
    pub fn call(&self) -> Option<ToolCall> {
        let name = self.tool.text();
        if name.is_empty() {
            return None;
        }
        let arguments = (0..self.fields.len()).filter_map(|at| Some((self.fields[at].name.clone(), self.value(at)?)));
        Some(ToolCall { name: name.to_owned(), arguments: arguments.collect() })
    }

    /// The command that it comes to; why there is none, if so.
    pub fn command(&self, state: &DashState) -> Result<Command, String> {
        if let Some(row) = self.rows().into_iter().find(|row| row.problem.is_some()) {
            return Err(format!("{}: {}", row.name, row.problem.unwrap_or_default()));
        }
        let action = self.call().filter(|call| Some(call) != self.said.as_ref());
        let result = Some(self.result.text()).filter(|text| !text.is_empty()).map(SafeText::new);
        let first = Overriding { action, result };
        let (lane, episode, step) = self.purpose.place();
        if self.purpose.is_fork() {
            let seed = self.seed.text().parse().ok().map(Seed);
            return Ok(Command::Fork {
                lane,
                episode: Some(episode),
                at: step,
                with: Variation { checkpoint: self.checkpoint_named(), seed, first },
            });
        }
        if let Some(told) = self.stale(state) {
            return Err(told);
        }
        if first.is_none() {
            return Err(tr!("nothing is changed; esc leaves it so"));
        }
        Ok(Command::Override { lane, with: first })
    }

    /// Says so where the decision is no longer pending.
    pub fn stale(&self, state: &DashState) -> Option<String> {
        let (lane, episode, step) = self.purpose.place();
        let now = state.lane(lane).filter(|l| l.episode.ended.is_none());
        let is_pending = now.is_some_and(|l| l.episode.episode == episode && pending(l) == Some(step));
        (!self.purpose.is_fork() && !is_pending).then(|| tr!("step {step} went on meanwhile; :rs decides it anew", step = step))
    }

    pub fn key(&mut self, key: &KeyEvent) -> FormEdit {
        let count = self.slots().len();
        let slot = self.slot();
        match key_name(key).unwrap_or_default().as_str() {
            "esc" | "ctrl-c" => return FormEdit::Cancel,
            "enter" => return FormEdit::Send,
            "ctrl-o" => return FormEdit::Outside,
            "tab" => self.at = (self.at() + 1) % count,
            "backtab" => self.at = (self.at() + count - 1) % count,
            "down" if self.choices(slot).is_empty() => self.at = (self.at() + 1).min(count - 1),
            "up" if self.choices(slot).is_empty() => self.at = self.at().saturating_sub(1),
            "down" => self.choose(slot, true),
            "up" => self.choose(slot, false),
            // A line alone would be closed by it.
            "backspace" | "ctrl-h" if self.line(slot).text().is_empty() => {}
            _ => {
                let edit = self.line_mut(slot).key(key, &History::default());
                debug_assert_eq!(edit, Edit::More);
                self.typed(slot);
            }
        }
        FormEdit::More
    }

    /// Puts pasted text into the row that has the keys.
    pub fn insert(&mut self, text: &str) {
        let slot = self.slot();
        self.line_mut(slot).insert(text);
        self.typed(slot);
    }

    /// The first row with something wrong gets the keys.
    pub fn show_problem(&mut self) {
        if let Some(at) = self.slots().into_iter().position(|slot| self.problem(slot).is_some()) {
            self.at = at;
        }
    }

    /// The next of its choices, or the one before.
    fn choose(&mut self, slot: Slot, forward: bool) {
        let choices = self.choices(slot);
        let now = choices.iter().position(|c| c == self.line(slot).text());
        let next = match (now, forward) {
            (None, true) => 0,
            (None, false) => choices.len() - 1,
            (Some(at), true) => (at + 1) % choices.len(),
            (Some(at), false) => (at + choices.len() - 1) % choices.len(),
        };
        *self.line_mut(slot) = Line::from(choices[next].as_str());
        self.typed(slot);
    }

    fn typed(&mut self, slot: Slot) {
        self.draft = None;
        if slot == Slot::Tool {
            self.lay_out();
        }
    }
}

pub fn kind_words(kind: Option<Type>) -> String {
    match kind {
        Some(Type::Object) => tr!("an object, as JSON"),
        Some(Type::Array) => tr!("a list, as JSON"),
        Some(Type::String) => tr!("text"),
        Some(Type::Number) => tr!("a number"),
        Some(Type::Integer) => tr!("a whole number"),
        Some(Type::Boolean) => tr!("true or false"),
        Some(Type::Null) => tr!("null"),
        None => tr!("any value, as JSON"),
    }
}

/// Whether the decision of the lane's step was made: its call stands there.
/// The decision that is to be made: between two of them, and where an episode or a branch has just begun, the next one. Unset where the one
/// under way is carried out already.
fn pending(lane: &LaneState) -> Option<StepIndex> {
    let step = lane.episode.step;
    match lane.phase {
        None | Some(Phase::Settle) => Some(step.next()),
        Some(Phase::Observe | Phase::Think | Phase::Act) => (!is_carried_out(lane)).then_some(step),
    }
}

fn is_carried_out(lane: &LaneState) -> bool {
    let here = |row: &&Row| (row.episode, row.step) == (lane.episode.episode, lane.episode.step);
    let made = |row: &Row| matches!(row.kind, RowKind::Action { .. } | RowKind::Text { .. });
    lane.transcript.rows.iter().rev().take_while(here).any(made)
}

fn choices_of(schema: &Schema) -> Vec<String> {
    if schema.choices().is_empty() && schema.kind() == Some(Type::Boolean) {
        return vec!["true".to_owned(), "false".to_owned()];
    }
    schema.choices().iter().map(|choice| schema.written(choice)).collect()
}

/// What is cut off behind it is tried from this many places at most.
const COMMAS_MAX: usize = 64;

/// The call of a message, as far as it is said: `…<act>{"tool":"scale","svc":"pay","n`.
pub fn call_so_far(message: &str) -> Option<ToolCall> {
    let (_, said) = message.rsplit_once("<act>")?;
    let said = said.split("<end>").next().unwrap_or_default().trim();
    let whole = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
    let cut = |(at, _)| whole(&format!("{}}}", &said[..at]));
    // The last value may be cut, or be a text whose quote is missing only.
    let fields = whole(said).or_else(|| whole(&format!("{said}}}"))).or_else(|| said.rmatch_indices(',').take(COMMAS_MAX).find_map(cut));
    let mut fields = fields?;
    let Some(Value::String(name)) = fields.shift_remove("tool") else { return None };
    Some(ToolCall { name, arguments: fields })
}

#[cfg(test)]
pub mod testing {
    use super::*;
    use crate::event::{Level, RewardFormula, RunStarted};

    pub fn tools() -> Vec<ToolSpec> {
        let scale = serde_json::json!({
            "type": "object",
            "properties": {
                "svc": {"type": "string", "enum": ["checkout", "pay"], "description": "the service"},
                "n": {"type": "integer", "minimum": 1, "maximum": 12},
                "dry": {"type": "boolean"},
            },
            "required": ["svc"],
            "additionalProperties": false,
        });
        let wait = serde_json::json!({"type": "object", "additionalProperties": false});
        let tool = |name: &str, parameters| ToolSpec { name: name.into(), description: format!("{name}s"), parameters, mutates: true };
        vec![tool("scale", scale), tool("wait", wait)]
    }

    pub fn state(message: &str) -> DashState {
        let run = RunStarted {
            run: "r".into(),
            started: String::new(),
            build: String::new(),
            agent: "a".into(),
            env: "ops".into(),
            env_version: "1".into(),
            level: Level::L0,
            seed: Seed(1),
            lanes: 1,
            max_steps: 64,
            tools: tools(),
            reward: RewardFormula::default(),
            profile: "dev".into(),
            decoding: None,
        };
        let mut state = DashState { run: Some(run), ..DashState::default() };
        let lane = state.lanes.entry(LaneId(0)).or_default();
        (lane.episode.episode, lane.episode.step, lane.phase) = (EpisodeId(3), StepIndex(5), Some(Phase::Act));
        lane.episode.message = Some(message.into());
        state
    }

    pub fn form() -> Form {
        let state = state("<think>x<act>{\"tool\":\"scale\",\"svc\":\"pay\",\"n\":6}<end>");
        Form::of_pending(LaneId(0), &state, Vec::new()).unwrap()
    }
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
