//! Leading references of loaded modules to the tracer, where exported names do not.
//!
//! Exported names precede those of all modules, in every module, and in what `dlsym` gives. Where only some references
//! are to be recorded (those to one of several OpenMP runtimes), or where modules were bound while the names were not to be
//! seen (those that bring MPI along), a [`Binder`] looks at the references of each module, once it is loaded.
//!
//! What it promises: no rank waits here for another thread, since a thread that loads a module holds the loader's lock. Each
//! module is looked at once; who comes while another thread looks leaves it to that one.
//!
//! What it does not do: it does not say which references are led where.

use crate::cancellation::Uncancelled;
use crate::loader::{self, ListedModule, Module, Reference, objects};
use crate::process;
use crate::stream::lock;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, TryLockError};

/// Who leads references.
pub trait Binder: Sync {
    /// Whether it wants to see references of the module with this path.
    fn looks_at(&self, _path: &CStr) -> bool {
        true
    }

    /// Whether it wants to see references to functions of this name.
    fn wants(&self, name: &CStr) -> bool;

    /// A module with such references. `late` if it may have called them already.
    fn bind(&self, module: &Module, references: &[Reference], late: bool);
}

/// Whether modules may have called functions before they were looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// They were loaded just now.
    Loaded,
    /// They were loaded some time ago.
    Later,
}

struct State {
    binders: Vec<&'static dyn Binder>,
    /// Modules that all binders have seen, and whether they had references that one of them wanted.
    seen: HashMap<usize, CheckedModule>,
    /// Loads and unloads when they had.
    changes: (u64, u64),
}

struct CheckedModule {
    path: CString,
    has_references: bool,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);
/// Somebody wants modules to be looked at.
static PENDING: AtomicBool = AtomicBool::new(false);
/// Modules that had been loaded when all were looked at last.
static LOADS_CHECKED: AtomicU64 = AtomicU64::new(0);
/// A module was loaded by a way on which nothing of ours runs behind it.
static UNWATCHED: AtomicBool = AtomicBool::new(false);

/// Adds a binder, and shows it what is loaded. Binders are added while the process has one thread.
pub fn register(binder: &'static dyn Binder) {
    let mut state = lock(&STATE);
    let state = state.get_or_insert_with(State::new);
    state.binders.push(binder);
    let newest = state.binders.len() - 1;
    state.look(newest, When::Loaded);
}

/// Shows all binders the modules that they have not seen.
pub fn look(when: When) {
    if process::is_forked() {
        return;
    }
    let _uncancelled = Uncancelled::new();
    PENDING.store(true, Ordering::SeqCst);
    while PENDING.load(Ordering::SeqCst) {
        let mut state = match STATE.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            // Whoever has it looks again.
            Err(TryLockError::WouldBlock) => return,
        };
        PENDING.store(false, Ordering::SeqCst);
        if let Some(state) = &mut *state {
            state.look_at_new(when);
        }
    }
}

/// All modules are to be looked at again: what references are to lead to has changed.
pub fn look_again(when: When) {
    if let Ok(mut state) = STATE.try_lock()
        && let Some(state) = &mut *state
    {
        state.seen.clear();
    }
    look(when);
}

/// A module is loaded by a way on which nothing of ours runs behind it.
pub fn note_unwatched() {
    UNWATCHED.store(true, Ordering::Relaxed);
}

/// A function is looked up: what was loaded unwatched is about to be used.
pub fn before_use(before_looking: impl FnOnce()) {
    if UNWATCHED.load(Ordering::Relaxed) && objects::changes().0 != LOADS_CHECKED.load(Ordering::Relaxed) {
        before_looking();
        look(When::Loaded);
    }
}

impl State {
    fn new() -> State {
        State { binders: Vec::new(), seen: HashMap::new(), changes: (0, 0) }
    }

    fn look_at_new(&mut self, when: When) {
        let changes = objects::changes();
        if changes.1 != self.changes.1 {
            // A module with references may have been unloaded, and loaded again at the same place.
            self.seen.retain(|_, seen| !seen.has_references);
        } else if changes == self.changes && !self.seen.is_empty() {
            return;
        }
        self.look(0, when);
    }

    /// Shows the binders from this one on what is new to them.
    fn look(&mut self, first: usize, when: When) {
        self.changes = objects::changes();
        let own = loader::file_of(look as *const () as usize);
        for found in loader::loaded() {
            let (identity, path) = (found.identity(), found.path().to_owned());
            let is_seen = self.seen.get(&identity).is_some_and(|seen| seen.path == path);
            if is_seen && first == 0 || own == Some(path.as_c_str()) {
                continue;
            }
            let has_references = self.show(first, found, when);
            let seen = self
                .seen
                .entry(identity)
                .or_insert(CheckedModule { path: CString::default(), has_references: false });
            *seen = CheckedModule { has_references: has_references || is_seen && seen.has_references, path };
        }
        LOADS_CHECKED.store(self.changes.0, Ordering::Relaxed);
    }

    /// Shows the binders from this one on a module. True if one of them wants any of its references.
    fn show(&self, first: usize, found: ListedModule, when: When) -> bool {
        let looking = self.binders[first..].iter().filter(|binder| binder.looks_at(found.path()));
        let looking: Vec<_> = looking.copied().collect();
        let Some(module) = (!looking.is_empty()).then(|| found.hold()).flatten() else { return false };
        let mut any = false;
        for binder in looking {
            let references = module.references(|name| binder.wants(name));
            if !references.is_empty() {
                any = true;
                binder.bind(&module, &references, when == When::Later);
            }
        }
        any
    }
}
