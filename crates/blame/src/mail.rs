//! What threads tell each other while they work: it lies in a box of each until that one looks. Who has nothing to do waits for
//! mail; when nobody has anything to do and all mail is read, all is over.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Turns of waiting without giving the core away.
const SPINS: u32 = 1 << 8;

/// The boxes of some threads.
pub(crate) struct Mail<M> {
    boxes: Vec<MailBox<M>>,
    /// Threads at work and messages that nobody has read, together.
    open: AtomicUsize,
    /// A thread has panicked; the others must not wait for it.
    broken: AtomicBool,
}

struct MailBox<M> {
    messages: Mutex<Vec<M>>,
    /// Whether there are some: asked often, so it takes no lock.
    full: AtomicBool,
}

impl<M> Mail<M> {
    /// Of so many threads, which are all at work.
    pub(crate) fn new(threads: usize) -> Mail<M> {
        let empty = || MailBox { messages: Mutex::default(), full: AtomicBool::new(false) };
        Mail {
            boxes: (0..threads).map(|_| empty()).collect(),
            open: AtomicUsize::new(threads),
            broken: AtomicBool::new(false),
        }
    }

    /// For the thread with this number.
    pub(crate) fn seat(&self, own: usize) -> Seat<'_, M> {
        Seat { mail: self, own }
    }
}

/// The place of one thread.
pub(crate) struct Seat<'a, M> {
    mail: &'a Mail<M>,
    own: usize,
}

impl<M> Seat<'_, M> {
    /// Whether another thread has panicked.
    pub(crate) fn is_broken(&self) -> bool {
        self.mail.broken.load(Ordering::Relaxed)
    }

    /// Sends messages, which are taken out of their list.
    pub(crate) fn send(&self, to: usize, messages: &mut Vec<M>) {
        if messages.is_empty() {
            return;
        }
        self.mail.open.fetch_add(messages.len(), Ordering::AcqRel);
        let to = &self.mail.boxes[to];
        lock(&to.messages).append(messages);
        to.full.store(true, Ordering::Release);
    }

    /// What has come so far.
    pub(crate) fn look(&self) -> Vec<M> {
        let own = &self.mail.boxes[self.own];
        if !own.full.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut messages = lock(&own.messages);
        own.full.store(false, Ordering::Relaxed);
        let messages = std::mem::take(&mut *messages);
        self.mail.open.fetch_sub(messages.len(), Ordering::AcqRel);
        messages
    }

    /// Waits for mail. Nothing if there will be none: all is over.
    pub(crate) fn wait(&self) -> Option<Vec<M>> {
        let Mail { boxes, open, .. } = self.mail;
        open.fetch_sub(1, Ordering::AcqRel);
        let mut spins = 0;
        while !boxes[self.own].full.load(Ordering::Acquire) {
            if open.load(Ordering::Acquire) == 0 || self.is_broken() {
                return None;
            }
            spins += 1;
            if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        // At work again, before what was unread counts as read.
        open.fetch_add(1, Ordering::AcqRel);
        Some(self.look())
    }
}

/// Tells the others when its thread unwinds.
impl<M> Drop for Seat<'_, M> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.mail.broken.store(true, Ordering::Relaxed);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everybody hands every number on, one less, to whoever it says: all end, and no number is lost.
    #[test]
    fn all_end_when_all_mail_is_read() {
        const THREADS: usize = 3;
        let mail: Mail<u32> = Mail::new(THREADS);
        let work = &|own: usize| -> u32 {
            let seat = mail.seat(own);
            let (mut read, mut outgoing) = (0, Vec::new());
            seat.send((own + 1) % THREADS, &mut vec![1000, 500, 7]);
            while let Some(messages) = seat.wait() {
                for message in messages {
                    read += 1;
                    if message > 1 {
                        outgoing.push(message - 1);
                        seat.send(message as usize % THREADS, &mut outgoing);
                    }
                }
            }
            read
        };
        let read: u32 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|own| scope.spawn(move || work(own))).collect();
            threads.into_iter().map(|thread| thread.join().expect("it ends")).sum()
        });
        assert_eq!(read, 3 * (1000 + 500 + 7));
    }
}
