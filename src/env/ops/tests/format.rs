use super::*;
use crate::env::ops::topology::NAMES;

/// Every text that the model reads or writes during episodes of a level, the runbook playing.
fn texts(level: Level, seeds: u64, mut look: impl FnMut(&Observation, &Decision)) {
    for seed in 0..seeds {
        let mut agent = begun(BaselineKind::Heuristic, seed, level);
        play(seed, level, |_, observation| {
            let decision = agent.decide(observation);
            agent.took(&decision.call);
            look(observation, &decision);
            decision.call
        });
    }
}

/// A name after a space would be another token than the same name after punctuation.
fn assert_names_follow_punctuation(text: &str) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for name in NAMES {
        for (at, _) in text.match_indices(name) {
            let (before, after) = (text[..at].chars().next_back(), text[at + name.len()..].chars().next());
            if before.is_some_and(is_word) || after.is_some_and(is_word) {
                continue;
            }
            assert!(before.is_some_and(|c| c.is_ascii_punctuation()), "`{name}` does not follow punctuation in `{text}`");
        }
    }
}

#[test]
fn every_name_follows_punctuation() {
    for level in Level::ALL {
        texts(level, 15, |observation, decision| {
            assert_names_follow_punctuation(&observation.compact);
            assert_names_follow_punctuation(&decision.thought);
        });
        assert_names_follow_punctuation(&Ops::new().reset(Seed(3), level).briefing);
    }
}

#[test]
#[should_panic(expected = "does not follow punctuation")]
fn a_name_after_a_space_is_noticed() {
    assert_names_follow_punctuation("alert(gw,pay), query pay");
}

#[test]
fn a_thought_begins_with_a_span_of_its_observation() {
    for level in Level::ALL {
        texts(level, 15, |observation, decision| {
            let clause = decision.thought.split(", ").next().unwrap();
            assert!(observation.compact.contains(clause), "`{}` is not of `{}`", decision.thought, observation.compact);
        });
    }
}

#[test]
fn the_compact_form_is_as_described() {
    let digit = |c: char| c.is_ascii_digit() || c == '?';
    for level in Level::ALL {
        texts(level, 10, |observation, _| {
            let parts: Vec<&str> = observation.compact.split(';').collect();
            assert!(parts[0].len() >= 3 && parts[0][1..].parse::<u32>().is_ok() && parts[0].starts_with('t'));
            let services: Vec<&&str> = parts[1..].iter().filter(|p| !p.contains('(')).collect();
            for (index, part) in services.iter().enumerate() {
                let words: Vec<&str> = part.split(' ').collect();
                assert!(NAMES.contains(&words[0]) && (index > 0 || words[0] == NAMES[0]), "{part}");
                for (word, key) in words[1..5].iter().zip(['p', 'e', 'c', 'r']) {
                    assert!(word.len() == 2 && word.starts_with(key) && word.ends_with(digit), "{part}");
                }
                assert!(words.len() == 6 && words[5][1..].parse::<u32>().is_ok(), "{part}");
            }
            assert!(parts[parts.len() - 2].starts_with("hot(") && parts[parts.len() - 1].starts_with("alert("));
            assert_eq!(observation.values.len(), services.len() * 5);
        });
    }
}

#[test]
fn alerts_stand_in_topological_order() {
    texts(Level::L1, 20, |observation, _| {
        let order: Vec<&str> = observation.compact.split(';').skip(1).map(|p| p.split(' ').next().unwrap()).collect();
        let alerts = observation.compact.rsplit_once("alert(").unwrap().1.trim_end_matches(')');
        let places: Vec<usize> = alerts.split(',').filter(|n| !n.is_empty()).map(|n| order.iter().position(|o| *o == n).unwrap()).collect();
        assert!(places.is_sorted(), "{}", observation.compact);
    });
}

/// The words for people and the compact form say the same.
#[test]
fn one_observation_in_its_three_forms() {
    let mut env = Ops::new();
    let start = env.reset(Seed(0), Level::L0);
    let query = ToolCall::new("query").with("svc", "gw").with("of", "logs");
    let result = env.step(&Action::Tool(query));
    let observation = result.observation;
    assert!(observation.compact.contains(&format!(";{};", result.result.content)), "the answer stands in the observation");
    assert!(observation.text.contains(&*result.result.content));
    for (field, value) in start.fields.iter().zip(&observation.values) {
        let service = field.name.split('.').next().unwrap();
        let line = observation.text.lines().find(|l| l.starts_with(service)).unwrap();
        let shown = match (field.name.rsplit('.').next().unwrap(), value) {
            (_, None) => "n/a".to_owned(),
            ("p95", Some(ms)) => format!("p95 {ms:.0} ms"),
            ("rps", Some(rps)) => format!("{rps:.1} requests/s"),
            ("errors", Some(ratio)) => format!("errors {:.1} %", ratio * 100.0),
            ("cpu", Some(ratio)) => format!("CPU {:.1} %", ratio * 100.0),
            ("replicas", Some(n)) => format!("{n:.0} replicas"),
            (other, _) => panic!("a new field: {other}"),
        };
        assert!(line.contains(&shown), "`{shown}` of {} is not in `{line}`", field.name);
    }
    assert_eq!(env.step(&wait()).observation.compact.matches("logs(").count(), 0, "an answer is shown once");
}
