//! `rules eval`: which alerts a recording would have fired.

use super::cli::{GlobalArgs, RulesEvalArgs};
use super::dry_run::{DryRow, DryRun, evaluate};
use super::exit::{Code, Failure, Outcome, note, say};
use super::join::configuration;
use super::rule_files::{parse, text};
use crate::alert::rules::{format_duration, parse_duration};
use serde_json::json;

/// Prints what would have fired. A damaged recording is partial input.
pub fn run(args: &RulesEvalArgs, global: &GlobalArgs) -> Outcome {
    let config = configuration(global, None)?;
    let rules = parse(&args.file.display().to_string(), &text(&args.file).map_err(Failure::usage)?).map_err(Failure::usage)?;
    let mut settings = super::alerts::settings(&config);
    if let Some(step) = &args.step {
        let bad = || Failure::usage(format!("`{step}` is no duration such as 5s"));
        settings.interval_ms = parse_duration(step).ok().filter(|ms| *ms > 0).ok_or_else(bad)?;
    }
    let count: usize = rules.groups.iter().map(|group| group.rules.len()).sum();
    let run = evaluate(rules, &args.recording, settings).map_err(Failure::usage)?;
    if args.json {
        print_json(&run)?
    } else {
        print(&run, count)?
    }
    match run.damage {
        None => Ok(Code::Holds),
        Some(damage) => Err(Failure { code: Code::Partial, message: damage }),
    }
}

fn print_json(run: &DryRun) -> Result<(), Failure> {
    let tagged = |kind: &str, value: serde_json::Value| {
        let mut line = serde_json::Map::new();
        line.insert("kind".into(), json!(kind));
        line.extend(value.as_object().cloned().unwrap_or_default());
        say(serde_json::Value::Object(line))
    };
    let to_json = |row: &DryRow| {
        let map = |pairs: &[(String, String)]| pairs.iter().cloned().collect::<std::collections::BTreeMap<_, _>>();
        let mut value = serde_json::to_value(row).map_err(Failure::failed)?;
        value["labels"] = json!(map(&row.labels));
        value["annotations"] = json!(map(&row.annotations));
        Ok::<_, Failure>(value)
    };
    for row in &run.rows {
        tagged("alert", to_json(row)?)?;
    }
    for mute in &run.mute {
        tagged("mute", serde_json::to_value(mute).map_err(Failure::failed)?)?;
    }
    let hurried = serde_json::to_value(&run.hurried).map_err(Failure::failed)?;
    let summary = json!({"alerts": run.rows.len() as u64 + run.rows_left_out, "evaluations": run.evaluations, "t_ns_end": run.t_ns_end, "hurried": hurried});
    tagged("summary", summary)
}

fn print(run: &DryRun, rules: usize) -> Result<(), Failure> {
    for row in &run.rows {
        let lasted = row.resolved_t_ns.map_or("to the end".to_owned(), |end| format!("for {}", clock(end.saturating_sub(row.fired_t_ns))));
        let labels: Vec<String> = row.labels.iter().filter(|(n, _)| n != "alertname").map(|(n, v)| format!("{n}={v:?}")).collect();
        let place = if row.step.is_empty() { format!("@{}", row.seq) } else { format!("{} @{}", row.step, row.seq) };
        say(format_args!("{}  {place}  {}{{{}}}  {} {lasted}", clock(row.fired_t_ns), row.rule, labels.join(", "), row.value))?;
        for (name, text) in &row.annotations {
            say(format_args!("    {name}: {}", crate::event::SafeText::new(text)))?;
        }
    }
    if run.rows_left_out > 0 {
        say(format_args!("and {} more", run.rows_left_out))?;
    }
    for hurried in &run.hurried {
        let (used, own) = (format_duration(hurried.interval_ms), format_duration(hurried.own_interval_ms));
        note(format_args!("group {}: evaluated every {used} instead of every {own}, for which the recording is too short", hurried.group));
    }
    for mute in &run.mute {
        note(format_args!("{} ({}): {}", mute.rule, mute.group, mute.why));
    }
    let alerts = run.rows.len() as u64 + run.rows_left_out;
    note(format_args!(
        "{rules} rules over {}: {alerts} alerts would have fired, {} rules said nothing",
        clock(run.t_ns_end),
        run.mute.len()
    ));
    Ok(())
}

/// `h:mm:ss.t`, as the run's clock has it.
fn clock(t_ns: u64) -> String {
    let tenths = t_ns / 100_000_000;
    format!("{}:{:02}:{:02}.{}", tenths / 36_000, tenths / 600 % 60, tenths / 10 % 60, tenths % 10)
}
