//! What an agent that sees the hidden fault would do. It bounds the scores; it acts without evidence, so it is never cloned.

use super::cluster::Cluster;
use super::fault::{Cause, Fault};
use super::tools::REPLICAS_MAX;
use crate::env::Decision;
use crate::event::{SafeText, ToolCall};

pub fn decide(cluster: &Cluster) -> Decision {
    let decision = |thought: &str, call| Decision { thought: SafeText::new(thought), call };
    let mut unended = cluster.faults.iter().filter(|f| !f.mitigated).peekable();
    if unended.peek().is_none() {
        return decision("all is mitigated", submit(&cluster.faults));
    }
    match unended.find(|f| f.is_active(cluster.tick)) {
        Some(fault) => {
            let name = &cluster.services[fault.service].name;
            decision(&format!("{} of {name}", fault.cause.word()), remedy(fault, name))
        }
        None => decision("it has not begun", ToolCall::new("wait")),
    }
}

fn remedy(fault: &Fault, name: &str) -> ToolCall {
    let on = |tool: &str| ToolCall::new(tool).with("svc", name);
    match fault.cause {
        Cause::Crash | Cause::Leak => on("restart"),
        Cause::Slow => on("shed"),
        Cause::Config => on("rollback"),
        Cause::Spike => on("scale").with("n", fault.replicas_wanted.min(REPLICAS_MAX)),
        Cause::None => ToolCall::new("wait"),
    }
}

fn submit(faults: &[Fault]) -> ToolCall {
    let mut causes = faults.iter().map(|f| f.cause.word());
    let call = ToolCall::new("submit").with("cause", causes.next().unwrap_or(Cause::None.word()));
    match causes.next() {
        Some(second) => call.with("also", second),
        None => call,
    }
}
