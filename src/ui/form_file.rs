//! A form as a file for an outside editor: the call as JSON, what the tool takes as comment lines above it, and back.

use super::form::Form;
use crate::event::{SafeText, ToolCall};
use crate::ui::lang::tr;
use serde_json::{Map, Value, json};

/// A longer file is no call.
pub const BYTES_MAX: usize = 1 << 20;
/// Begins a line that is for whoever reads it.
const COMMENT: &str = "//";

/// What can't be taken, and in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub line: usize,
    pub told: String,
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&tr!("line {n}: {told}", n = self.line, told = self.told))
    }
}

/// The form's text.
pub fn text(form: &Form) -> String {
    let (lane, episode, step) = form.purpose.place();
    let place = tr!("step {step} of episode {episode}, lane {lane}", step = step, episode = episode, lane = lane);
    let mut head = vec![place, tr!("lines that begin with // are left out; an empty file changes nothing")];
    match form.tool() {
        Some(tool) => head.extend(about(&tool.name, &tool.description, tool.schema.as_ref())),
        None => head.push(tr!("tools: {names}", names = form.tools().iter().map(|t| t.name.as_str()).collect::<Vec<_>>().join(", "))),
    }
    // What a tool says of itself may hold line breaks, which would end the comment.
    let comments = head.iter().flat_map(|line| SafeText::new(line).lines().map(str::to_owned).collect::<Vec<_>>());
    let comments: String = comments.map(|line| format!("{COMMENT} {line}\n")).collect();
    comments + &body(form)
}

/// The text that was left, with what is wrong with it on top.
pub fn again(draft: &str, mistake: &Mistake) -> String {
    let told = SafeText::new(&mistake.told).replace('\n', " ");
    // One line more stands above the one that is wrong, unless one like it stood there.
    let mark = format!("{COMMENT} !");
    let (rest, line) = match draft.split_once('\n') {
        Some((first, rest)) if first.starts_with(&mark) => (rest, mistake.line),
        Some(_) | None => (draft, mistake.line + 1),
    };
    format!("{mark} {}\n{rest}", Mistake { line, told })
}

fn about(name: &str, description: &SafeText, schema: Option<&crate::event::Schema>) -> Vec<String> {
    let mut lines = vec![format!("{name}: {description}")];
    for (argument, schema, is_required) in schema.iter().flat_map(|s| s.arguments()) {
        let must = if is_required { tr!("required") } else { tr!("may be left out") };
        let kind = super::form::kind_words(schema.kind());
        let bounds = schema.bounds().map(|b| format!(", {b}")).unwrap_or_default();
        let choices: Vec<String> = schema.choices().iter().map(Value::to_string).collect();
        let choices = if choices.is_empty() { String::new() } else { format!(": {}", choices.join(", ")) };
        lines.push(format!("  {argument}: {kind}{bounds}, {must}{choices}  {}", schema.description()));
    }
    lines
}

fn body(form: &Form) -> String {
    let action = form.call().map(|call| {
        let mut action = Map::new();
        action.insert("tool".into(), call.name.into());
        action.insert("arguments".into(), Value::Object(call.arguments));
        action
    });
    let result = Some(form.result()).filter(|r| !r.is_empty());
    serde_json::to_string_pretty(&json!({ "action": action, "result": result })).unwrap_or_default() + "\n"
}

/// Takes up what was written: fills the form in. What does not fit is told with its line, and then the form is as it was.
pub fn read(text: &str, form: &mut Form) -> Result<(), Mistake> {
    // Comments become empty lines, so that every line keeps its number.
    let bare: String =
        text.lines().map(|line| if line.trim_start().starts_with(COMMENT) { "\n".into() } else { format!("{line}\n") }).collect();
    if bare.trim().is_empty() {
        return Ok(());
    }
    let mistake = |line: usize, told: String| Mistake { line: line.max(1), told };
    let lines = bare.lines().count();
    let unread = |e: serde_json::Error| {
        let told = e.to_string();
        let what = told.split(" at line ").next().unwrap_or_default();
        mistake(e.line().min(lines), tr!("{what}, column {column}", what = what, column = e.column()))
    };
    let read: Value = serde_json::from_str(&bare).map_err(unread)?;
    let at = |word: &str| line_of(&bare, word);
    let Value::Object(mut fields) = read else { return Err(mistake(1, tr!("an object with action and result is needed"))) };
    let (action, result) = (fields.remove("action"), fields.remove("result"));
    if let Some(name) = fields.keys().next() {
        return Err(mistake(at(name), tr!("`{name}` is neither action nor result", name = name)));
    }
    let call = match action {
        None | Some(Value::Null) => None,
        Some(action) => Some(call(action).ok_or_else(|| mistake(at("action"), tr!("an action is an object with tool and arguments")))?),
    };
    let result = match result {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text,
        Some(_) => return Err(mistake(at("result"), tr!("a result is text"))),
    };
    let mut filled = form.clone();
    filled.show(&call.unwrap_or_else(|| ToolCall::new("")));
    filled.set_result(&result);
    if let Some(row) = filled.rows().into_iter().find(|row| row.problem.is_some()) {
        // A tool that is not there, or an argument that is missing, is told where the call begins.
        let known = filled.call().is_some_and(|call| call.arguments.contains_key(row.name.as_str()));
        let line = at(if known { row.name.as_str() } else { "tool" });
        return Err(mistake(line, format!("{}: {}", row.name, row.problem.unwrap_or_default())));
    }
    filled.draft = None;
    *form = filled;
    Ok(())
}

/// `{"tool":"scale","arguments":{…}}`, or as the agent writes it, `{"tool":"scale","svc":"pay"}`.
fn call(action: Value) -> Option<ToolCall> {
    let Value::Object(mut fields) = action else { return None };
    let Some(Value::String(name)) = fields.shift_remove("tool") else { return None };
    let arguments = match fields.get("arguments") {
        Some(Value::Object(arguments)) if fields.len() == 1 => arguments.clone(),
        Some(_) | None => fields,
    };
    Some(ToolCall { name, arguments })
}

/// The line in which a name stands as a key; the first one where it stands in none.
fn line_of(text: &str, name: &str) -> usize {
    let key = Value::String(name.to_owned()).to_string();
    text.lines().position(|line| line.split_once(&key).is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))).map_or(1, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::super::form::testing::form;
    use super::*;

    #[test]
    fn what_is_written_is_read_back_as_it_was() {
        let form = form();
        let mut back = form.clone();
        assert_eq!(read(&text(&form), &mut back), Ok(()));
        assert_eq!((back.call(), back.result()), (form.call(), form.result()));
        assert_eq!(read("// nothing\n\n", &mut back), Ok(()));
        assert_eq!(back.call(), form.call());
    }

    #[test]
    fn what_does_not_fit_is_told_with_its_line_and_changes_nothing() {
        let told = |text: &str| {
            let mut form = form();
            let before = form.clone();
            let told = read(text, &mut form).unwrap_err();
            assert_eq!(form, before);
            told.to_string()
        };
        insta::assert_snapshot!(told("// a\n{\n  \"action\": {\n"), @"line 3: EOF while parsing an object, column 0");
        insta::assert_snapshot!(told("// a\n[]"), @"line 1: an object with action and result is needed");
        insta::assert_snapshot!(told("{\"action\": null,\n\"reslut\": \"x\"}"), @"line 2: `reslut` is neither action nor result");
        insta::assert_snapshot!(told("// a\n{\"action\": {\n\"tool\": \"scale\",\n\"svc\": \"pay\",\n\"n\": 99}}"), @"line 5: n: `99` is out of range; give 1 to 12");
        insta::assert_snapshot!(told("{\"action\":\n{\"tool\": \"scael\"}}"), @"line 2: tool: no tool has this name; did you mean scale?");
        insta::assert_snapshot!(told("{\"action\":\n{\"tool\": \"scale\"}}"), @"line 2: svc: it is required and missing");
        insta::assert_snapshot!(told("{\"result\":\n 3}"), @"line 1: a result is text");
    }

    #[test]
    fn a_mistake_stands_on_top_once_and_its_line_is_right() {
        let first = again("a\nb\n", &Mistake { line: 2, told: "bad".into() });
        assert_eq!(first, "// ! line 3: bad\na\nb\n");
        assert_eq!(again(&first, &Mistake { line: 3, told: "worse".into() }), "// ! line 3: worse\na\nb\n");
    }
}
