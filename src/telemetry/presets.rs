//! What is kept of well-known endpoints, and by which names: `configs/targets/NAME.ron`.

use crate::event::{SafeText, nearest};
use serde::Deserialize;
use std::collections::BTreeMap;

const PRESETS: &[(&str, &str)] = &[
    ("vllm", include_str!("../../configs/targets/vllm.ron")),
    ("sglang", include_str!("../../configs/targets/sglang.ron")),
    ("dcgm", include_str!("../../configs/targets/dcgm.ron")),
    ("ray", include_str!("../../configs/targets/ray.ron")),
    ("prime-rl", include_str!("../../configs/targets/prime-rl.ron")),
    ("node", include_str!("../../configs/targets/node.ron")),
];

/// One preset. Names are first changed, then it is seen whether they are kept, then copied.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// Where a URL names none.
    pub path: String,
    /// Names by their new name; `*` at the end stands for any rest.
    keep: Vec<String>,
    /// What a name begins with, and what it is to begin with.
    prefixes: BTreeMap<String, String>,
    /// Whole names, of older versions, and what the newest calls them.
    names: BTreeMap<String, String>,
    /// Names under which a sample stands a second time: one for each meaning, whatever the engine, so that one rule holds for all.
    also: BTreeMap<String, String>,
}

impl Preset {
    /// All samples, as they come.
    pub fn everything() -> Self {
        let none = BTreeMap::new;
        Self { path: "/metrics".into(), keep: vec!["*".into()], prefixes: none(), names: none(), also: none() }
    }

    /// The error names the presets, or the nearest of them.
    pub fn named(name: &str) -> Result<Self, SafeText> {
        let known = || PRESETS.iter().map(|(known, _)| *known);
        let Some((_, text)) = PRESETS.iter().find(|(known, _)| *known == name) else {
            let hint = nearest(name, known())
                .map_or_else(|| format!("there are {}", known().collect::<Vec<_>>().join(", ")), |near| format!("did you mean `{near}`?"));
            return Err(format!("`{name}` is no preset of a target; {hint}").into());
        };
        ron::from_str(text).map_err(|error| format!("the preset `{name}` of this build is broken: {error}").into())
    }

    /// What a sample is called here; `None` where it is not kept.
    pub fn name_of(&self, name: &str) -> Option<String> {
        let prefix = self.prefixes.iter().find_map(|(from, to)| name.strip_prefix(from.as_str()).map(|rest| format!("{to}{rest}")));
        let name = prefix.unwrap_or_else(|| name.to_owned());
        let name = self.names.get(&name).cloned().unwrap_or(name);
        let keeps = |kept: &String| kept.strip_suffix('*').map_or(*kept == name, |start| name.starts_with(start));
        self.keep.iter().any(keeps).then_some(name)
    }

    /// The name under which a sample stands a second time.
    pub fn also(&self, name: &str) -> Option<&str> {
        self.also.get(name).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_sound() {
        for (name, _) in PRESETS {
            let preset = Preset::named(name).unwrap();
            assert!(preset.path.starts_with('/'), "{name}");
            for name_made in preset.names.values().chain(preset.also.keys()) {
                assert_eq!(
                    preset.name_of(name_made).as_deref(),
                    Some(name_made.as_str()),
                    "{name}: {name_made} is not kept by its own name"
                );
            }
        }
    }

    #[test]
    fn names_of_all_versions_come_to_one() {
        let vllm = Preset::named("vllm").unwrap();
        for name in
            ["vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "ray_vllm_kv_cache_usage_perc", "ray_vllm_gpu_cache_usage_perc"]
        {
            assert_eq!(vllm.name_of(name).as_deref(), Some("vllm:kv_cache_usage_perc"), "{name}");
        }
        assert_eq!(vllm.also("vllm:num_requests_waiting"), Preset::named("sglang").unwrap().also("sglang:num_queue_reqs"));
        assert_eq!(vllm.name_of("python_gc_collections_total"), None);
        assert_eq!(Preset::everything().name_of("any").as_deref(), Some("any"));
    }

    #[test]
    fn an_unknown_preset_is_told_with_the_nearest() {
        assert_eq!(Preset::named("vlm").unwrap_err().as_str(), "`vlm` is no preset of a target; did you mean `vllm`?");
        assert!(Preset::named("prometheus").unwrap_err().contains("there are vllm, sglang, dcgm, ray, prime-rl, node"));
    }
}
