//! The way of samples to the engine.

use crate::event::{CommandSender, Event, SamplesDropped, SendError};

/// The engine has ended: nobody wants samples any more.
#[derive(Debug, PartialEq, Eq)]
pub struct Closed;

/// Sends to the engine without waiting; what it refuses is counted and told later.
pub struct Outlet<'a> {
    commands: &'a CommandSender,
    /// As it stands in `SamplesDropped`.
    sampler: &'static str,
    dropped: u64,
}

impl<'a> Outlet<'a> {
    pub fn new(commands: &'a CommandSender, sampler: &'static str) -> Self {
        Self { commands, sampler, dropped: 0 }
    }

    pub fn send(&mut self, sample: impl Into<Event>) -> Result<(), Closed> {
        match self.commands.fact(sample) {
            Ok(()) => self.tell_dropped(),
            Err(SendError::Full) => {
                self.dropped += 1;
                Ok(())
            }
            Err(SendError::Closed) => Err(Closed),
        }
    }

    fn tell_dropped(&mut self) -> Result<(), Closed> {
        if self.dropped == 0 {
            return Ok(());
        }
        match self.commands.fact(SamplesDropped { sampler: self.sampler.into(), count: self.dropped }) {
            Ok(()) => {
                self.dropped = 0;
                Ok(())
            }
            Err(SendError::Full) => Ok(()),
            Err(SendError::Closed) => Err(Closed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{GpuStatus, HostSample, Inbox, Input, TelemetrySampled, inbox};
    use std::time::Duration;

    fn sample() -> TelemetrySampled {
        TelemetrySampled { host: HostSample::default(), gpu: GpuStatus::Unavailable { reason: "".into() } }
    }

    fn fact(inbox: &Inbox) -> Event {
        match inbox.wait(Duration::from_secs(30)) {
            Some(Input::Fact(event)) => *event,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_refused_is_counted_and_told_once() {
        let (commands, inbox) = inbox(2);
        let mut outlet = Outlet::new(&commands, "telemetry");
        for _ in 0..5 {
            assert!(outlet.send(sample()).is_ok());
        }
        assert_eq!(outlet.dropped, 3);
        assert!(matches!(fact(&inbox), Event::TelemetrySampled(_)));
        // Room for the sample and none for the count: it is kept.
        assert!(outlet.send(sample()).is_ok());
        assert_eq!(outlet.dropped, 3);
        while inbox.try_next().is_some() {}
        assert!(outlet.send(sample()).is_ok());
        assert!(matches!(fact(&inbox), Event::TelemetrySampled(_)));
        assert_eq!(fact(&inbox), Event::SamplesDropped(SamplesDropped { sampler: "telemetry".into(), count: 3 }));
        assert_eq!(outlet.dropped, 0);
        drop(inbox);
        assert_eq!(outlet.send(sample()), Err(Closed));
    }
}
