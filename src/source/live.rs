//! A run of this process.

use super::{Frame, FrameSource, Playback, SourceError, SourceStatus};
use crate::event::CommandSender;
use crate::journal::{Hub, Subscription};
use std::time::Duration;

pub struct LiveSource {
    subscription: Subscription,
    commands: Option<CommandSender>,
}

impl LiveSource {
    /// Without `commands` it is read-only.
    pub fn new(hub: &Hub, commands: Option<CommandSender>) -> Self {
        Self { subscription: hub.subscribe(), commands }
    }
}

impl FrameSource for LiveSource {
    fn poll(&mut self, out: &mut Vec<Frame>, budget: usize) -> Result<SourceStatus, SourceError> {
        if self.subscription.poll(out, budget) {
            return Ok(SourceStatus::More);
        }
        Ok(if self.subscription.is_ended() { SourceStatus::Ended } else { SourceStatus::Drained })
    }

    fn wait(&mut self, timeout: Duration) -> bool {
        self.subscription.wait(timeout)
    }

    fn commands(&self) -> Option<&CommandSender> {
        self.commands.as_ref()
    }

    fn playback(&mut self) -> Option<&mut dyn Playback> {
        None
    }
}
