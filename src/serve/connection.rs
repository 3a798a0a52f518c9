//! Connections with limits: how many, how long a request may take to come, how long an answer may take to be read.

use axum::serve::Listener;
use std::future::Future as _;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

/// More wait to be accepted.
const CONNECTIONS_MAX: usize = 64;
/// From a request's first byte to its answer, and from connecting to the first byte.
const REQUEST: Duration = Duration::from_secs(10);
/// Between an answer and the next request; scrapers come every minute or so.
const IDLE: Duration = Duration::from_secs(120);
/// After an error of accepting, such as too many open files.
const REST: Duration = Duration::from_millis(500);

pub(super) struct Connections {
    listener: TcpListener,
    room: Arc<Semaphore>,
}

impl Connections {
    pub fn new(listener: TcpListener) -> Self {
        Self { listener, room: Arc::new(Semaphore::new(CONNECTIONS_MAX)) }
    }
}

impl Listener for Connections {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        loop {
            // The semaphore is never closed.
            let Ok(permit) = self.room.clone().acquire_owned().await else { continue };
            match self.listener.accept().await {
                Ok((stream, address)) => return (Connection::new(stream, permit), address),
                Err(_) => sleep(REST).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that fails when it is late.
pub(super) struct Connection {
    stream: TcpStream,
    deadline: Pin<Box<Sleep>>,
    /// A request has begun to come that was not answered yet.
    is_asked: bool,
    _permit: OwnedSemaphorePermit,
}

impl Connection {
    fn new(stream: TcpStream, permit: OwnedSemaphorePermit) -> Self {
        Self { stream, deadline: Box::pin(sleep(REQUEST)), is_asked: false, _permit: permit }
    }

    fn put_off(&mut self, by: Duration) {
        self.deadline.as_mut().reset(Instant::now() + by);
    }

    fn late(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        self.deadline.as_mut().poll(context).map(|()| io::Error::from(io::ErrorKind::TimedOut))
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        match Pin::new(&mut self.stream).poll_read(context, into) {
            Poll::Ready(read) => {
                if into.filled().len() > before && !self.is_asked {
                    self.is_asked = true;
                    self.put_off(REQUEST);
                }
                Poll::Ready(read)
            }
            Poll::Pending => self.late(context).map(Err),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Ready(written) => {
                self.is_asked = false;
                self.put_off(IDLE);
                Poll::Ready(written)
            }
            // An answer that nobody reads.
            Poll::Pending => self.late(context).map(Err),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
