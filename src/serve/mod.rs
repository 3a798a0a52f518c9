//! Duty: HTTP in: `/metrics` and `/healthz`, on a thread and a runtime of its own.
//! May import: event, metrics, state, journal, source.
//! Emits: nothing.
//! Accepts: requests; the hub's events.
//! Test: `cargo test --lib serve::`.

mod accept;
mod connection;
mod follow;
mod routes;
#[cfg(test)]
mod tests;

use crate::journal::Hub;
use connection::Connections;
use follow::Followed;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// What `/healthz` says of this process.
#[derive(Clone, Debug, Default)]
pub struct About {
    pub build: String,
    pub config_sha256: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("`serve.http`: can't listen on {address}: {source}")]
    Bind { address: SocketAddr, source: std::io::Error },
    #[error("`serve.http`: {0}")]
    Start(#[from] std::io::Error),
}

/// Serves until it is dropped.
pub struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens at once; follows the hub from the run's first event, so it is to be started with the run.
    pub fn start(address: SocketAddr, hub: &Hub, about: About) -> Result<Self, ServeError> {
        let listener = TcpListener::bind(address).map_err(|source| ServeError::Bind { address, source })?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let followed = Arc::new(Followed::new(about));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let follower = follow::start(hub, followed.clone())?;
        let serve = move || {
            runtime.block_on(async {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                let served = axum::serve(Connections::new(listener), routes::routes(followed));
                // Open connections are not waited for: a scraper that keeps one must not keep the process.
                tokio::select! {
                    _ = served => {}
                    _ = stopped => {}
                }
            });
            drop(follower);
        };
        let thread = std::thread::Builder::new().name("serve".into()).spawn(serve)?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens; a port of 0 was replaced by the one that was given.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported where it happened.
            let _ = thread.join();
        }
    }
}
