//! Receivers that are there, most of them bad ones: webhooks on loopback, and programs.

use super::hook::{Hook, say};
use super::tests::{page, plan, program, start, stop};
use super::*;
use crate::alert::pager::Page;
use crate::event::AlertNotified;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;

fn webhook(url: String, credential: Option<Credential>) -> Plan {
    plan(To::Webhook(WebhookPlan { address: Address::Plain(url), credential }))
}

fn named(name: &str, plan: Plan) -> Plan {
    Plan { name: name.into(), ..plan }
}

/// The first so many outcomes.
fn outcomes(notifiers: &Notifiers, count: usize) -> Vec<AlertNotified> {
    let mut told = Vec::new();
    for _ in 0..6_000 {
        let new = notifiers.reports().into_iter().filter_map(|event| match event {
            Event::AlertNotified(e) => Some(e),
            _other => None,
        });
        told.extend(new);
        if told.len() >= count {
            return told;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{told:?}");
}

/// Until the other side has gone.
fn hang(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0]);
}

#[test]
fn a_webhook_gets_what_alertmanager_sends() {
    let hook = Hook::saying("204 No Content");
    let credential = Credential { user: Some("ops".into()), token: Token::Text("canary".into()) };
    let notifiers = start(vec![webhook(format!("{}?a=b", hook.url()), Some(credential))]);
    notifiers.tell(&[page("0", true)]);
    let told = &outcomes(&notifiers, 1)[0];
    assert_eq!((told.ok, told.outcome.as_str(), told.receiver.as_str()), (true, "204", "ops"));
    let heard = &hook.wait_for(1)[0];
    let head = heard.head.to_lowercase();
    assert!(head.starts_with("post /hook?a=b http/1.1\r\n") && head.contains("\r\ncontent-type: application/json\r\n"), "{head}");
    // ops:canary
    assert!(heard.head.contains("Basic b3BzOmNhbmFyeQ=="), "{head}");
    let message = heard.json();
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for key in "version groupKey truncatedAlerts status receiver groupLabels commonLabels commonAnnotations externalURL alerts".split(' ') {
        assert!(keys(&message).iter().any(|own| own == key), "{key}");
    }
    let alert = &message["alerts"][0];
    for key in "status labels annotations startsAt endsAt generatorURL fingerprint".split(' ') {
        assert!(keys(alert).iter().any(|own| own == key), "{key}");
    }
    assert_eq!((&message["version"], &message["truncatedAlerts"]), (&json!("4"), &json!(0)));
    assert_eq!(alert["command"], "ssh -t node7 pilothouse attach 01RUN --alert GpuHot");
    assert_eq!((&alert["annotations"]["command"], &alert["annotations"]["runbook_url"]), (&alert["command"], &alert["runbook"]));
    stop(notifiers);
}

#[test]
fn what_fails_for_a_while_is_sent_again_as_it_was() {
    let hook = Hook::start(|number, stream| match number {
        0 => say(stream, "503 Service Unavailable", "not\nnow"),
        // It goes without an answer.
        1 => {}
        _ => say(stream, "200 OK", ""),
    });
    let notifiers = start(vec![webhook(hook.url(), None)]);
    notifiers.tell(&[page("0", true)]);
    let told = outcomes(&notifiers, 3);
    assert!(!told[0].ok && told[0].outcome.as_str() == "503: not now", "{}", told[0].outcome);
    assert!(!told[1].ok && told[1].outcome.contains("/hook"), "{}", told[1].outcome);
    assert!(told[2].ok && told[2].outcome.as_str() == "200", "{}", told[2].outcome);
    let bodies: Vec<String> = hook.heard().into_iter().map(|heard| heard.body).collect();
    assert_eq!(bodies.len(), 3);
    assert!(bodies.iter().all(|body| *body == bodies[0]));
    stop(notifiers);
}

#[test]
fn what_is_refused_is_not_sent_again_and_tells_no_secret() {
    let other = Hook::saying("200 OK");
    let to = other.url();
    let refusing = Hook::start(|_, stream| say(stream, "401 Unauthorized", "who is Bearer canary-token?"));
    let redirecting = Hook::start(move |_, stream| {
        let _ = write!(stream, "HTTP/1.1 307 Elsewhere\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n");
    });
    let credential = || Some(Credential { user: None, token: Token::Text("canary-token".into()) });
    let secret =
        To::Webhook(WebhookPlan { address: Address::Secret(Token::Text("http://127.0.0.1:1/canary-path".into())), credential: None });
    let no_header = Credential { user: None, token: Token::Text("canary\nheader".into()) };
    let notifiers = start(vec![
        named("refusing", webhook(refusing.url(), credential())),
        named("redirecting", webhook(redirecting.url(), credential())),
        named("secret", plan(secret)),
        named("no header", webhook(other.url(), Some(no_header))),
        named("no url", webhook("ftp://u:canary@h/".into(), None)),
    ]);
    notifiers.tell(&[page("0", true)]);
    let told = outcomes(&notifiers, 5);
    for (receiver, words, is_final) in [
        ("refusing", "401: who is Bearer …?", true),
        ("redirecting", "307: a redirect, which is not followed", true),
        ("secret", "nothing listens there", false),
        ("no header", "can't be made", true),
        ("no url", "no URL that can be asked", true),
    ] {
        let outcome = &told.iter().find(|e| e.receiver.as_str() == receiver).unwrap().outcome;
        assert!(outcome.contains(words) && outcome.contains("given up after 1 attempts") == is_final, "{receiver}: {outcome}");
    }
    assert!(!format!("{told:?}").contains("canary"), "{told:?}");
    assert_eq!((refusing.heard().len(), redirecting.heard().len(), other.heard().len()), (1, 1, 0));
    stop(notifiers);
}

#[test]
fn what_a_receiver_says_behind_a_success_is_not_read() {
    let endless = Hook::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n");
        while stream.write_all(&[b'x'; 64 << 10]).is_ok() {}
    });
    let silent = Hook::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n");
        hang(stream);
    });
    let complaining = Hook::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad\r\ncontent-length: 99999999999\r\n\r\n");
        while stream.write_all(&[b'x'; 64 << 10]).is_ok() {}
    });
    let hooks = [("endless", &endless), ("silent", &silent), ("complaining", &complaining)];
    let notifiers = start(hooks.iter().map(|(name, hook)| named(name, webhook(hook.url(), None))).collect());
    notifiers.tell(&[page("0", true)]);
    let told = outcomes(&notifiers, 3);
    for e in told {
        let is_good = e.receiver.as_str() != "complaining";
        assert_eq!(e.ok, is_good, "{e:?}");
        assert!(e.outcome.len() < 300, "{}", e.outcome.len());
    }
    assert!(hooks.iter().all(|(_, hook)| hook.heard().len() == 1), "nothing is sent twice");
    stop(notifiers);
}

#[test]
fn one_that_answers_by_the_byte_holds_up_nobody() {
    let slow = Hook::start(|_, stream| {
        let mut letters = b"HTTP/1.1 200 OK\r\nx-a: ".iter().chain(std::iter::repeat(&b'a'));
        while stream.write_all(&[*letters.next().unwrap()]).is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let good = Hook::saying("200 OK");
    let notifiers = start(vec![named("slow", webhook(slow.url(), None)), named("good", webhook(good.url(), None))]);
    slow.heard();
    for gpu in 0..5 {
        notifiers.tell(&[page(&gpu.to_string(), true)]);
        // Each is heard while the slow one is still at the first.
        good.wait_for(gpu + 1);
    }
    let told = outcomes(&notifiers, 6);
    let failed: Vec<_> = told.iter().filter(|e| !e.ok).collect();
    assert!(failed.len() == 1 && failed[0].outcome.contains("did not answer within"), "{failed:?}");
    notifiers.close();
    notifiers.leave();
}

#[test]
fn at_the_end_each_makes_one_last_attempt_and_says_so() {
    let hook = Hook::saying("500 Broken");
    let notifiers = start(vec![webhook(hook.url(), None)]);
    notifiers.tell(&[page("0", true)]);
    hook.wait_for(1);
    let first = &outcomes(&notifiers, 1)[0];
    assert!(!first.outcome.contains("given up"), "{}", first.outcome);
    stop_and_tell(&notifiers);
    let last = &outcomes(&notifiers, 1)[0];
    assert_eq!(last.outcome.as_str(), "500; given up after 2 attempts, for the run has ended");
    assert_eq!(hook.heard().len(), 2);
}

fn stop_and_tell(notifiers: &Notifiers) {
    notifiers.close();
    while !notifiers.are_done() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(unix)]
#[test]
fn a_program_does_nothing_with_what_labels_say_and_its_output_and_end_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let script = format!("cat > '{}'; yes | head -c 50000000; exit 3", at("body"));
    let notifiers = start(vec![plan(program(&["sh", "-c", &script]))]);
    let hostile = format!("$(touch {0}) `touch {0}` '; touch {0}; ' \u{1b}[2J", at("gone"));
    let labels = Labels::from_pairs([("alertname", hostile.as_str()), ("severity", "critical")]);
    notifiers.tell(&[Page { rule: hostile.clone(), labels, ..page("0", true) }]);
    let told = &outcomes(&notifiers, 1)[0];
    assert!(!told.ok && told.outcome.contains("ended with exit status: 3"), "{}", told.outcome);
    let body = std::fs::read_to_string(at("body")).unwrap();
    assert!(!body.contains('\u{1b}'), "JSON escapes it");
    let message: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(message["alerts"][0]["labels"]["alertname"], hostile.as_str());
    assert!(!folder.path().join("gone").exists());
    notifiers.close();
    notifiers.leave();
}

#[cfg(unix)]
#[test]
fn a_program_that_runs_when_the_run_has_ended_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let began = folder.path().join("began");
    let script = format!("touch '{}'; sleep 600", began.display());
    let forever = Plan { timeout: Duration::from_secs(300), ..plan(program(&["sh", "-c", &script])) };
    let notifiers = start(vec![forever]);
    notifiers.tell(&[page("0", true)]);
    for _ in 0..6_000 {
        if began.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    notifiers.close();
    assert_eq!(notifiers.leave(), ["ops"]);
    let told = &outcomes(&notifiers, 1)[0];
    assert!(told.outcome.contains("had not ended when the run had, and was killed"), "{}", told.outcome);
    stop(notifiers);
}
