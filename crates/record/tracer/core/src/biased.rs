//! A lock that costs the first thread nothing: what is behind it belongs to the thread that comes first, until another comes.
//!
//! MPI programs say how many threads will call MPI, and most say one. A lock for each request would cost them more than
//! recording it; no lock at all would leave it to the program's word whether memory stays whole. Here the first thread
//! only says that it is inside, in plain stores to a place of its own. A second thread takes that right away from it for good: it has the
//! kernel put a barrier into every running thread (`membarrier`), after which either it sees that the first one is inside,
//! and waits, or the first one sees that it has to lock like everybody else.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering, compiler_fence};

/// Whether a thread is inside something that belongs to it. Every thread has one; all zeros when it is not.
#[derive(Default)]
pub struct Presence(AtomicBool);

/// Which thread this is.
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

/// Nobody came yet.
const NOBODY: *mut Presence = std::ptr::null_mut();
/// Everybody locks.
const SHARED: *mut Presence = std::ptr::without_provenance_mut(usize::MAX);

/// Something behind such a lock.
pub struct Biased<T> {
    /// The thread it belongs to, [`NOBODY`] or [`SHARED`]. Changed by who holds the lock.
    owner: AtomicPtr<Presence>,
    locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time reaches the value: the owner, or whoever holds the lock once there is no owner any more.
unsafe impl<T: Send> Sync for Biased<T> {}

impl<T> Biased<T> {
    /// With nobody inside.
    pub const fn new(value: T) -> Biased<T> {
        Biased {
            owner: AtomicPtr::new(NOBODY),
            locked: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits until nobody else is inside. Whoever is inside must not come here again.
    #[inline(always)]
    pub fn enter(&self, me: ThreadKey) -> Inside<'_, T> {
        me.presence().store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let owns = self.owner.load(Ordering::Relaxed) == me.0;
        if !owns {
            self.enter_locked(me);
        }
        Inside { lock: self, me, owns }
    }

    /// The thread will not come again, and its presence may vanish.
    pub fn give_up(&self, me: ThreadKey) {
        self.lock();
        if self.owner.load(Ordering::Relaxed) == me.0 {
            self.owner.store(NOBODY, Ordering::Relaxed);
        }
        self.locked.store(false, Ordering::Release);
    }

    /// Has everybody lock from now on.
    pub fn share(&self) {
        self.lock();
        self.take_away();
        self.locked.store(false, Ordering::Release);
    }

    /// Takes the lock, and the right to do without it where nobody has that yet.
    #[cold]
    #[inline(never)]
    fn enter_locked(&self, me: ThreadKey) {
        // Whoever has the lock may be waiting for this thread to be out.
        me.presence().store(false, Ordering::Release);
        self.lock();
        let owner = self.owner.load(Ordering::Relaxed);
        if owner == NOBODY && barriers_can_be_had() {
            self.owner.store(me.0, Ordering::Relaxed);
        } else if owner != SHARED {
            self.take_away();
        }
    }

    fn lock(&self) {
        while self.locked.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
    }

    /// There is no owner any more, and nobody is inside as one. The lock is held.
    fn take_away(&self) {
        let owner = self.owner.swap(SHARED, Ordering::SeqCst);
        if owner == NOBODY || owner == SHARED {
            return;
        }
        // The slow one needs no word beforehand.
        let _ = membarrier(PRIVATE_EXPEDITED) || membarrier(GLOBAL);
        // It cannot give up and vanish meanwhile: that takes the lock.
        while ThreadKey(owner).presence().load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    }
}

/// A thread's way to the value, as long as it is inside. No closure: what is put in and taken out then stays in registers,
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
        // SAFETY: either the lock is held; or this thread has said that it is inside before it saw that it is the owner, and
        // whoever takes that right away looks at the one after having changed the other, with a barrier in between.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Inside<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        let entrance = if self.owns { self.me.presence() } else { &self.lock.locked };
        entrance.store(false, Ordering::Release);
    }
}

const GLOBAL: libc::c_int = 1 << 0;
const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

/// Tells the kernel that barriers will be wanted in this process. To be called while it has one thread: later the
/// kernel first waits until every core has been through its scheduler, which takes 10 to 40 ms.
pub fn announce_barriers() {
    barriers_can_be_had();
}

/// Whether the kernel will put barriers into running threads: it must be told beforehand.
fn barriers_can_be_had() -> bool {
    membarrier(REGISTER_PRIVATE_EXPEDITED)
}

fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: a plain system call without memory.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

#[cfg(test)]
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
        assert!(!lock.locked.load(Ordering::Relaxed) && !first.0.load(Ordering::Relaxed));
    }

    #[test]
    fn who_gives_up_leaves_it_to_the_next() {
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
    fn nothing_is_lost_when_threads_come_while_the_owner_is_inside() {
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
