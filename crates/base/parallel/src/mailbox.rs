//! Messages between threads that work until none has anything left to do.
//!
//! A message lies in the mailbox of its receiver until that one looks. A thread with nothing to do waits for messages; when
//! all threads wait and all messages are read, all of them end.

use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering, lock, pause};

/// Turns of waiting without giving the core away.
const SPINS: u32 = 1 << 8;

/// The mailboxes of some threads.
#[derive(Debug)]
pub struct Mailboxes<M> {
    boxes: Vec<Slot<M>>,
    /// Threads at work plus unread messages.
    open: AtomicUsize,
    /// A thread has panicked; the others must not wait for it.
    broken: AtomicBool,
}

#[derive(Debug)]
struct Slot<M> {
    messages: Mutex<Vec<M>>,
    /// Whether there are some: asked often, so it takes no lock.
    full: AtomicBool,
}

impl<M> Mailboxes<M> {
    /// For so many threads, which are all at work.
    pub fn new(threads: usize) -> Mailboxes<M> {
        let empty = || Slot { messages: Mutex::new(Vec::new()), full: AtomicBool::new(false) };
        Mailboxes {
            boxes: (0..threads).map(|_| empty()).collect(),
            open: AtomicUsize::new(threads),
            broken: AtomicBool::new(false),
        }
    }

    /// That of the thread with this number.
    pub fn of(&self, own: usize) -> Mailbox<'_, M> {
        Mailbox { all: self, own }
    }
}

/// The mailbox of one thread, and its way to the others.
#[derive(Debug)]
pub struct Mailbox<'a, M> {
    all: &'a Mailboxes<M>,
    own: usize,
}

impl<M> Mailbox<'_, M> {
    /// Whether another thread has panicked.
    pub fn is_broken(&self) -> bool {
        self.all.broken.load(Ordering::Relaxed)
    }

    /// Sends messages, which are taken out of their list.
    pub fn send(&self, to: usize, messages: &mut Vec<M>) {
        if messages.is_empty() {
            return;
        }
        self.all.open.fetch_add(messages.len(), Ordering::AcqRel);
        let to = &self.all.boxes[to];
        lock(&to.messages).append(messages);
        to.full.store(true, Ordering::Release);
    }

    /// Takes what has come so far.
    pub fn take(&self) -> Vec<M> {
        let own = &self.all.boxes[self.own];
        if !own.full.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut messages = lock(&own.messages);
        own.full.store(false, Ordering::Relaxed);
        let messages = std::mem::take(&mut *messages);
        self.all.open.fetch_sub(messages.len(), Ordering::AcqRel);
        messages
    }

    /// Waits for messages. `None` if there will be none: all threads wait.
    pub fn wait(&self) -> Option<Vec<M>> {
        let Mailboxes { boxes, open, .. } = self.all;
        open.fetch_sub(1, Ordering::AcqRel);
        let mut pauses = 0;
        while !boxes[self.own].full.load(Ordering::Acquire) {
            if open.load(Ordering::Acquire) == 0 || self.is_broken() {
                return None;
            }
            pause(&mut pauses, SPINS);
        }
        // At work again, before what was unread counts as read.
        open.fetch_add(1, Ordering::AcqRel);
        Some(self.take())
    }
}

/// Tells the others when its thread unwinds.
impl<M> Drop for Mailbox<'_, M> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.all.broken.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Every thread hands every number on, one less, to the thread it names: all end, and no number is lost.
    #[test]
    fn all_end_when_all_messages_are_read() {
        const THREADS: usize = 3;
        let mailboxes: Mailboxes<u32> = Mailboxes::new(THREADS);
        let work = &|own: usize| -> u32 {
            let mailbox = mailboxes.of(own);
            let (mut read, mut outgoing) = (0, Vec::new());
            mailbox.send((own + 1) % THREADS, &mut vec![1000, 500, 7]);
            while let Some(messages) = mailbox.wait() {
                for message in messages {
                    read += 1;
                    if message > 1 {
                        outgoing.push(message - 1);
                        mailbox.send(message as usize % THREADS, &mut outgoing);
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

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// One thread sends a message, which the other answers: both end, and both messages are read.
    #[test]
    fn all_end_when_all_messages_are_read() {
        loom::model(|| {
            let mailboxes: Arc<Mailboxes<bool>> = Arc::new(Mailboxes::new(2));
            let work = |own: usize, mailboxes: &Mailboxes<bool>| -> u32 {
                let (mailbox, mut read) = (mailboxes.of(own), 0);
                if own == 0 {
                    mailbox.send(1, &mut vec![true]);
                }
                while let Some(messages) = mailbox.wait() {
                    for answer in messages {
                        read += 1;
                        if answer {
                            mailbox.send(1 - own, &mut vec![false]);
                        }
                    }
                }
                read
            };
            let other = thread::spawn({
                let mailboxes = mailboxes.clone();
                move || work(1, &mailboxes)
            });
            let read = work(0, &mailboxes) + other.join().unwrap();
            assert_eq!(read, 2);
        });
    }
}
