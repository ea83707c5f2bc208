//! A lock that is free for the first thread that takes it, until a second thread comes.
//!
//! MPI programs say how many threads will call MPI, and most say one. A lock for each request would cost them more than
//! recording it; no lock at all would trust the program's word with memory safety. Here the first thread becomes the
//! *owner*: it only announces that it is inside, with plain stores to its own [`Presence`]. A second thread revokes
//! ownership for good: it has the kernel put a memory barrier into every running thread (`membarrier`), after which either
//! it sees that the owner is inside and waits, or the owner sees that it has to lock like every other thread.

use crate::sync::{AtomicBool, AtomicPtr, Ordering, yield_now};
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};

/// Whether a thread is inside a lock that it owns. Every thread has one; all zeros when it is not.
#[derive(Default)]
pub struct Presence(AtomicBool);

/// Identifies a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadKey(*mut Presence);

impl ThreadKey {
    /// By the thread's own presence.
    ///
    /// # Safety
    /// It must be this thread's alone, and stay where it is until the thread has given up ([`Biased::give_up`]) whatever
    /// it used with it.
    #[inline(always)]
    pub unsafe fn of_own(presence: *mut Presence) -> ThreadKey {
        ThreadKey(presence)
    }

    #[inline(always)]
    fn presence<'a>(self) -> &'a AtomicBool {
        // SAFETY: by the contract of `of_own`; an owner that was not given up is still there.
        unsafe { &(*self.0).0 }
    }
}

/// No thread has come yet.
const UNOWNED: *mut Presence = std::ptr::null_mut();
/// Every thread locks.
const SHARED: *mut Presence = std::ptr::without_provenance_mut(usize::MAX);

/// A value behind such a lock.
pub struct Biased<T> {
    /// The owning thread, [`UNOWNED`] or [`SHARED`]. Changed by the holder of the lock.
    owner: AtomicPtr<Presence>,
    lock: spin::Lock,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time reaches the value: the owner, or the holder of the lock once there is no owner any more.
unsafe impl<T: Send> Sync for Biased<T> {}

impl<T> Biased<T> {
    /// Unlocked.
    #[cfg(not(loom))]
    pub const fn new(value: T) -> Biased<T> {
        Biased { owner: AtomicPtr::new(UNOWNED), lock: spin::Lock::new(), value: UnsafeCell::new(value) }
    }

    /// Unlocked; loom's atomics have no constants.
    #[cfg(loom)]
    pub fn new(value: T) -> Biased<T> {
        Biased { owner: AtomicPtr::new(UNOWNED), lock: spin::Lock::new(), value: UnsafeCell::new(value) }
    }

    /// Waits until no other thread is inside. A thread that is inside must not enter again.
    #[inline(always)]
    pub fn enter(&self, me: ThreadKey) -> Inside<'_, T> {
        me.presence().store(true, Ordering::Relaxed);
        barrier::light();
        let owns = self.owner.load(Ordering::Relaxed) == me.0;
        if !owns {
            self.enter_locked(me);
        }
        Inside { lock: self, me, owns }
    }

    /// The thread will not enter again, and its presence may vanish.
    pub fn give_up(&self, me: ThreadKey) {
        self.lock.lock();
        if self.owner.load(Ordering::Relaxed) == me.0 {
            self.owner.store(UNOWNED, Ordering::Relaxed);
        }
        self.lock.unlock();
    }

    /// Has every thread lock from now on.
    pub fn share(&self) {
        self.lock.lock();
        self.revoke();
        self.lock.unlock();
    }

    /// Takes the lock, and ownership where no thread has it yet.
    #[cold]
    #[inline(never)]
    fn enter_locked(&self, me: ThreadKey) {
        // Whoever has the lock may be waiting for this thread to be out.
        me.presence().store(false, Ordering::Release);
        self.lock.lock();
        let owner = self.owner.load(Ordering::Relaxed);
        if owner == UNOWNED && barrier::available() {
            self.owner.store(me.0, Ordering::Relaxed);
        } else if owner != SHARED {
            self.revoke();
        }
    }

    /// Ends ownership, and waits until the owner is out. The lock is held.
    fn revoke(&self) {
        let owner = self.owner.swap(SHARED, Ordering::SeqCst);
        if owner == UNOWNED || owner == SHARED {
            return;
        }
        barrier::heavy();
        // The owner cannot give up and vanish meanwhile: that takes the lock.
        while ThreadKey(owner).presence().load(Ordering::Acquire) {
            yield_now();
        }
    }
}

/// A thread's access to the value while it is inside. No closure: what is put in and taken out then stays in registers,
/// and does not have to be read from the stack right after it was written there.
pub struct Inside<'a, T> {
    lock: &'a Biased<T>,
    me: ThreadKey,
    /// It needed no lock.
    owns: bool,
}

impl<T> Deref for Inside<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: as below.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Inside<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: either the lock is held; or this thread announced that it is inside before it saw that it is the owner, and
        // the revoking thread reads that announcement after having changed the owner, with a barrier in between.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Inside<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        match self.owns {
            true => self.me.presence().store(false, Ordering::Release),
            false => self.lock.lock.unlock(),
        }
    }
}

/// Announces to the kernel that barriers will be wanted in this process. To be called while it has one thread: later the
/// kernel first waits until every core has been through its scheduler, which takes 10 to 40 ms.
pub fn announce_barriers() {
    barrier::available();
}

/// The two sides of the barrier between owner and revoker: nothing but the compiler's for the owner, the kernel's for the
/// revoker.
#[cfg(not(loom))]
mod barrier {
    use std::sync::atomic::{Ordering, compiler_fence};

    const GLOBAL: libc::c_int = 1 << 0;
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

    /// The owner's side.
    #[inline(always)]
    pub(super) fn light() {
        compiler_fence(Ordering::SeqCst);
    }

    /// The revoker's side.
    pub(super) fn heavy() {
        // The slow one needs no announcement.
        let _ = membarrier(PRIVATE_EXPEDITED) || membarrier(GLOBAL);
    }

    /// Whether the kernel will put barriers into running threads: the process must register beforehand.
    pub(super) fn available() -> bool {
        membarrier(REGISTER_PRIVATE_EXPEDITED)
    }

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: a plain system call without memory.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
}

/// What the kernel's barrier amounts to: a fence on both sides.
#[cfg(loom)]
mod barrier {
    use crate::sync::{Ordering, fence};

    pub(super) fn light() {
        fence(Ordering::SeqCst);
    }

    pub(super) fn heavy() {
        fence(Ordering::SeqCst);
    }

    pub(super) fn available() -> bool {
        true
    }
}

/// A lock of one byte: it is held for a few instructions, and rarely taken at all.
#[cfg(not(loom))]
mod spin {
    use super::{AtomicBool, Ordering, yield_now};

    pub(super) struct Lock(AtomicBool);

    impl Lock {
        pub(super) const fn new() -> Lock {
            Lock(AtomicBool::new(false))
        }

        pub(super) fn lock(&self) {
            while self.0.swap(true, Ordering::Acquire) {
                yield_now();
            }
        }

        #[inline(always)]
        pub(super) fn unlock(&self) {
            self.0.store(false, Ordering::Release);
        }

        #[cfg(test)]
        pub(super) fn is_locked(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }
}

/// The same contract by a lock that blocks: loom gives up on threads that spin.
#[cfg(loom)]
mod spin {
    use crate::sync::{Condvar, Mutex, lock};

    pub(super) struct Lock(Mutex<bool>, Condvar);

    impl Lock {
        pub(super) fn new() -> Lock {
            Lock(Mutex::new(false), Condvar::new())
        }

        pub(super) fn lock(&self) {
            let mut locked = lock(&self.0);
            while *locked {
                locked = self.1.wait(locked).unwrap_or_else(std::sync::PoisonError::into_inner);
            }
            *locked = true;
        }

        pub(super) fn unlock(&self) {
            *lock(&self.0) = false;
            self.1.notify_one();
        }
    }
}

#[cfg(all(test, loom))]
mod orders {
    use super::*;
    use loom::cell::UnsafeCell as Watched;
    use loom::sync::Arc;

    /// Enters some times, each time with a write that loom sees if another thread is inside as well.
    fn work(lock: &Biased<Watched<u32>>, times: usize) {
        let presence = Presence::default();
        // SAFETY: it is this thread's, which gives up before it goes.
        let me = unsafe { ThreadKey::of_own(std::ptr::from_ref(&presence).cast_mut()) };
        for _ in 0..times {
            // SAFETY: whether one thread at a time is inside is what loom looks at.
            lock.enter(me).with_mut(|value| unsafe { *value += 1 });
        }
        lock.give_up(me);
    }

    fn count(lock: &Biased<Watched<u32>>) -> u32 {
        // SAFETY: the threads have ended.
        unsafe { &*lock.value.get() }.with(|value| unsafe { *value })
    }

    #[test]
    fn one_thread_at_a_time_is_inside() {
        loom::model(|| {
            let shared = Arc::new(Biased::new(Watched::new(0)));
            let other = Arc::clone(&shared);
            let thread = loom::thread::spawn(move || work(&other, 2));
            work(&shared, 2);
            thread.join().unwrap();
            assert_eq!(count(&shared), 4);
        });
    }

    #[test]
    fn an_owner_gives_up_while_another_revokes() {
        loom::model(|| {
            let shared = Arc::new(Biased::new(Watched::new(0)));
            let other = Arc::clone(&shared);
            let thread = loom::thread::spawn(move || {
                work(&other, 1);
                other.share();
            });
            work(&shared, 1);
            work(&shared, 1);
            thread.join().unwrap();
            assert_eq!(count(&shared), 3);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn key(presence: &Presence) -> ThreadKey {
        ThreadKey(std::ptr::from_ref(presence).cast_mut())
    }

    #[test]
    fn the_first_thread_owns_it_until_another_comes() {
        let (first, second) = (Presence::default(), Presence::default());
        let lock = Biased::new(0);
        for expected in 0..3 {
            assert_eq!(std::mem::replace(&mut *lock.enter(key(&first)), expected + 1), expected);
            assert_eq!(lock.owner.load(Ordering::Relaxed), key(&first).0);
        }
        assert_eq!(*lock.enter(key(&second)), 3);
        assert_eq!(lock.owner.load(Ordering::Relaxed), SHARED);
        assert_eq!(*lock.enter(key(&first)), 3);
        assert!(!lock.lock.is_locked() && !first.0.load(Ordering::Relaxed));
    }

    #[test]
    fn giving_up_leaves_it_to_the_next() {
        let (first, second) = (Presence::default(), Presence::default());
        let lock = Biased::new(());
        drop(lock.enter(key(&first)));
        lock.give_up(key(&second));
        assert_eq!(lock.owner.load(Ordering::Relaxed), key(&first).0);
        lock.give_up(key(&first));
        drop(lock.enter(key(&second)));
        assert_eq!(lock.owner.load(Ordering::Relaxed), key(&second).0);
    }

    #[test]
    fn nothing_is_lost_when_threads_enter_while_the_owner_is_inside() {
        const EACH: u64 = 20_000;
        for round in 0..50 {
            let lock = Biased::new((0u64, 0u64));
            let work = |number: usize| {
                let presence = Presence::default();
                // The others come when the first is in full swing.
                (0..number * round * 100).for_each(|_| std::hint::spin_loop());
                for _ in 0..EACH {
                    // Two halves that would differ if two threads were inside at once.
                    let mut inside = lock.enter(key(&presence));
                    let (a, b) = &mut *inside;
                    *a += 1;
                    *b += 1;
                    assert_eq!(a, b);
                }
                lock.give_up(key(&presence));
            };
            std::thread::scope(|scope| {
                (0..3).for_each(|number| {
                    scope.spawn(move || work(number));
                });
            });
            assert_eq!(lock.value.into_inner(), (3 * EACH, 3 * EACH));
        }
    }
}
