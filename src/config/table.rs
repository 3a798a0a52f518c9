//! The table of settings: each is declared here once.
//!
//! The raw patch, the resolved struct, origins, environment names, `config show` and the suggestions for mistyped names all come
//! from it. `configs/default.ron` holds the values; a test compares its comments with the ones here.

use super::load::{Origin, Profile};
use super::receivers::{Receiver, sound};
use super::scrape::{Scrape, asked};
use super::setting::{
    Charts, Color, Key, Listen, Notify, Parsed, Setting, Severity, any, device, label_names, language, nonempty, one_of, unknown_field,
    unknown_section, within,
};
use crate::event::{CheckpointId, Level, Pace, RewardFormula, Seed};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What the table says of one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub section: &'static str,
    pub name: &'static str,
    /// `section.name`.
    pub path: &'static str,
    /// Lines of the comment.
    pub doc: &'static [&'static str],
}

macro_rules! settings {
    ($(
        $(#[doc = $section_doc:literal])*
        $section:ident: $Settings:ident from $Raw:ident {
            $( $(#[doc = $doc:literal])* $field:ident: $ty:ty => $check:expr, )*
        }
    )*) => {
        $(
            $(#[doc = $section_doc])*
            #[derive(Clone, Debug, PartialEq)]
            pub struct $Settings {
                $( $(#[doc = $doc])* pub $field: $ty, )*
            }

            /// What a patch says of this section; `None` where it says nothing.
            #[derive(Default)]
            struct $Raw {
                $( $field: Option<$ty>, )*
            }

            impl<'de> Deserialize<'de> for $Raw {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    struct Section;
                    impl<'de> Visitor<'de> for Section {
                        type Value = $Raw;
                        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                            f.write_str("a section: (name: value, …)")
                        }
                        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$Raw, A::Error> {
                            let mut raw = $Raw::default();
                            while let Some(Key(key)) = map.next_key()? {
                                match key.as_str() {
                                    $( stringify!($field) => {
                                        let path = concat!(stringify!($section), ".", stringify!($field));
                                        if raw.$field.is_some() {
                                            return Err(A::Error::custom(format!("`{path}` is set twice; keep one")));
                                        }
                                        let value: $ty = map.next_value()
                                            .map_err(|e| A::Error::custom(format!("`{path}` {}", <$ty>::fault(&e.to_string()))))?;
                                        checked(path, &value, $check).map_err(A::Error::custom)?;
                                        raw.$field = Some(value);
                                    } )*
                                    _ => return Err(A::Error::custom(unknown_field(FIELDS, stringify!($section), &key))),
                                }
                            }
                            Ok(raw)
                        }
                    }
                    deserializer.deserialize_struct("", &[$( stringify!($field), )*], Section)
                }
            }
        )*

        /// Every setting, in the order of the file.
        pub const FIELDS: &[Field] = &[$( $( Field {
            section: stringify!($section),
            name: stringify!($field),
            path: concat!(stringify!($section), ".", stringify!($field)),
            doc: &[$( $doc, )*],
        }, )* )*];

        /// A patch: what one file, or all of them so far, say.
        #[derive(Default)]
        pub(super) struct Raw {
            $( $section: $Raw, )*
        }

        impl<'de> Deserialize<'de> for Raw {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Sections;
                impl<'de> Visitor<'de> for Sections {
                    type Value = Raw;
                    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                        f.write_str("a configuration: (section: (name: value, …), …)")
                    }
                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
                        $( let mut $section: Option<$Raw> = None; )*
                        while let Some(Key(key)) = map.next_key()? {
                            match key.as_str() {
                                $( stringify!($section) => {
                                    if $section.is_some() {
                                        return Err(A::Error::custom(concat!("section `", stringify!($section), "` stands twice; put both into one")));
                                    }
                                    $section = Some(map.next_value()?);
                                } )*
                                _ => return Err(A::Error::custom(unknown_section(FIELDS, &key))),
                            }
                        }
                        Ok(Raw { $( $section: $section.unwrap_or_default(), )* })
                    }
                }
                deserializer.deserialize_struct("", &[$( stringify!($section), )*], Sections)
            }
        }

        impl Raw {
            /// Lays `over` on top; what it says now comes from `origin`.
            pub(super) fn overlay(&mut self, over: Raw, origin: &Origin, origins: &mut BTreeMap<&'static str, Origin>) {
                $( $( if let Some(value) = over.$section.$field {
                    self.$section.$field = Some(value);
                    origins.insert(concat!(stringify!($section), ".", stringify!($field)), origin.clone());
                } )* )*
            }

            /// Sets one value from the text of a flag or an environment variable. `None` where no setting has this path.
            pub(super) fn set(&mut self, path: &str, text: &str) -> Option<Result<(), String>> {
                $( $( if path == concat!(stringify!($section), ".", stringify!($field)) {
                    return Some(
                        <$ty>::from_text(text)
                            .map_err(|e| format!("`{path}` {}", <$ty>::fault(&e)))
                            .and_then(|value| {
                                checked(path, &value, $check)?;
                                self.$section.$field = Some(value);
                                Ok(())
                            }),
                    );
                } )* )*
                None
            }

            /// The plain settings; the error is the path of one that nothing set.
            pub(super) fn resolve(self, profile_name: Profile, origins: BTreeMap<&'static str, Origin>) -> Result<Config, &'static str> {
                Ok(Config {
                    $( $section: $Settings {
                        $( $field: self.$section.$field.ok_or(concat!(stringify!($section), ".", stringify!($field)))?, )*
                    }, )*
                    profile_name,
                    origins,
                })
            }
        }

        /// The resolved configuration.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Config {
            $( pub $section: $Settings, )*
            /// The profile that was laid over the defaults.
            pub profile_name: Profile,
            pub(super) origins: BTreeMap<&'static str, Origin>,
        }

        impl Config {
            /// Each value as RON, in the order of `FIELDS`.
            pub(super) fn values(&self) -> Vec<String> {
                vec![$( $( self.$section.$field.show(), )* )*]
            }
        }
    };
}

fn checked<T>(path: &str, value: &T, check: impl Fn(&T) -> Result<(), String>) -> Result<(), String> {
    check(value).map_err(|problem| format!("`{path}` {problem}"))
}

settings! {
    /// What runs.
    run: RunSettings from RawRun {
        /// The environment: ops.
        env: String => nonempty,
        /// How hard the environment is: L0, L1, L2 or L3.
        level: Level => any,
        /// Seed of the run: the same seed gives the same events. None takes a new one.
        seed: Option<Seed> => any,
        /// Episodes that run side by side, decoded as one batch: 1 to 256.
        lanes: u32 => within(1, 256),
        /// Who decides: builtin, heuristic, random, oracle, or a checkpoint directory.
        agent: String => nonempty,
        /// The built-in checkpoint to begin with. None takes the newest.
        checkpoint: Option<CheckpointId> => any,
        /// Where the model runs: auto, cpu, or cuda:N.
        device: String => device,
        /// Speed: "max", or a factor of about one decision a second, 0.1 to 1000.
        pace: Parsed<Pace> => any,
        /// Episodes are cut after this many decisions. None leaves it to the environment.
        max_steps: Option<u32> => |steps: &Option<u32>| steps.map_or(Ok(()), |steps| within(1, 1_000_000)(&steps)),
    }
    /// How the agent thinks.
    agent: AgentSettings from RawAgent {
        /// Randomness of decoding, 0 to 2. 0 takes the likeliest token.
        temperature: f32 => within(0.0, 2.0),
        /// Decode from the likeliest tokens that together have this probability: 0.01 to 1.
        top_p: f32 => within(0.01, 1.0),
        /// Decisions that stand in the prompt word for word before older ones are compressed: 1 to 1000.
        window_steps: u32 => within(1, 1000),
        /// Decisions that a compression keeps word for word; fewer than window_steps.
        keep_steps: u32 => within(0, 999),
        /// Longest message, in tokens: 8 to 4096.
        tokens_max: u32 => within(8, 4096),
    }
    /// The hybrid reward: step_weight · Σ γ^i r_i + final_weight · final.
    reward: RewardSettings from RawReward {
        /// Weight of the discounted step rewards: 0 to 10.
        step_weight: f64 => within(0.0, 10.0),
        /// Weight of the final reward, the share of the task that was done: 0 to 10.
        final_weight: f64 => within(0.0, 10.0),
        /// The discount γ: 0 to 1.
        gamma: f64 => within(0.0, 1.0),
    }
    /// The recording.
    record: RecordSettings from RawRecord {
        /// Whether runs are recorded.
        enabled: bool => any,
        /// Where recordings are made. None is the state directory.
        directory: Option<PathBuf> => any,
        /// Longest time between two commits, in milliseconds: 10 to 10000. A crash loses no more than this.
        commit_interval_ms: u32 => within(10, 10_000),
        /// Whether a recording is packed when its run ends: NAME.jsonl.zst, about a tenth of its size.
        seal: bool => any,
    }
    /// The console.
    ui: UiSettings from RawUi {
        /// Theme: auto, dark, light, high-contrast, colour-blind, system, or a file. auto is dark unless the terminal says that it is light.
        theme: String => nonempty,
        /// Colours: auto, always, never, ansi16, ansi256 or truecolor. NO_COLOR in the environment means never.
        color: Color => any,
        /// How curves are drawn: braille, block or ascii.
        charts: Charts => any,
        /// Draw with ASCII alone. None goes by the locale: ASCII where that says that it is not UTF-8, such as LANG=C.
        ascii: Option<bool> => any,
        /// Columns of characters whose width is ambiguous: 1, or 2 in CJK locales. None asks the terminal.
        ambiguous_width: Option<u8> => |columns: &Option<u8>| columns.map_or(Ok(()), |columns| one_of(&[1, 2])(&columns)),
        /// Whether the mouse focuses and scrolls; otherwise it is left to the terminal.
        mouse: bool => any,
        /// Send fewer bytes a second, for slow links.
        low_bandwidth: bool => any,
        /// Most redraws a second: 1 to 120. Nothing is redrawn without a change.
        fps_max: u32 => within(1, 120),
        /// Keys: a patch over the table of actions. None takes keys.ron in the configuration directory, if it is there.
        keys: Option<PathBuf> => any,
        /// Language: en or zh-CN. None goes by the environment.
        lang: Option<String> => language,
        /// How an alert that fires makes itself heard: none, bell, osc9 or osc777 (a notification of the desktop).
        notify: Notify => any,
        /// Alerts of this severity and above are heard: info, warning or critical.
        notify_severity: Severity => any,
    }
    /// Samples of the machine.
    telemetry: TelemetrySettings from RawTelemetry {
        /// Time between two samples, in milliseconds: 100 to 60000.
        interval_ms: u32 => within(100, 60_000),
        /// Path of the NVML library. None looks where drivers put it.
        nvml_library: Option<PathBuf> => any,
        /// Other processes whose metrics are asked for, such as [(job: "vllm", url: "http://127.0.0.1:8000", preset: "vllm")]. Presets: vllm,
        /// sglang, dcgm, ray, prime-rl, node; without one all samples are kept. Each may have interval_ms (5000: 500 to 3600000), timeout_ms
        /// (2000, at most the interval), bearer_env (the variable that holds a token) and labels ({"cluster": "a"}).
        scrape: Vec<Scrape> => asked,
    }
    /// HTTP in: /metrics and /healthz.
    serve: ServeSettings from RawServe {
        /// Where to listen, such as "127.0.0.1:9464"; a port alone is of the loopback, and 0 takes a free one. None does not listen.
        http: Option<Parsed<Listen>> => any,
    }
    /// Alert rules as Prometheus reads them, evaluated in the process.
    alerts: AlertSettings from RawAlerts {
        /// Whether rules are evaluated. None does so where there is a screen, and headless where rules or receivers are named.
        enabled: Option<bool> => any,
        /// Rule files, such as ["rules.yaml"]; they are watched, and a new version is taken when it is right. [] takes the rules that come with the program.
        rules: Vec<PathBuf> => any,
        /// Time between two looks at the run's series, and between two evaluations of groups that name no interval, in milliseconds: 100 to 3600000.
        interval_ms: u32 => within(100, 3_600_000),
        /// Labels that every alert has besides its own when it is sent out, such as {"cluster": "a"}.
        external_labels: BTreeMap<String, String> => label_names,
        /// What the label `instance` of the run's series says. None is the host's name.
        instance: Option<String> => any,
        /// What the label `job` of the run's series says.
        job: String => nonempty,
        /// The host that a page's command goes to by ssh. None is the host's name.
        host: Option<String> => any,
        /// How long an acknowledgement holds, in minutes: 1 to 10080.
        acknowledge_minutes: u32 => within(1, 10_080),
        /// A receiver is told again of what still fires after this many minutes: 1 to 10080. An Alertmanager has its own.
        repeat_minutes: u32 => within(1, 10_080),
        /// Who is told, such as [(name: "ops", to: Webhook(url_env: "OPS_URL"), severity: critical, matchers: ["team=gpu"])]. Targets:
        /// Webhook(url | url_env | url_file, user, token_env | token_file), Alertmanager(urls: ["http://127.0.0.1:9093"], resend_seconds: 60,
        /// silences: true, user, token_env | token_file), Command(argv: ["/path/to/program"], env: ["NAME"]). A token is sent as a bearer's, with
        /// a user as its password. Each may have send_resolved and timeout_seconds.
        receivers: Vec<Receiver> => sound,
    }
    /// Facts of the place where this runs.
    profile: ProfileSettings from RawProfile {
        /// Words that stand on every screen, such as PROD. None shows nothing.
        banner: Option<String> => any,
        /// Watch only: no key changes the run.
        read_only: bool => any,
        /// A pause ends by itself after this many seconds: 1 to 86400. None lets it last.
        pause_seconds_max: Option<u32> => |seconds: &Option<u32>| seconds.map_or(Ok(()), |seconds| within(1, 86_400)(&seconds)),
    }
}

impl RewardSettings {
    pub fn formula(&self) -> RewardFormula {
        RewardFormula { step_weight: self.step_weight, final_weight: self.final_weight, gamma: self.gamma }
    }
}
