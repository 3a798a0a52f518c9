//! The service graph of an episode: a DAG in topological order, gateway first.

use super::level::LevelParams;
use super::rng::Stream;
use serde::{Deserialize, Serialize};

/// Names are short common words, each one token of the built-in tokenizer when punctuation precedes it.
pub const NAMES: [&str; 16] =
    ["gw", "mail", "pay", "stock", "search", "cache", "auth", "user", "cart", "ship", "feed", "ads", "chat", "geo", "bill", "push"];

/// External requests a second at the gateway.
const GATEWAY_RPS: f64 = 15.0;

/// One service as it is deployed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Service {
    pub name: String,
    /// Indices of the services it calls; each is larger than its own.
    pub calls: Vec<usize>,
    /// Probability that a request needs no further call.
    pub stop_ratio: f64,
    pub replicas: u32,
    /// Jobs inside at most, waiting ones included.
    pub capacity: u32,
    /// Mean service time when healthy.
    pub service_mean_s: f64,
    /// Coefficient of variation of the service time.
    pub service_cv: f64,
    /// Requests a second that reach it when all is well.
    pub usual_rps: f64,
}

/// Draws a graph. Utilisations lie between 0.35 and 0.5, so that normal reads normal and each fault overloads.
pub fn draw(params: &LevelParams, rng: &mut Stream) -> Vec<Service> {
    let count = params.services.0 + rng.below(params.services.1 - params.services.0 + 1);
    let mut names: Vec<&str> = NAMES[1..].to_vec();
    let mut services: Vec<Service> = Vec::with_capacity(count);
    for index in 0..count {
        let name = if index == 0 { NAMES[0] } else { names.remove(rng.below(names.len())) };
        services.push(Service {
            name: name.to_owned(),
            calls: Vec::new(),
            stop_ratio: 0.0,
            replicas: 2 + rng.below(2) as u32,
            capacity: 40,
            service_mean_s: 0.0,
            service_cv: 0.4 + 0.5 * rng.uniform(),
            usual_rps: 0.0,
        });
        if index > 0 {
            // The gateway takes the first two, so that it always fans out.
            let parent = if index <= 2 { 0 } else { rng.below(index) };
            services[parent].calls.push(index);
        }
    }
    for index in 3..count {
        if rng.chance(params.extra_edge_ratio) {
            let parent = 1 + rng.below(index - 1);
            if !services[parent].calls.contains(&index) {
                services[parent].calls.push(index);
            }
        }
    }
    set_loads(&mut services, rng);
    services
}

fn set_loads(services: &mut [Service], rng: &mut Stream) {
    let mut rps = vec![0.0; services.len()];
    rps[0] = GATEWAY_RPS;
    for index in 0..services.len() {
        services[index].stop_ratio = if services[index].calls.is_empty() {
            1.0
        } else if index == 0 {
            0.0
        } else {
            0.25
        };
        let each = rps[index] * (1.0 - services[index].stop_ratio) / services[index].calls.len().max(1) as f64;
        for callee in services[index].calls.clone() {
            rps[callee] += each;
        }
        let utilisation = 0.35 + 0.15 * rng.uniform();
        services[index].usual_rps = rps[index];
        services[index].service_mean_s = utilisation * f64::from(services[index].replicas) / rps[index];
    }
}

/// The map as the model reads it: `map;gw>mail,pay;mail>stock`.
pub fn briefing(services: &[Service]) -> String {
    let mut text = String::from("map");
    for service in services.iter().filter(|s| !s.calls.is_empty()) {
        let callees: Vec<&str> = service.calls.iter().map(|&c| services[c].name.as_str()).collect();
        text.push_str(&format!(";{}>{}", service.name, callees.join(",")));
    }
    text
}
