//! Where connections come in.

use crate::connections::seats::{Seat, Seats};
use crate::connections::{owner, raise_descriptors};
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Strangers at the same time, at most, where there are descriptors enough.
const MOST_STRANGERS: u64 = 256;
/// They have no more than one in so many descriptors.
const PART_OF_DESCRIPTORS: u64 = 4;
/// So long somebody may take to say who they are.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Connections that wait to be taken, at most; the kernel may allow fewer.
const QUEUE: i32 = 4096;
/// Until there may be a descriptor again.
const PAUSE: Duration = Duration::from_millis(20);

/// Listens, and keeps strangers few.
#[derive(Debug)]
pub struct Gate {
    listener: TcpListener,
    seats: Seats,
}

impl Gate {
    /// At a port that is listened at already. Must be called within a runtime.
    pub fn new(listener: std::net::TcpListener) -> io::Result<Gate> {
        let descriptors = raise_descriptors()?;
        lengthen_queue(&listener)?;
        let most = (descriptors / PART_OF_DESCRIPTORS).clamp(1, MOST_STRANGERS);
        let seats = Seats::new(most as usize);
        let watched = seats.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK_EVERY).await;
                watched.dismiss_older(PATIENCE);
            }
        });
        Ok(Gate { listener: TcpListener::from_std(listener)?, seats })
    }
}

/// Lets more connections wait than the standard library does: one that finds the queue full comes again after a second.
fn lengthen_queue(listener: &std::net::TcpListener) -> io::Result<()> {
    // SAFETY: a socket that is open and listens already.
    match unsafe { libc::listen(listener.as_raw_fd(), QUEUE) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

impl Listener for Gate {
    type Io = Visitor;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Visitor, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    let seat = self.seats.take();
                    // Whoever has to go does so before the next one comes.
                    tokio::task::yield_now().await;
                    return (Visitor { stream, seat }, address);
                }
                Err(error) if is_of_one_connection(&error) => {}
                Err(_) => {
                    self.seats.make_room();
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionRefused | ConnectionAborted | ConnectionReset)
}

/// A connection that may be ended from this side while its other side says nothing.
#[derive(Debug)]
pub struct Visitor {
    stream: TcpStream,
    seat: Arc<Seat>,
}

impl Visitor {
    /// The connection, unless it is over.
    fn stream(&mut self, context: &Context<'_>) -> io::Result<Pin<&mut TcpStream>> {
        match self.seat.is_dismissed(context.waker()) {
            true => Err(io::ErrorKind::ConnectionAborted.into()),
            false => Ok(Pin::new(&mut self.stream)),
        }
    }
}

impl AsyncRead for Visitor {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.stream(context) {
            Ok(stream) => stream.poll_read(context, buffer),
            Err(over) => Poll::Ready(Err(over)),
        }
    }
}

impl AsyncWrite for Visitor {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.stream(context) {
            Ok(stream) => stream.poll_write(context, bytes),
            Err(over) => Poll::Ready(Err(over)),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Who makes a request: one end of a connection.
#[derive(Clone, Debug)]
pub struct Caller {
    seat: Arc<Seat>,
    theirs: SocketAddr,
    ours: Option<SocketAddr>,
}

impl Caller {
    /// This connection is no stranger's.
    pub fn trust(&self) {
        self.seat.trust();
    }

    /// Whether the other end belongs to the user of this process, or to the machine's. True where nobody can tell.
    pub fn is_same_user(&self) -> bool {
        self.ours.is_none_or(|ours| owner::is_same_user(self.theirs, ours))
    }
}

impl Connected<IncomingStream<'_, Gate>> for Caller {
    fn connect_info(incoming: IncomingStream<'_, Gate>) -> Caller {
        let Visitor { stream, seat } = incoming.io();
        Caller { seat: Arc::clone(seat), theirs: *incoming.remote_addr(), ours: stream.local_addr().ok() }
    }
}
