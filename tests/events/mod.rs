//! Random runs: every kind of event, in orders that a run would hardly have, with text and numbers that are hard to keep.

use pilothouse::event::*;
use pilothouse::journal::{Header, HeaderEnv, Place};
use serde_json::json;

/// Of a recording of such a run.
pub fn header(seed: u64) -> Header {
    Header {
        fmt: "pilothouse-rec".into(),
        v: [1, 0],
        id: RunId::from("01J00000000000000000000000"),
        started: "2026-01-01T00:00:00Z".into(),
        build: "test".into(),
        env: HeaderEnv { name: "ops".into(), version: "1".into(), params_sha256: "ab".into() },
        level: Level::L1,
        seed: Seed(seed),
        config_sha256: "cd".into(),
        checkpoint: None,
        lanes: 3,
        redaction: "v1".into(),
        cpu: vec!["avx2".into()],
    }
}

/// SplitMix64: small, and the same everywhere.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In 0..n.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    fn float(&mut self) -> f64 {
        let plain = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        self.pick(&[plain, -plain * 1e-300, plain * 1e17, 0.1 + 0.2, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN])
    }

    fn finite(&mut self) -> f64 {
        Some(self.float()).filter(|f| f.is_finite()).unwrap_or(0.25)
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(3) > 0).then(|| make(self))
    }

    fn text(&mut self) -> SafeText {
        let pieces = [
            "p95 is high",
            " \n\t",
            "\u{1b}[2J\u{1b}]52;c;AAAA\u{7}",
            "\u{202e}drowssap",
            "工单 é 👩\u{200d}💻",
            "\u{301}\u{302}\u{303}\u{304}\u{305}",
            "\"quoted\\\"",
            "\u{9b}\u{7f}\u{feff}\r\n",
            "</s>{}[]",
        ];
        let count = self.below(5);
        SafeText::from((0..count).map(|_| self.pick(&pieces)).collect::<String>())
    }

    fn checkpoint(&mut self) -> CheckpointId {
        CheckpointId::from(self.pick(&["deckhand-early", "deckhand-middle", "deckhand-final"]))
    }

    fn call(&mut self) -> ToolCall {
        let name = self.pick(&["scale", "restart", "inspect", "\u{1b}tool"]);
        let number = self.finite();
        ToolCall::new(name)
            .with("service", self.text().as_str())
            .with("to", self.next())
            .with("by", number)
            .with("deep", json!({"a": [null, true]}))
    }

    fn error_type(&mut self) -> ErrorType {
        self.pick(&[ErrorType::Format, ErrorType::UnknownTool, ErrorType::Schema, ErrorType::Refused, ErrorType::Timeout])
    }

    fn variation(&mut self) -> Variation {
        let first = Overriding { action: self.maybe(Self::call), result: self.maybe(Self::text) };
        Variation { checkpoint: self.maybe(Self::checkpoint), seed: self.maybe(|r| Seed(r.next())), first }
    }

    fn labels(&mut self) -> LabelSet {
        (0..self.below(3)).map(|_| (self.text(), self.text())).collect()
    }

    fn alert_detail(&mut self) -> AlertDetail {
        AlertDetail {
            group: self.pick(&["g", "h"]).into(),
            labels: self.labels(),
            annotations: self.labels(),
            value: self.float(),
            active_at_ms: 1_700_000_000_000,
            at_ms: 1_700_000_060_000,
        }
    }

    fn rules_loaded(&mut self) -> RulesLoaded {
        let rule = RuleInfo {
            name: self.pick(&["a", "b"]).into(),
            kind: self.pick(&[RuleKind::Alert, RuleKind::Record]),
            expr: self.text(),
            for_ms: self.next(),
            keep_firing_for_ms: 0,
            labels: self.labels(),
            annotations: self.labels(),
            threshold: self.maybe(|r| Threshold { left: r.text(), operator: ">".into(), number: r.float() }),
            further: vec![FurtherThreshold {
                join: self.pick(&[Join::And, Join::Or]),
                threshold: Threshold { left: self.text(), operator: "<=".into(), number: self.float() },
            }],
        };
        let group = RuleGroupInfo { name: self.pick(&["g", "h"]).into(), interval_ms: self.next(), rules: vec![rule] };
        RulesLoaded {
            file: self.text(),
            sha256: "ab".into(),
            error: self.maybe(Self::text),
            external_labels: self.labels(),
            groups: vec![group],
        }
    }

    fn rule_evaluated(&mut self) -> RuleEvaluated {
        let reading = RuleReading {
            rule: self.pick(&[0, 1, u32::MAX]),
            health: self.pick(&[RuleHealth::Ok, RuleHealth::NoData, RuleHealth::Error]),
            error: self.maybe(Self::text),
            value: self.maybe(Self::float),
            further: vec![None, Some(num::Float(self.float()))],
            unknown: self.maybe(|r| UnknownSeries { name: r.text(), near: r.maybe(Self::text) }),
            series: 3,
            pending: 1,
            firing: 2,
        };
        RuleEvaluated { group: self.pick(&["g", "h"]).into(), at_ms: 1_700_000_000_000, duration_ns: self.next(), readings: vec![reading] }
    }

    fn silence(&mut self) -> Silence {
        Silence {
            kind: self.pick(&[SilenceKind::Silence, SilenceKind::Acknowledgement]),
            matchers: vec![SilenceMatcher {
                name: "alertname".into(),
                value: self.text(),
                is_regex: self.below(2) == 0,
                is_equal: self.below(2) == 0,
            }],
            starts_ms: 1_700_000_000_000,
            ends_ms: 1_700_000_060_000,
            created_by: self.text(),
            comment: self.text(),
        }
    }

    fn command(&mut self) -> Command {
        let silence = self.silence();
        let checkpoint = self.checkpoint();
        let seed = Seed(self.next());
        let (with, breakpoint) = (self.variation(), self.breakpoint());
        let numbers = [self.maybe(|r| r.below(3) as u32), self.maybe(|r| r.below(3) as u32)];
        self.pick(&[
            Command::Silence(silence),
            Command::Unsilence { id: "s1".into() },
            Command::Pause,
            Command::Resume,
            Command::Step { lane: LaneId(1), unit: StepUnit::Token, count: 3 },
            Command::SetPace(Pace::Times(0.25)),
            Command::Swap { checkpoint },
            Command::Reseed { seed },
            Command::Rewind { lane: LaneId(2), at: StepIndex(4) },
            Command::Fork { lane: LaneId(0), episode: Some(EpisodeId(3)), at: StepIndex(1), with: with.clone() },
            Command::Override { lane: LaneId(1), with: with.first },
            Command::Break { number: numbers[0], breakpoint: breakpoint.clone() },
            Command::Unbreak { number: numbers[1] },
            Command::Shutdown,
        ])
    }

    pub fn place(&mut self) -> Place {
        let lane = LaneId(self.below(3) as u32);
        Place { lane, episode: self.maybe(|r| EpisodeId(1 + r.below(9) as u32)), step: self.maybe(|r| StepIndex(r.below(20) as u32)) }
    }

    /// Kinds of a run's inner loop come most often.
    pub fn event(&mut self) -> Event {
        let kind = if self.below(4) > 0 { self.below(13) } else { self.below(Event::KINDS.len() + 1) };
        match Event::KINDS.get(kind) {
            Some(kind) => self.event_of(kind),
            None => self.unknown(),
        }
    }

    fn unknown(&mut self) -> Event {
        Event::Unknown { kind: "FutureThing".into(), data: json!({"x": [self.next(), {"k": "Commit"}]}) }
    }

    fn message(&mut self) -> MessageCompleted {
        let tokens = self.below(6);
        MessageCompleted {
            text: self.text(),
            thought: self.text(),
            token_ids: (0..tokens).map(|_| TokenId(self.below(512) as u32)).collect(),
            logprobs: (0..tokens).map(|_| self.float() as f32).collect(),
            entropy: (0..tokens).map(|_| self.float() as f32).collect(),
            token_ends: (0..tokens as u32).collect(),
            trainer_logprobs: Vec::new(),
            advantages: (0..tokens).map(|n| n as f32 * 0.25 - 1.0).collect(),
            loss_mask: (0..tokens).map(|n| n % 2 == 0).collect(),
            finish_reason: self.pick(&[FinishReason::Stop, FinishReason::Length, FinishReason::Cancelled, FinishReason::Scripted]),
            prompt_tokens: self.below(300) as u32,
            cached_tokens: self.below(300) as u32,
            checkpoint: self.maybe(Self::checkpoint),
            duration_ns: self.next(),
            prefill_ns: self.maybe(|r| r.next()),
        }
    }

    fn transition(&mut self) -> TransitionRecorded {
        let (text, tool, call) = (self.text(), self.call(), self.call());
        let result = ToolResult { content: self.text(), error_type: self.maybe(Self::error_type) };
        let action = self.pick(&[RecordedAction::Text(text), RecordedAction::Tool(tool), RecordedAction::Outside { call, result }]);
        TransitionRecorded {
            action,
            reward: self.float(),
            terminated: self.below(2) == 0,
            truncated: self.below(2) == 0,
            value: self.maybe(Self::float),
            state_hash: self.next(),
            reward_sum: self.float(),
            discounted_sum: self.float(),
        }
    }

    fn run_started(&mut self) -> RunStarted {
        RunStarted {
            run: RunId::from("01J00000000000000000000000"),
            started: "2026-01-01T00:00:00Z".into(),
            build: "test".into(),
            agent: self.text(),
            env: "ops".into(),
            env_version: "1".into(),
            level: self.pick(&Level::ALL),
            seed: Seed(self.next()),
            lanes: 3,
            max_steps: 20,
            tools: vec![ToolSpec { name: "scale".into(), description: "d".into(), parameters: json!({"type": "object"}), mutates: true }],
            reward: RewardFormula { gamma: self.float(), ..RewardFormula::default() },
            profile: "test".into(),
            decoding: self.maybe(|r| Decoding {
                temperature: 0.7,
                top_p: 0.95,
                tokens_max: 96,
                window_steps: 6,
                keep_steps: 2,
                prompt_tokens_max: r.below(900) as u32,
            }),
        }
    }

    fn episode_started(&mut self) -> EpisodeStarted {
        let field = |name: &str| ObservationField { name: name.into(), unit: Unit::Milliseconds };
        EpisodeStarted {
            seed: Seed(self.next()),
            level: self.pick(&Level::ALL),
            goal: self.text(),
            briefing: self.text(),
            fields: vec![field("a.p95"), field("b.p95")],
            checkpoint: self.maybe(Self::checkpoint),
            state_hash: self.next(),
        }
    }

    fn episode_ended(&mut self) -> EpisodeEnded {
        EpisodeEnded {
            ending: self.pick(&[EpisodeEnding::Terminated, EpisodeEnding::Truncated, EpisodeEnding::Aborted]),
            episode_return: self.float(),
            final_reward: self.float(),
            hybrid: self.float(),
            success: self.below(2) == 0,
            length: self.below(20) as u32,
            tool_errors: self.below(3) as u32,
            thought_fidelity: self.maybe(Self::float),
            truth: self.text(),
        }
    }

    fn telemetry(&mut self) -> TelemetrySampled {
        let lost = GpuSample {
            lost: self.maybe(Self::text),
            utilization_ratio: self.maybe(Self::float),
            power_watts: self.maybe(Self::float),
            power_limit_watts: self.maybe(Self::float),
            temperature_celsius: self.maybe(Self::float),
            memory_utilization_ratio: self.maybe(Self::float),
            throttle_reasons: self.maybe(|s| vec![s.pick(&ThrottleReason::ALL)]),
            health: self.maybe(Self::gpu_health).map(Box::new),
            ..GpuSample::default()
        };
        let reason = self.text();
        let gpu = self.pick(&[GpuStatus::Unavailable { reason }, GpuStatus::Devices(vec![lost])]);
        let host = HostSample {
            cpu_ratio: self.maybe(Self::float),
            core_ratios: vec![self.float(), self.float()],
            load_1m: self.maybe(Self::float),
            process_cpu_cores: self.maybe(Self::float),
            process_read_bytes_per_second: self.maybe(Self::float),
            process_written_bytes_per_second: self.maybe(Self::float),
            disk_read_bytes_per_second: self.maybe(Self::float),
            disk_written_bytes_per_second: self.maybe(Self::float),
            network_received_bytes_per_second: self.maybe(Self::float),
            network_sent_bytes_per_second: self.maybe(Self::float),
            ..HostSample::default()
        };
        TelemetrySampled { host, gpu }
    }

    fn gpu_health(&mut self) -> GpuHealth {
        GpuHealth {
            energy_joules_total: self.maybe(Self::float),
            temperature_slowdown_celsius: self.maybe(Self::float),
            temperature_shutdown_celsius: self.maybe(Self::float),
            temperature_memory_celsius: self.maybe(Self::float),
            temperature_memory_max_celsius: self.maybe(Self::float),
            power_limit_default_watts: self.maybe(Self::float),
            fan_speed_ratio: self.maybe(Self::float),
            encoder_utilization_ratio: self.maybe(Self::float),
            decoder_utilization_ratio: self.maybe(Self::float),
            pcie_received_bytes_per_second: self.maybe(Self::float),
            pcie_sent_bytes_per_second: self.maybe(Self::float),
            missing: vec![(self.text(), self.text())],
            ..GpuHealth::default()
        }
    }

    fn breakpoint(&mut self) -> Breakpoint {
        Breakpoint { when: self.text(), once: self.below(2) == 0, ignore: self.pick(&[0, 3, u32::MAX]), log: self.below(2) == 0 }
    }

    fn observation(&mut self) -> Observation {
        Observation { values: vec![self.maybe(Self::float), self.maybe(Self::float)], text: self.text(), compact: self.text() }
    }

    /// # Panics
    /// On a kind that is new: it is to be added here.
    pub fn event_of(&mut self, kind: &str) -> Event {
        match kind {
            "RunStarted" => self.run_started().into(),
            "EpisodeStarted" => self.episode_started().into(),
            "BranchStarted" => BranchStarted {
                parent_lane: LaneId(self.below(3) as u32),
                parent: EpisodeId(self.below(9) as u32),
                at_step: StepIndex(self.pick(&[0, 1, 7, u32::MAX])),
                cause: self.pick(&[BranchCause::Rewind, BranchCause::Fork]),
                with: self.variation(),
                state_hash: self.next(),
                reward_sum: self.float(),
                discounted_sum: self.float(),
            }
            .into(),
            "PhaseEntered" => PhaseEntered { phase: self.pick(&[Phase::Observe, Phase::Think, Phase::Act, Phase::Settle]) }.into(),
            "ObservationReceived" => ObservationReceived { observation: self.observation() }.into(),
            "ThoughtDelta" => ThoughtDelta { text: self.text(), tokens: self.pick(&[0, 1, 2, u32::MAX - 1]) }.into(),
            "MessageCompleted" => self.message().into(),
            "ToolCallStarted" => {
                ToolCallStarted { call_id: self.next(), route: self.pick(&[Route::Text, Route::Tool, Route::Api]), call: self.call() }
                    .into()
            }
            "ToolCallFinished" => ToolCallFinished {
                call_id: self.next(),
                tool: SafeText::from(self.call().name),
                result: self.text(),
                error_type: self.maybe(Self::error_type),
                duration_ns: self.next(),
            }
            .into(),
            "TransitionRecorded" => self.transition().into(),
            "DecisionSettled" => DecisionSettled { duration_ns: self.next(), memory_bytes: self.maybe(|r| r.next()) }.into(),
            "MemoryCompressed" => {
                MemoryCompressed { before: 90, after: 30, ratio: self.float(), prompt_tokens: 200, summary: self.text() }.into()
            }
            "EpisodeEnded" => self.episode_ended().into(),
            "RunStateChanged" => {
                let state = self.pick(&[RunState::Starting, RunState::Running, RunState::Paused, RunState::Stepping, RunState::Ended]);
                RunStateChanged { state, reason: self.text() }.into()
            }
            "BreakpointSet" => BreakpointSet { number: self.pick(&[0, 1, 2, u32::MAX]), breakpoint: self.breakpoint() }.into(),
            "BreakpointHit" => BreakpointHit {
                number: self.pick(&[0, 1, 2, u32::MAX]),
                when: self.text(),
                at: Seq(self.next()),
                kind: self.text(),
                why: vec![Seen { name: self.text(), value: self.text() }],
                hits: self.next(),
                outcome: self.pick(&[HitOutcome::Paused, HitOutcome::Logged, HitOutcome::Ignored]),
            }
            .into(),
            "BreakpointCleared" => BreakpointCleared { number: self.pick(&[1, 2, 7]) }.into(),
            "PaceChanged" => PaceChanged { pace: self.pick(&Pace::LADDER) }.into(),
            "PolicyStateChanged" => PolicyStateChanged {
                state: self.pick(&[PolicyState::Loading, PolicyState::Ready, PolicyState::Failed]),
                checkpoint: self.maybe(Self::checkpoint),
                detail: self.text(),
                parameters: self.maybe(Self::next),
                context_tokens_max: Some(512),
                duration_ns: self.next(),
            }
            .into(),
            "CheckpointListed" => {
                CheckpointListed { checkpoint: self.checkpoint(), sha256: "ab".into(), training_step: self.next(), note: self.text() }
                    .into()
            }
            "CheckpointSaved" => CheckpointSaved { checkpoint: self.checkpoint(), sha256: "ab".into(), training_step: 1 }.into(),
            "CheckpointVerified" => {
                CheckpointVerified { checkpoint: self.checkpoint(), sha256: "ab".into(), ok: self.below(2) == 0, detail: self.text() }
                    .into()
            }
            "CheckpointSwapped" => {
                CheckpointSwapped { from: self.maybe(Self::checkpoint), to: self.checkpoint(), sha256: "ab".into() }.into()
            }
            "UpdateCompleted" => UpdateCompleted { policy_loss: self.maybe(Self::float), tokens: 7, ..UpdateCompleted::default() }.into(),
            "EvaluationCompleted" => EvaluationCompleted {
                agent: self.text(),
                level: self.pick(&Level::ALL),
                episodes: 200,
                success_ratio: self.float(),
                success_low: self.float(),
                success_high: self.float(),
                return_mean: self.float(),
            }
            .into(),
            "TelemetrySampled" => self.telemetry().into(),
            "AlertStateChanged" => AlertStateChanged {
                rule: self.text(),
                state: self.pick(&[AlertState::Inactive, AlertState::Pending, AlertState::Firing, AlertState::Resolved]),
                severity: self.text(),
                summary: self.text(),
                detail: self.maybe(Self::alert_detail).map(Box::new),
            }
            .into(),
            "TargetScraped" => TargetScraped {
                job: self.text(),
                instance: self.text(),
                url: self.text(),
                up: self.below(2) == 0,
                error: self.maybe(Self::text),
                is_unreadable: true,
                duration_ns: self.next(),
                samples_total: 3,
                samples: vec![ScrapedSample { name: self.text(), labels: self.labels(), value: self.float(), at_ms: None }],
            }
            .into(),
            "RulesLoaded" => self.rules_loaded().into(),
            "RuleEvaluated" => self.rule_evaluated().into(),
            "AlertNotified" => AlertNotified {
                receiver: self.text(),
                rules: vec![self.text()],
                ok: self.below(2) == 0,
                outcome: self.text(),
                duration_ns: self.next(),
            }
            .into(),
            "SilenceSet" => SilenceSet { id: self.pick(&["a", "b"]).into(), silence: self.silence() }.into(),
            "SilenceEnded" => SilenceEnded { id: self.pick(&["a", "b", "c"]).into() }.into(),
            "CommandAccepted" => {
                CommandAccepted { id: CommandId(self.next()), command: self.command(), origin: Origin::Remote(self.text()) }.into()
            }
            "CommandRejected" => {
                let (command, reason) = (self.command(), self.text());
                CommandRejected { id: CommandId(self.next()), command, origin: Origin::Console, reason }.into()
            }
            "SinkFailed" => SinkFailed { sink: self.text(), reason: self.text() }.into(),
            "SamplesDropped" => SamplesDropped { sampler: self.text(), count: self.pick(&[0, 8, u64::MAX - 1]) }.into(),
            "LogLine" => {
                let level = self.pick(&[LogLevel::Error, LogLevel::Warn, LogLevel::Info, LogLevel::Debug]);
                LogLine { level, target: self.text(), text: self.text() }.into()
            }
            // A seal makes these, a run does not.
            "Elided" => self.unknown(),
            other => panic!("add the kind {other} to the random runs"),
        }
    }
}
