//! Who is there, and who is let go.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;
use std::time::{Duration, Instant};

/// What is known of one connection.
#[derive(Debug)]
pub(crate) struct Seat {
    came: Instant,
    is_trusted: AtomicBool,
    is_dismissed: AtomicBool,
    /// Whoever waits for the connection.
    waiting: Mutex<Option<Waker>>,
}

impl Seat {
    fn new() -> Seat {
        let no = || AtomicBool::new(false);
        Seat { came: Instant::now(), is_trusted: no(), is_dismissed: no(), waiting: Mutex::default() }
    }

    pub(crate) fn trust(&self) {
        self.is_trusted.store(true, Ordering::Relaxed);
    }

    /// Whether it has to go; if not, it is woken when it has to.
    pub(crate) fn is_dismissed(&self, waker: &Waker) -> bool {
        *lock(&self.waiting) = Some(waker.clone());
        self.is_dismissed.load(Ordering::SeqCst)
    }

    fn dismiss(&self) {
        self.is_dismissed.store(true, Ordering::SeqCst);
        if let Some(waker) = lock(&self.waiting).take() {
            waker.wake();
        }
    }

    fn is_strangers(&self) -> bool {
        !self.is_trusted.load(Ordering::Relaxed) && !self.is_dismissed.load(Ordering::Relaxed)
    }
}

/// Connections of strangers, the oldest first.
#[derive(Clone, Debug)]
pub(crate) struct Seats {
    strangers: Arc<Mutex<VecDeque<Weak<Seat>>>>,
    most: usize,
}

impl Seats {
    pub(crate) fn new(most: usize) -> Seats {
        Seats { strangers: Arc::default(), most }
    }

    /// One for somebody who came just now. The oldest stranger has to go if there are too many.
    pub(crate) fn take(&self) -> Arc<Seat> {
        let seat = Arc::new(Seat::new());
        let mut strangers = self.present();
        strangers.push_back(Arc::downgrade(&seat));
        let too_many = strangers.len().saturating_sub(self.most);
        dismiss(strangers.drain(..too_many));
        seat
    }

    /// Half of the strangers have to go: there is no room.
    pub(crate) fn make_room(&self) {
        let mut strangers = self.present();
        let half = strangers.len().div_ceil(2);
        dismiss(strangers.drain(..half));
    }

    /// Those who came longer ago have to go.
    pub(crate) fn dismiss_older(&self, than: Duration) {
        let mut strangers = self.present();
        let is_old = |seat: &Weak<Seat>| seat.upgrade().is_some_and(|seat| seat.came.elapsed() > than);
        let old = strangers.iter().take_while(|seat| is_old(seat)).count();
        dismiss(strangers.drain(..old));
    }

    fn present(&self) -> MutexGuard<'_, VecDeque<Weak<Seat>>> {
        let mut strangers = lock(&self.strangers);
        strangers.retain(|seat| seat.upgrade().is_some_and(|seat| seat.is_strangers()));
        strangers
    }
}

fn dismiss(seats: impl Iterator<Item = Weak<Seat>>) {
    seats.filter_map(|seat| seat.upgrade()).for_each(|seat| seat.dismiss());
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stays(seat: &Seat) -> bool {
        !seat.is_dismissed(Waker::noop())
    }

    #[test]
    fn the_oldest_strangers_make_room() {
        let seats = Seats::new(2);
        let (one, two) = (seats.take(), seats.take());
        one.trust();
        let (three, four) = (seats.take(), seats.take());
        assert!(stays(&one) && !stays(&two) && stays(&three) && stays(&four));
        drop(three);
        let five = seats.take();
        assert!(stays(&four) && stays(&five), "who has left takes no seat");
        seats.make_room();
        assert!(stays(&one) && !stays(&four) && stays(&five));
        seats.dismiss_older(Duration::from_secs(60));
        assert!(stays(&five));
        seats.dismiss_older(Duration::ZERO);
        assert!(stays(&one) && !stays(&five));
    }
}
