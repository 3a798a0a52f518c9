//! Every series of this process, declared once: name, kind, unit, labels, source and help. `docs/METRICS.md` is made from it.

/// What a series is to Prometheus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Counter,
    Gauge,
    /// Upper ends of the buckets, rising; `+Inf` comes by itself.
    Histogram(&'static [f64]),
}

/// What the table says of the series of one name.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    pub name: &'static str,
    pub kind: Kind,
    /// As OpenMetrics has it: the last word of the name, or empty.
    pub unit: &'static str,
    pub labels: &'static [&'static str],
    /// Kinds of events that it is made of.
    pub source: &'static str,
    help: &'static [&'static str],
}

impl Family {
    /// One line.
    pub fn help(&self) -> String {
        self.help.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }
}

/// Seconds, from what a scripted agent takes to what a large model does.
const SECONDS: &[f64] = &[0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];
const LONG_SECONDS: &[f64] = &[0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0];
const SHARES: &[f64] = &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0];
const RETURNS: &[f64] = &[0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0, 128.0];
const STEPS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 128.0, 512.0];
const RATIOS: &[f64] = &[1.0, 2.0, 3.0, 5.0, 8.0, 10.0, 15.0, 20.0, 50.0, 100.0];
const NATS: &[f64] = &[0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
const DIFFERENCES: &[f64] = &[0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5];
const IMPORTANCE: &[f64] = &[0.1, 0.25, 0.5, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.25, 2.0, 4.0, 10.0];

macro_rules! kind {
    (counter) => {
        Kind::Counter
    };
    (gauge) => {
        Kind::Gauge
    };
    ($buckets:ident) => {
        Kind::Histogram($buckets)
    };
}

macro_rules! metrics {
    ($( $section:literal { $( $(#[doc = $help:literal])* $id:ident = $kind:ident $name:literal $unit:literal [$($label:literal),*] $source:literal; )* } )*) => {
        /// The names of the table, for the fold.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Metric {
            $($( $id, )*)*
        }

        /// The table, in the order of `Metric`.
        pub const TABLE: &[Family] = &[
            $($( Family {
                name: $name,
                kind: kind!($kind),
                unit: $unit,
                labels: &[$($label),*],
                source: $source,
                help: &[$($help),*],
            }, )*)*
        ];

        /// Sections of the documentation, with the number of families in each.
        #[cfg(test)]
        pub(super) const SECTIONS: &[(&str, usize)] = &[$( ($section, [$( $name, )*].len()), )*];
    };
}

metrics! {
    "The run" {
        /// 1, with the version of this build.
        BuildInfo = gauge "pilothouse_build_info" "" ["version"] "RunStarted";
        /// 1, with what runs.
        RunInfo = gauge "pilothouse_run_info" "" ["run", "agent", "env", "env_version", "level", "profile"] "RunStarted";
        /// When the run began, in seconds since 1970.
        RunStart = gauge "pilothouse_run_start_timestamp_seconds" "seconds" [] "RunStarted";
        /// 1 for the state that the run is in, 0 for the others.
        RunStates = gauge "pilothouse_run_state" "" ["state"] "RunStateChanged";
        /// Lanes: episodes that run side by side, branches included.
        Lanes = gauge "pilothouse_lanes" "" [] "RunStarted, EpisodeStarted";
        /// Multiple of the readable pace; +Inf is as fast as it can.
        PaceFactor = gauge "pilothouse_pace" "" [] "PaceChanged";
        /// Events of the run so far: the number of the newest.
        Events = counter "pilothouse_events_total" "" [] "every event";
        /// Events that never reached this fold because it lagged, or because the recording lacks them. Counters lack what they held.
        EventsMissed = counter "pilothouse_events_missed_total" "" [] "every event";
        /// When the newest event was, in seconds since 1970.
        LastEvent = gauge "pilothouse_last_event_timestamp_seconds" "seconds" [] "every event";
        /// When a decision was last settled or an update completed, in seconds since 1970; before the first, when the run began.
        LastProgress = gauge "pilothouse_last_progress_timestamp_seconds" "seconds" [] "DecisionSettled, UpdateCompleted, RunStarted";
        /// Seconds of all lanes by what they waited for: policy, environment, tool, training, weight_update (no weights to decide with) or
        /// operator (paused, or held by the pace). A wait counts when it is over.
        Time = counter "pilothouse_time_seconds_total" "seconds" ["on"] "PhaseEntered, ToolCallFinished, UpdateCompleted, RunStateChanged";
        /// Lanes that wait now, by what they wait for; as above.
        Waiting = gauge "pilothouse_lanes_waiting" "" ["on"] "PhaseEntered, ToolCallFinished, RunStateChanged";
        /// Seconds in which the run held its machine and did not run: starting, paused or ended.
        Idle = counter "pilothouse_idle_seconds_total" "seconds" [] "RunStateChanged, every event";
        /// Lines of the log.
        LogLines = counter "pilothouse_log_lines_total" "" ["level"] "LogLine";
        /// Failures of what the journal writes to, the recording among them.
        SinkFailures = counter "pilothouse_sink_failures_total" "" ["sink"] "SinkFailed";
        /// 1 while the recording can't be written.
        RecordingFailed = gauge "pilothouse_recording_failed" "" [] "AlertStateChanged";
        /// Events that the recorder had not brought to the disk at the newest sample; no series where nothing is recorded.
        RecorderBehind = gauge "pilothouse_recorder_events_behind" "" [] "TelemetrySampled";
        /// Samples that the engine had no room for.
        SamplesDropped = counter "pilothouse_samples_dropped_total" "" ["sampler"] "SamplesDropped";
    }
    "Decisions and the model" {
        /// Decisions that were settled.
        Decisions = counter "pilothouse_decisions_total" "" [] "DecisionSettled";
        /// From entering `observe` to the end of the decision, pauses and the pace's rests included.
        DecisionDuration = SECONDS "pilothouse_decision_duration_seconds" "seconds" [] "DecisionSettled";
        /// Messages that the agent was asked for, by why they ended: stop, length (cut at the limit of tokens), cancelled, scripted.
        Requests = counter "pilothouse_inference_requests_total" "" ["finish_reason"] "MessageCompleted";
        /// Prefill and decode of one message.
        InferenceDuration = SECONDS "pilothouse_inference_duration_seconds" "seconds" [] "MessageCompleted";
        /// From an observation to the opening of its message: other lanes' turns and the pace's rests; pauses are left out.
        QueueDuration = SECONDS "pilothouse_inference_queue_duration_seconds" "seconds" [] "ObservationReceived, PhaseEntered";
        /// From opening a message to its first token.
        PrefillDuration = SECONDS "pilothouse_inference_prefill_duration_seconds" "seconds" [] "MessageCompleted";
        /// From the first token of a message to its end.
        DecodeDuration = SECONDS "pilothouse_inference_decode_duration_seconds" "seconds" [] "MessageCompleted";
        /// Tokens of the prompts.
        PromptTokens = counter "pilothouse_prompt_tokens_total" "" [] "MessageCompleted";
        /// Tokens of the prompts whose keys and values were still in the cache.
        CachedTokens = counter "pilothouse_cached_prompt_tokens_total" "" [] "MessageCompleted";
        /// Tokens that were decoded.
        OutputTokens = counter "pilothouse_output_tokens_total" "" [] "MessageCompleted";
        /// Entropy of the distribution that each token was sampled from, in nats.
        TokenEntropy = NATS "pilothouse_token_entropy_nats" "" [] "MessageCompleted";
        /// Surprise of each token: its negative log-probability, in nats.
        TokenSurprisal = NATS "pilothouse_token_surprisal_nats" "" [] "MessageCompleted";
        /// Tokens of the context in use: prompt and message, of the lane that has most.
        ContextTokens = gauge "pilothouse_context_tokens" "" [] "MessageCompleted";
        /// Tokens that the context has room for.
        ContextLimit = gauge "pilothouse_context_limit_tokens" "" [] "PolicyStateChanged";
        /// Share of the context (and of the KV cache, which is as long) in use, of the lane that has most.
        ContextUsed = gauge "pilothouse_context_used_ratio" "ratio" [] "MessageCompleted, PolicyStateChanged";
        /// What could not be read, by direction: output is what the agent says (format, unknown_tool, schema), input is what comes from
        /// other processes (exposition: the metrics of a target).
        FormatErrors = counter "pilothouse_format_errors_total" "" ["direction", "error_type"] "ToolCallFinished, TargetScraped";
    }
    "Tools and the environment" {
        /// Actions that were carried out or refused.
        Actions = counter "pilothouse_actions_total" "" [] "ToolCallFinished";
        /// Actions that failed, by the name that the classic rule asks for.
        ActionFailures = counter "action_failures_total" "" [] "ToolCallFinished";
        /// Tool calls; error_type is empty where they succeeded. `(none)` is a message without a call.
        ToolCalls = counter "pilothouse_tool_calls_total" "" ["tool", "error_type"] "ToolCallFinished";
        /// From the beginning of a call to its end: routing, the tool, the environment.
        ToolDuration = SECONDS "pilothouse_tool_duration_seconds" "seconds" ["tool"] "ToolCallStarted, ToolCallFinished";
        /// Calls that have begun and not ended.
        ToolsInFlight = gauge "pilothouse_tool_calls_in_flight" "" [] "ToolCallStarted, ToolCallFinished";
        /// Steps of the environment.
        EnvSteps = counter "pilothouse_env_steps_total" "" [] "TransitionRecorded";
        /// What the environment took for a step.
        EnvStepDuration = SECONDS "pilothouse_env_step_duration_seconds" "seconds" [] "ToolCallFinished";
        /// Numbers of observations that had no reading.
        ReadingsMissing = counter "pilothouse_env_readings_missing_total" "" [] "ObservationReceived";
        /// Numbers of observations.
        Readings = counter "pilothouse_env_readings_total" "" [] "ObservationReceived";
        /// Length of the environment's queue, all lanes together: fields of the observation whose name ends in `queue_length`.
        QueueLength = gauge "pilothouse_env_queue_length" "" [] "ObservationReceived, EpisodeStarted";
        /// Age of the oldest entry of the environment's queue, of the lane where it is highest: fields whose name ends in `queue_oldest_age`.
        QueueAge = gauge "pilothouse_env_queue_oldest_age_seconds" "seconds" [] "ObservationReceived, EpisodeStarted";
    }
    "Episodes and rewards" {
        /// Episodes that began, branches included.
        EpisodesStarted = counter "pilothouse_episodes_started_total" "" [] "EpisodeStarted";
        /// Branches that began, by cause: rewind or fork.
        Branches = counter "pilothouse_branches_total" "" ["cause"] "BranchStarted";
        /// Episodes that ended, by verdict (success, failure, aborted) and ending (terminated, truncated, aborted).
        Episodes = counter "pilothouse_episodes_total" "" ["verdict", "ending"] "EpisodeEnded";
        /// Episodes that run.
        EpisodesRunning = gauge "pilothouse_episodes_running" "" [] "EpisodeStarted, EpisodeEnded";
        /// From beginning to end, pauses included; aborted ones are left out here and below.
        EpisodeDuration = LONG_SECONDS "pilothouse_episode_duration_seconds" "seconds" [] "EpisodeStarted, EpisodeEnded";
        /// Sum of step rewards, not discounted.
        EpisodeReturn = RETURNS "pilothouse_episode_return" "" [] "EpisodeEnded";
        /// Decisions of an episode.
        EpisodeLength = STEPS "pilothouse_episode_length" "" [] "EpisodeEnded";
        /// Share of the task that was done: the decision quality that the environment tells.
        FinalReward = SHARES "pilothouse_episode_final_reward" "" [] "EpisodeEnded";
        /// The hybrid reward.
        HybridReward = RETURNS "pilothouse_episode_hybrid_reward" "" [] "EpisodeEnded";
        /// The two parts of the hybrid reward with their weights: step and final.
        RewardPart = RETURNS "pilothouse_episode_reward_part" "" ["part"] "EpisodeEnded, RunStarted";
        /// Share of decisions whose thought begins with a span of the observation.
        ThoughtFidelity = SHARES "pilothouse_episode_thought_fidelity_ratio" "ratio" [] "EpisodeEnded";
        /// Tokens that were decoded so far by successes so far; no series before the first success.
        TokensPerSuccess = gauge "pilothouse_output_tokens_per_success" "" [] "MessageCompleted, EpisodeEnded";
        /// Seconds in which GPUs were held so far by successes so far; no series before the first success.
        GpuSecondsPerSuccess = gauge "pilothouse_gpu_seconds_per_success" "" [] "TelemetrySampled, EpisodeEnded";
        /// Reward of a step.
        StepReward = SHARES "pilothouse_step_reward" "" [] "TransitionRecorded";
        /// The critic's newest estimate.
        ValueEstimate = gauge "pilothouse_value_estimate" "" [] "TransitionRecorded";
    }
    "Memory of the agent" {
        /// Compressions.
        Compressions = counter "pilothouse_memory_compressions_total" "" [] "MemoryCompressed";
        /// Tokens before and after compressions; their ratio over a window is the compression.
        CompressedTokens = counter "pilothouse_memory_compressed_tokens_total" "" ["side"] "MemoryCompressed";
        /// Tokens before by tokens after, of each compression.
        CompressionRatio = RATIOS "pilothouse_memory_compression_ratio" "ratio" [] "MemoryCompressed";
        /// Bytes of what the agents remember of their episodes, all lanes together.
        MemoryBytes = gauge "pilothouse_agent_memory_bytes" "bytes" [] "DecisionSettled";
    }
    "Weights" {
        /// 1 for the state of the policy, 0 for the others: loading, ready, failed.
        PolicyStates = gauge "pilothouse_policy_state" "" ["state"] "PolicyStateChanged";
        /// Loading of weights, from asking to serving.
        LoadDuration = LONG_SECONDS "pilothouse_model_load_duration_seconds" "seconds" [] "PolicyStateChanged";
        /// Weights that could not be loaded.
        LoadFailures = counter "pilothouse_model_load_failures_total" "" [] "PolicyStateChanged";
        /// Parameters of the model.
        Parameters = gauge "pilothouse_model_parameters" "" [] "PolicyStateChanged";
        /// 1, with the checkpoint that serves.
        Serving = gauge "pilothouse_checkpoint_serving_info" "" ["checkpoint"] "CheckpointSwapped";
        /// Changes of the checkpoint that serves, the first one included.
        Swaps = counter "pilothouse_checkpoint_swaps_total" "" [] "CheckpointSwapped";
        /// Checkpoints that were saved.
        Saved = counter "pilothouse_checkpoints_saved_total" "" [] "CheckpointSaved";
        /// Checkpoints that were verified, by outcome: ok or failed.
        Verified = counter "pilothouse_checkpoint_verifications_total" "" ["outcome"] "CheckpointVerified";
        /// Training step of the checkpoint that serves.
        ServingStep = gauge "pilothouse_policy_training_step" "" [] "CheckpointListed, CheckpointSaved, CheckpointSwapped";
        /// Training steps that the checkpoint that serves is behind the newest that is known.
        Staleness = gauge "pilothouse_policy_staleness_steps" "" [] "CheckpointListed, CheckpointSaved, CheckpointSwapped";
    }
    "Training and evaluation" {
        /// Updates.
        Updates = counter "pilothouse_training_updates_total" "" [] "UpdateCompleted";
        /// Number of the newest update; it falls where training goes on from an older checkpoint.
        UpdateNumber = gauge "pilothouse_training_update" "" [] "UpdateCompleted";
        /// Loss of the policy.
        PolicyLoss = gauge "pilothouse_training_policy_loss" "" [] "UpdateCompleted";
        /// Loss of the critic.
        ValueLoss = gauge "pilothouse_training_value_loss" "" [] "UpdateCompleted";
        /// Mean entropy, in nats.
        TrainingEntropy = gauge "pilothouse_training_entropy_nats" "" [] "UpdateCompleted";
        /// Estimate of the KL divergence between the policy before and after.
        ApproxKl = gauge "pilothouse_training_approx_kl" "" [] "UpdateCompleted";
        /// Share of samples whose importance ratio was clipped.
        ClipRatio = gauge "pilothouse_training_clipped_ratio" "ratio" [] "UpdateCompleted";
        /// Norm of the gradient.
        GradNorm = gauge "pilothouse_training_gradient_norm" "" [] "UpdateCompleted";
        /// Share of the returns' variance that the critic explains.
        ExplainedVariance = gauge "pilothouse_training_explained_variance" "" [] "UpdateCompleted";
        /// Learning rate.
        LearningRate = gauge "pilothouse_training_learning_rate" "" [] "UpdateCompleted";
        /// Tokens that were trained on.
        TrainingTokens = counter "pilothouse_training_tokens_total" "" [] "UpdateCompleted";
        /// Duration of an update.
        UpdateDuration = LONG_SECONDS "pilothouse_training_update_duration_seconds" "seconds" [] "UpdateCompleted";
        /// Difference between the probabilities that rollout and trainer gave the same token.
        ProbabilityDifference = DIFFERENCES "pilothouse_rollout_trainer_probability_difference" "" [] "MessageCompleted";
        /// Trainer's probability of a token by that of the rollout.
        ImportanceRatio = IMPORTANCE "pilothouse_importance_ratio" "ratio" [] "MessageCompleted";
        /// Effective sample size of the newest message's importance ratios, over their number.
        EffectiveSampleSize = gauge "pilothouse_effective_sample_size_ratio" "ratio" [] "MessageCompleted";
        /// Mean of log-probability of the rollout less that of the trainer, over the newest message, in nats.
        MismatchKl = gauge "pilothouse_mismatch_kl_nats" "" [] "MessageCompleted";
        /// Evaluations.
        Evaluations = counter "pilothouse_evaluations_total" "" [] "EvaluationCompleted";
        /// Episodes of the newest evaluation.
        EvaluationEpisodes = gauge "pilothouse_evaluation_episodes" "" ["agent", "level"] "EvaluationCompleted";
        /// Share of successes in the newest evaluation.
        EvaluationSuccess = gauge "pilothouse_evaluation_success_ratio" "ratio" ["agent", "level"] "EvaluationCompleted";
        /// Lower end of its 95 % interval (Wilson).
        EvaluationLow = gauge "pilothouse_evaluation_success_low_ratio" "ratio" ["agent", "level"] "EvaluationCompleted";
        /// Upper end of its 95 % interval (Wilson).
        EvaluationHigh = gauge "pilothouse_evaluation_success_high_ratio" "ratio" ["agent", "level"] "EvaluationCompleted";
        /// Mean return of the newest evaluation.
        EvaluationReturn = gauge "pilothouse_evaluation_return_mean" "" ["agent", "level"] "EvaluationCompleted";
    }
    "Operators, breakpoints and alerts" {
        /// Commands, by outcome: accepted or rejected.
        Commands = counter "pilothouse_commands_total" "" ["command", "outcome"] "CommandAccepted, CommandRejected";
        /// Breakpoints that are set.
        Breakpoints = gauge "pilothouse_breakpoints" "" [] "BreakpointSet, BreakpointCleared";
        /// Hits of breakpoints, by outcome: paused, logged or ignored.
        BreakpointHits = counter "pilothouse_breakpoint_hits_total" "" ["outcome"] "BreakpointHit";
        /// Alerts by state: pending or firing.
        Alerts = gauge "pilothouse_alerts" "" ["state"] "AlertStateChanged";
        /// Changes of alerts, by the state that they went to.
        AlertTransitions = counter "pilothouse_alert_transitions_total" "" ["state"] "AlertStateChanged";
        /// Rules by health: ok, no_data (matches no series) or error.
        Rules = gauge "pilothouse_rules" "" ["health"] "RulesLoaded, RuleEvaluated";
        /// 1 where the newest version of the rule file is in force, 0 where it is wrong and the one before stayed.
        RulesGood = gauge "pilothouse_rules_last_load_successful" "" [] "RulesLoaded";
        /// Evaluations of groups of rules.
        RuleEvaluations = counter "pilothouse_rule_group_evaluations_total" "" ["group"] "RuleEvaluated";
        /// Duration of an evaluation of a group.
        RuleDuration = SECONDS "pilothouse_rule_group_duration_seconds" "seconds" ["group"] "RuleEvaluated";
        /// Notifications, by outcome: ok or failed.
        Notifications = counter "pilothouse_notifications_total" "" ["receiver", "outcome"] "AlertNotified";
        /// Duration of a notification.
        NotificationDuration = SECONDS "pilothouse_notification_duration_seconds" "seconds" ["receiver"] "AlertNotified";
        /// Silences that are in force or will be.
        Silences = gauge "pilothouse_silences" "" [] "SilenceSet, SilenceEnded";
        /// 1 where the newest scrape of a target worked, else 0.
        TargetUp = gauge "pilothouse_target_up" "" ["target_job", "target_instance"] "TargetScraped";
        /// Scrapes of targets, by outcome: ok or failed.
        Scrapes = counter "pilothouse_target_scrapes_total" "" ["target_job", "target_instance", "outcome"] "TargetScraped";
    }
    "Machine" {
        /// Share of all cores in use.
        HostCpu = gauge "pilothouse_host_cpu_ratio" "ratio" [] "TelemetrySampled";
        /// Share of each core in use.
        HostCore = gauge "pilothouse_host_core_cpu_ratio" "ratio" ["core"] "TelemetrySampled";
        /// Memory of the host in use.
        HostMemoryUsed = gauge "pilothouse_host_memory_used_bytes" "bytes" [] "TelemetrySampled";
        /// Memory of the host.
        HostMemoryTotal = gauge "pilothouse_host_memory_total_bytes" "bytes" [] "TelemetrySampled";
        /// Memory of the host that can be had without pushing anything out.
        HostMemoryAvailable = gauge "pilothouse_host_memory_available_bytes" "bytes" [] "TelemetrySampled";
        /// Swap space in use.
        SwapUsed = gauge "pilothouse_host_swap_used_bytes" "bytes" [] "TelemetrySampled";
        /// Swap space.
        SwapTotal = gauge "pilothouse_host_swap_total_bytes" "bytes" [] "TelemetrySampled";
        /// Tasks that run or wait to, on average over a minute.
        HostLoad = gauge "pilothouse_host_load_1m" "" [] "TelemetrySampled";
        /// Cores that this process uses.
        ProcessCpu = gauge "pilothouse_process_cpu_cores" "" [] "TelemetrySampled";
        /// Memory of this process.
        ProcessRss = gauge "pilothouse_process_resident_memory_bytes" "bytes" [] "TelemetrySampled";
        /// Threads of this process.
        ProcessThreads = gauge "pilothouse_process_threads" "" [] "TelemetrySampled";
        /// Files, sockets and the like that this process holds open.
        ProcessOpenFiles = gauge "pilothouse_process_open_files" "" [] "TelemetrySampled";
        /// Bytes a second that this process reads.
        ProcessRead = gauge "pilothouse_process_read_bytes_per_second" "" [] "TelemetrySampled";
        /// Bytes a second that this process writes.
        ProcessWritten = gauge "pilothouse_process_written_bytes_per_second" "" [] "TelemetrySampled";
        /// Bytes a second that the host receives.
        NetworkReceived = gauge "pilothouse_host_network_received_bytes_per_second" "" [] "TelemetrySampled";
        /// Bytes a second that the host sends.
        NetworkSent = gauge "pilothouse_host_network_sent_bytes_per_second" "" [] "TelemetrySampled";
        /// Bytes a second that the host's disks read.
        DiskRead = gauge "pilothouse_host_disk_read_bytes_per_second" "" [] "TelemetrySampled";
        /// Bytes a second that the host's disks write.
        DiskWritten = gauge "pilothouse_host_disk_written_bytes_per_second" "" [] "TelemetrySampled";
        /// Space that is left on the file system of the recordings.
        DiskAvailable = gauge "pilothouse_disk_available_bytes" "bytes" ["mount"] "TelemetrySampled";
        /// Size of the file system of the recordings.
        DiskSize = gauge "pilothouse_disk_size_bytes" "bytes" ["mount"] "TelemetrySampled";
    }
    "GPU" {
        /// GPUs that can be read; no series where it is not known.
        Gpus = gauge "pilothouse_gpus" "" [] "TelemetrySampled";
        /// 1, with the name of the GPU.
        GpuInfo = gauge "pilothouse_gpu_info" "" ["gpu", "name"] "TelemetrySampled";
        /// 1 where the GPU fell off the bus or can't be read at all, else 0.
        GpuLost = gauge "pilothouse_gpu_lost" "" ["gpu"] "TelemetrySampled";
        /// Share of the time in which a kernel ran.
        GpuUtilization = gauge "pilothouse_gpu_utilization_ratio" "ratio" ["gpu"] "TelemetrySampled";
        /// Memory in use.
        GpuMemoryUsed = gauge "pilothouse_gpu_memory_used_bytes" "bytes" ["gpu"] "TelemetrySampled";
        /// Memory.
        GpuMemoryTotal = gauge "pilothouse_gpu_memory_total_bytes" "bytes" ["gpu"] "TelemetrySampled";
        /// Power.
        GpuPower = gauge "pilothouse_gpu_power_watts" "watts" ["gpu"] "TelemetrySampled";
        /// Limit of the power.
        GpuPowerLimit = gauge "pilothouse_gpu_power_limit_watts" "watts" ["gpu"] "TelemetrySampled";
        /// Temperature.
        GpuTemperature = gauge "pilothouse_gpu_temperature_celsius" "celsius" ["gpu"] "TelemetrySampled";
        /// Clock of the multiprocessors.
        GpuClockSm = gauge "pilothouse_gpu_sm_clock_hertz" "hertz" ["gpu"] "TelemetrySampled";
        /// Clock of the memory.
        GpuClockMemory = gauge "pilothouse_gpu_memory_clock_hertz" "hertz" ["gpu"] "TelemetrySampled";
        /// Memory errors that could not be corrected, as the driver counts them.
        GpuEcc = counter "pilothouse_gpu_ecc_uncorrected_errors_total" "" ["gpu"] "TelemetrySampled";
        /// The newest XID error; no series before the first.
        GpuXid = gauge "pilothouse_gpu_last_xid" "" ["gpu"] "TelemetrySampled";
        /// XID errors since sampling began.
        GpuXids = counter "pilothouse_gpu_xid_errors_total" "" ["gpu"] "TelemetrySampled";
        /// Processes on the GPU, by owner: ours or others.
        GpuProcesses = gauge "pilothouse_gpu_processes" "" ["gpu", "owner"] "TelemetrySampled";
        /// Memory of the processes on the GPU, by owner.
        GpuProcessMemory = gauge "pilothouse_gpu_process_memory_bytes" "bytes" ["gpu", "owner"] "TelemetrySampled";
        /// Share of the time in which memory was read or written.
        GpuMemoryBusy = gauge "pilothouse_gpu_memory_utilization_ratio" "ratio" ["gpu"] "TelemetrySampled";
        /// Clock of the graphics engine.
        GpuClockGraphics = gauge "pilothouse_gpu_graphics_clock_hertz" "hertz" ["gpu"] "TelemetrySampled";
        /// 1 while the clocks are held down for this reason, else 0.
        GpuThrottled = gauge "pilothouse_gpu_throttled" "" ["gpu", "reason"] "TelemetrySampled";
        /// From 0, the fastest, to 15.
        GpuPerformanceState = gauge "pilothouse_gpu_performance_state" "" ["gpu"] "TelemetrySampled";
        /// Energy since the driver was loaded.
        GpuEnergy = counter "pilothouse_gpu_energy_joules_total" "joules" ["gpu"] "TelemetrySampled";
        /// Temperature from which on clocks are cut.
        GpuSlowdown = gauge "pilothouse_gpu_temperature_slowdown_celsius" "celsius" ["gpu"] "TelemetrySampled";
        /// Temperature at which the GPU turns itself off.
        GpuShutdown = gauge "pilothouse_gpu_temperature_shutdown_celsius" "celsius" ["gpu"] "TelemetrySampled";
        /// Temperature of the memory.
        GpuMemoryTemperature = gauge "pilothouse_gpu_memory_temperature_celsius" "celsius" ["gpu"] "TelemetrySampled";
        /// Temperature of the memory from which on its clocks are cut.
        GpuMemoryTemperatureMax = gauge "pilothouse_gpu_memory_temperature_max_celsius" "celsius" ["gpu"] "TelemetrySampled";
        /// Limit of the power as it was made.
        GpuPowerDefault = gauge "pilothouse_gpu_power_limit_default_watts" "watts" ["gpu"] "TelemetrySampled";
        /// Highest clock of the multiprocessors.
        GpuClockSmMax = gauge "pilothouse_gpu_sm_clock_max_hertz" "hertz" ["gpu"] "TelemetrySampled";
        /// Highest clock of the memory.
        GpuClockMemoryMax = gauge "pilothouse_gpu_memory_clock_max_hertz" "hertz" ["gpu"] "TelemetrySampled";
        /// Speed of the fan, of its own maximum.
        GpuFan = gauge "pilothouse_gpu_fan_speed_ratio" "ratio" ["gpu"] "TelemetrySampled";
        /// Share of the time in which the video encoder worked.
        GpuEncoder = gauge "pilothouse_gpu_encoder_utilization_ratio" "ratio" ["gpu"] "TelemetrySampled";
        /// Share of the time in which the video decoder worked.
        GpuDecoder = gauge "pilothouse_gpu_decoder_utilization_ratio" "ratio" ["gpu"] "TelemetrySampled";
        /// Memory that the host sees directly, in use.
        GpuBar1Used = gauge "pilothouse_gpu_bar1_used_bytes" "bytes" ["gpu"] "TelemetrySampled";
        /// Memory that the host can see directly.
        GpuBar1Total = gauge "pilothouse_gpu_bar1_total_bytes" "bytes" ["gpu"] "TelemetrySampled";
        /// Generation of the PCIe link as it runs.
        GpuPcieGeneration = gauge "pilothouse_gpu_pcie_generation" "" ["gpu"] "TelemetrySampled";
        /// Highest generation of the PCIe link.
        GpuPcieGenerationMax = gauge "pilothouse_gpu_pcie_generation_max" "" ["gpu"] "TelemetrySampled";
        /// Lanes of the PCIe link as it runs.
        GpuPcieLanes = gauge "pilothouse_gpu_pcie_lanes" "" ["gpu"] "TelemetrySampled";
        /// Most lanes of the PCIe link.
        GpuPcieLanesMax = gauge "pilothouse_gpu_pcie_lanes_max" "" ["gpu"] "TelemetrySampled";
        /// Bytes a second that the GPU gets over PCIe, of 20 ms.
        GpuPcieReceived = gauge "pilothouse_gpu_pcie_received_bytes_per_second" "" ["gpu"] "TelemetrySampled";
        /// Bytes a second that the GPU sends over PCIe, of 20 ms.
        GpuPcieSent = gauge "pilothouse_gpu_pcie_sent_bytes_per_second" "" ["gpu"] "TelemetrySampled";
        /// PCIe packets that had to be sent again.
        GpuPcieReplays = counter "pilothouse_gpu_pcie_replays_total" "" ["gpu"] "TelemetrySampled";
        /// NVLinks that the GPU has.
        GpuNvlinks = gauge "pilothouse_gpu_nvlinks" "" ["gpu"] "TelemetrySampled";
        /// NVLinks that are up.
        GpuNvlinksActive = gauge "pilothouse_gpu_nvlinks_active" "" ["gpu"] "TelemetrySampled";
        /// Checksum errors, replays and recoveries of all NVLinks.
        GpuNvlinkErrors = counter "pilothouse_gpu_nvlink_errors_total" "" ["gpu"] "TelemetrySampled";
        /// Memory errors that were corrected, since the driver was loaded.
        GpuEccCorrected = counter "pilothouse_gpu_ecc_corrected_errors_total" "" ["gpu"] "TelemetrySampled";
        /// Memory errors that could not be corrected, in the life of the GPU.
        GpuEccLifetime = counter "pilothouse_gpu_ecc_uncorrected_lifetime_errors_total" "" ["gpu"] "TelemetrySampled";
        /// Memory pages taken out of use after errors.
        GpuPagesRetired = counter "pilothouse_gpu_pages_retired_total" "" ["gpu"] "TelemetrySampled";
        /// 1 where a memory page waits for a reset to be taken out of use, else 0.
        GpuPagesPending = gauge "pilothouse_gpu_pages_retirement_pending" "" ["gpu"] "TelemetrySampled";
        /// Memory rows replaced after errors that could be corrected.
        GpuRowsCorrected = counter "pilothouse_gpu_rows_remapped_corrected_total" "" ["gpu"] "TelemetrySampled";
        /// Memory rows replaced after errors that could not be corrected.
        GpuRowsUncorrected = counter "pilothouse_gpu_rows_remapped_uncorrected_total" "" ["gpu"] "TelemetrySampled";
        /// 1 where a memory row waits for a reset to be replaced, else 0.
        GpuRowsPending = gauge "pilothouse_gpu_rows_remap_pending" "" ["gpu"] "TelemetrySampled";
        /// 1 where a memory row could not be replaced: the GPU wants to be.
        GpuRowsFailed = gauge "pilothouse_gpu_rows_remap_failed" "" ["gpu"] "TelemetrySampled";
        /// 1 where the GPU is cut into instances, else 0.
        GpuMigEnabled = gauge "pilothouse_gpu_mig_enabled" "" ["gpu"] "TelemetrySampled";
        /// Memory of an instance of the GPU in use.
        GpuMigMemoryUsed = gauge "pilothouse_gpu_mig_memory_used_bytes" "bytes" ["gpu", "instance_index"] "TelemetrySampled";
        /// Memory of an instance of the GPU.
        GpuMigMemoryTotal = gauge "pilothouse_gpu_mig_memory_total_bytes" "bytes" ["gpu", "instance_index"] "TelemetrySampled";
        /// Seconds in which the run held the GPU; by successes, what a success costs.
        GpuSeconds = counter "pilothouse_gpu_seconds_total" "seconds" ["gpu"] "TelemetrySampled";
        /// The same, times the utilization: GPU-seconds that were used.
        GpuBusy = counter "pilothouse_gpu_busy_seconds_total" "seconds" ["gpu"] "TelemetrySampled";
        /// Seconds in which the GPU was held and the run did not run (starting, paused, ended): what an idle instance costs.
        GpuIdle = counter "pilothouse_gpu_idle_seconds_total" "seconds" ["gpu"] "TelemetrySampled, RunStateChanged";
    }
}

impl Metric {
    pub fn family(self) -> &'static Family {
        &TABLE[self as usize]
    }
}
