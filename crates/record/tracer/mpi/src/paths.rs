//! Call paths: from where a call is made, and how the program came there, to the number of a call site.
//!
//! The same place reached by another path is another call site. At a place that is known, with the same stack and frame
//! pointer, the words of the stack that led to its frames are compared with what the stack holds now; if they are the same,
//! so is the path. Paths that were met at the same place are told apart by the words in which they differ. Otherwise the
//! frames are found anew. Only a path that is met for the first time is looked up among the modules, and defined.
//!
//! Where the functions of an interpreter would follow, the functions of the script stand instead, which are found anew each
//! time.
//!
//! It promises to allocate nothing and lock nothing for a path that was met before. A thread remembers [`MOST_WORDS`] words
//! and finds again what it forgets; a process numbers [`MOST_SITES`] call sites and [`MOST_FRAMES`] frames by their paths,
//! and further ones by their address only.

use crate::cancellation::Uncancelled;
use crate::frames::python::{self, Python, ScriptFrame};
use crate::frames::{Standpoint, Walker, Word, boxed, with_room};
use crate::process::{self, Process};
use crate::stream::lock;
use crate::{modules, sites, stack};
use kizami_records::{Definition, NO_SITE};
use kizami_segment::headroom;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, Mutex};

/// Nodes of the trees of a thread.
const NODES: usize = 1024;
/// A node lies at most so far behind where its key belongs.
const PROBES: usize = 4;
const MOST_WORDS: usize = 8192;
/// Memory that a thread needs for its paths, as far as it does not grow with them.
const BYTES: usize = NODES * size_of::<Node>() + MOST_WORDS * size_of::<Word>() + (64 << 10);
const MOST_SITES: usize = 60_000;
const MOST_FRAMES: usize = 1 << 20;
/// Paths a thread knows the numbers of, before it asks for them anew.
const MOST_KNOWN: usize = 1 << 18;
/// No caller is known.
const NO_CALLER: u32 = 0;

/// The paths a thread used last, as a tree for each place on the stack from which calls are made: at each fork the value of
/// one word of the stack decides, and at the end all words are compared.
pub struct Paths {
    nodes: Box<[Node; NODES]>,
    /// What the ends depend on.
    words: Vec<Word>,
    walker: Walker,
    /// The interpreter, in whose place its script is shown.
    python: Option<Python>,
    /// Call sites by a hash of all return addresses, and of the instructions of a script.
    numbers: HashMap<u64, u32>,
    /// The stack on which the thread was last, if that is not its own.
    other_stack: Range<usize>,
}

/// A fork, or an end. One line of the processor's cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Node {
    /// Of a root: the return address, and where it lies. Of others: the number of the fork above, counted from 1, and the
    /// value that its word has. Two zeros where there is no node.
    key: [usize; 2],
    /// Address of the word that decides; 0 at an end.
    fork: usize,
    /// The frame pointer with which the walk began, and all ones if it matters.
    frame_pointer: usize,
    mask: usize,
    /// Hash of all return addresses.
    path: u64,
    first_word: u32,
    words: u32,
    /// The call site, if no script has a part in it.
    site: u32,
}

impl Node {
    const NONE: Node =
        Node { key: [0; 2], fork: 0, frame_pointer: 0, mask: 0, path: 0, first_word: 0, words: 0, site: 0 };
}

impl Paths {
    /// None of any, and nothing where too little memory is left.
    pub fn new() -> Option<Paths> {
        headroom::leaves_enough(BYTES).then_some(())?;
        Some(Paths {
            nodes: boxed(Node::NONE)?,
            words: with_room(MOST_WORDS)?,
            walker: Walker::new()?,
            python: Python::of_process(),
            numbers: HashMap::new(),
            other_stack: 0..0,
        })
    }

    /// Number of the call site of the call that is being made from there. `own_stack` is the thread's.
    #[inline(never)]
    pub fn number(&mut self, from: Standpoint, own_stack: &Range<usize>) -> u32 {
        // SAFETY: the stub noted where the return address of this very call lies.
        let address = unsafe { *(from.frame as *const usize) };
        match self.end([address, from.frame]) {
            Some(end) if self.is_same(end, from) => match self.python {
                None => end.site,
                Some(python) => self.behind_script(python, end.path, address, from, own_stack),
            },
            _ => self.find(address, from, own_stack),
        }
    }

    /// The end to which the tree with this root leads.
    #[inline(always)]
    fn end(&self, root: [usize; 2]) -> Option<&Node> {
        let mut index = self.position(root)?;
        loop {
            let node = &self.nodes[index];
            if node.fork == 0 {
                return Some(node);
            }
            // SAFETY: words that are remembered lie on the thread's own stack, above the frame it is in again.
            let value = unsafe { *(node.fork as *const usize) };
            index = self.position([index + 1, value])?;
        }
    }

    #[inline(always)]
    fn position(&self, key: [usize; 2]) -> Option<usize> {
        (0..PROBES).map(|probe| (belongs(key) + probe) % NODES).find(|index| self.nodes[*index].key == key)
    }

    /// Whether the stack is as it was when the end was found.
    #[inline(always)]
    fn is_same(&self, end: &Node, from: Standpoint) -> bool {
        let pointers = (end.frame_pointer ^ from.frame_pointer) & end.mask;
        let first = end.first_word as usize;
        // SAFETY: as above. All are compared at once, which is less work than to stop at the first that differs.
        let differ = |differ: usize, word: &Word| differ | unsafe { word.difference() };
        self.words
            .get(first..first + end.words as usize)
            .is_some_and(|words| words.iter().fold(pointers, differ) == 0)
    }

    /// Number of the call site at the end of a native path with this hash, in a script that calls it.
    #[inline(never)]
    fn behind_script(
        &mut self,
        python: Python,
        native: u64,
        address: usize,
        from: Standpoint,
        own_stack: &Range<usize>,
    ) -> u32 {
        let key = hash(native, python.frames().map(|frame| frame.instruction));
        if let Some(site) = self.numbers.get(&key) {
            return *site;
        }
        self.walk(from, own_stack);
        let _uncancelled = Uncancelled::new();
        let Some(mut script) = with_room(python::MOST) else { return NO_SITE };
        script.extend(python.frames());
        let site = number_of(self.walker.addresses(), address, &script);
        self.learn(key, site);
        site
    }

    fn learn(&mut self, key: u64, site: u32) {
        if self.numbers.len() == MOST_KNOWN {
            self.numbers.clear();
        }
        // Where there is no memory left, the frames are looked up again.
        if self.numbers.try_reserve(1).is_ok() {
            self.numbers.insert(key, site);
        }
    }

    /// Finds the frames; says whether they are on the thread's own stack.
    fn walk(&mut self, from: Standpoint, own_stack: &Range<usize>) -> bool {
        let is_own = own_stack.contains(&from.frame);
        let stack = if is_own {
            own_stack.clone()
        } else {
            if !self.other_stack.contains(&from.frame) {
                let _uncancelled = Uncancelled::new();
                self.other_stack = stack::around(from.frame);
            }
            self.other_stack.clone()
        };
        // SAFETY: a mapped stack on which the thread is.
        unsafe { self.walker.walk(from, stack) };
        is_own
    }

    #[cold]
    #[inline(never)]
    fn find(&mut self, address: usize, from: Standpoint, own_stack: &Range<usize>) -> u32 {
        let is_own = self.walk(from, own_stack);
        let path = hash(0, self.walker.addresses().iter().copied());
        let site = match (self.python, self.numbers.get(&path)) {
            (Some(_), _) => NO_SITE,
            (None, Some(site)) => *site,
            (None, None) => {
                let site = number_of(self.walker.addresses(), address, &[]);
                self.learn(path, site);
                site
            }
        };
        // Another stack may be given back, and something else be there the next time.
        if is_own {
            self.remember(address, from, path, site);
        }
        match self.python {
            None => site,
            Some(python) => self.behind_script(python, path, address, from, own_stack),
        }
    }

    fn remember(&mut self, address: usize, from: Standpoint, path: u64, site: u32) {
        let words = self.walker.words();
        if self.words.len() + words.len() > MOST_WORDS {
            self.forget();
        }
        let words = self.walker.words();
        let first_word = self.words.len();
        self.words.extend_from_slice(words);
        let root = [address, from.frame];
        let end = Node {
            key: root,
            fork: 0,
            frame_pointer: from.frame_pointer,
            mask: if self.walker.needs_frame_pointer() { usize::MAX } else { 0 },
            path,
            first_word: first_word as u32,
            words: self.words.len() as u32 - first_word as u32,
            site,
        };
        if !self.add(root, end) {
            // There is no room: what is needed will be remembered again.
            self.forget();
        }
    }

    /// Puts an end where its tree leads to. A path that ends there already is told apart by the first word that differs.
    fn add(&mut self, root: [usize; 2], end: Node) -> bool {
        let mut key = root;
        loop {
            let Some(index) = self.position(key) else { return self.put(Node { key, ..end }) };
            let other = self.nodes[index];
            let fork = match other.fork {
                0 => {
                    let mut pairs = self.words_of(&other).iter().zip(self.words_of(&end));
                    let found = pairs.find(|(old, new)| old.value != new.value || old.at != new.at);
                    match found.filter(|(old, new)| old.at == new.at).map(|(old, new)| (*old, *new)) {
                        // Only the frame pointer differs.
                        None => {
                            self.nodes[index] = Node { key, ..end };
                            return true;
                        }
                        Some((old, new)) => {
                            self.nodes[index].fork = new.at;
                            if !self.put(Node { key: [index + 1, old.value], ..other }) {
                                return false;
                            }
                            new.at
                        }
                    }
                }
                fork => fork,
            };
            let word = self.words_of(&end).iter().find(|word| word.at == fork);
            let Some(word) = word else { return false };
            key = [index + 1, word.value];
        }
    }

    fn put(&mut self, node: Node) -> bool {
        let mut places = (0..PROBES).map(|probe| (belongs(node.key) + probe) % NODES);
        match places.find(|index| self.nodes[*index].key == Node::NONE.key) {
            Some(index) => {
                self.nodes[index] = node;
                true
            }
            None => false,
        }
    }

    fn words_of(&self, end: &Node) -> &[Word] {
        &self.words[end.first_word as usize..][..end.words as usize]
    }

    fn forget(&mut self) {
        self.words.clear();
        self.nodes.fill(Node::NONE);
    }
}

/// Where a node with this key lies, if there is room.
fn belongs(key: [usize; 2]) -> usize {
    let mixed = (key[0].rotate_left(20) ^ key[1]).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed >> (usize::BITS - NODES.ilog2())
}

fn hash(begin: u64, addresses: impl Iterator<Item = usize>) -> u64 {
    addresses.fold(begin, |hash, address| {
        let mixed = (hash.rotate_left(5) ^ address as u64).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        mixed ^ mixed >> 32
    })
}

/// Frames and call sites of this process that have a caller, by their return address and the caller's number.
static FRAMES: LazyLock<Mutex<HashMap<(usize, u32), u32>>> = LazyLock::new(Mutex::default);

/// Number of the call site at the end of a path, whose frames are given innermost first, as are those of a script.
#[cold]
fn number_of(path: &[usize], address: usize, script: &[ScriptFrame]) -> u32 {
    let _uncancelled = Uncancelled::new();
    let Some(process) = process::existing() else { return NO_SITE };
    let part = |address: &usize| modules::place(process, *address);
    // Language bindings call on behalf of the program.
    let is_program = |address: &usize| part(address).is_none_or(|place| !place.belongs_to_mpi);
    let begin = path.iter().position(is_program).unwrap_or(0);
    let Some((innermost, callers)) = path.get(begin..).and_then(<[usize]>::split_first) else {
        return sites::program_site(address).unwrap_or(NO_SITE);
    };
    let is_interpreter = |address: &usize| part(address).is_some_and(|place| place.is_interpreter);
    let (native, outer) = match callers.iter().position(is_interpreter).filter(|_| !script.is_empty()) {
        Some(interpreter) => {
            let frames = script.iter().rev();
            (
                &callers[..interpreter],
                frames.fold(NO_CALLER, |caller, frame| script_frame(process, *frame, caller)),
            )
        }
        None => (
            without_start(callers, |address| part(address).is_some_and(|place| place.is_c_library)),
            NO_CALLER,
        ),
    };
    let caller = native.iter().rev().fold(outer, |caller, address| frame(process, *address, caller));
    sites::numbered(*innermost, caller).unwrap_or(NO_SITE)
}

/// Frames of the program: what starts a program or thread, in the C library and before it, is left out.
fn without_start(frames: &[usize], is_c_library: impl Fn(&usize) -> bool) -> &[usize] {
    let outermost = match frames {
        // The program's own start calls the library.
        [inner @ .., before, _] if is_c_library(before) => inner.len() + 1,
        _ => frames.len(),
    };
    let program = frames[..outermost].iter().rposition(|address| !is_c_library(address));
    &frames[..program.map_or(0, |last| last + 1)]
}

fn frame(process: &Process, address: usize, caller: u32) -> u32 {
    numbered(process, address, caller, |local| {
        let module = modules::place(process, address).map_or(0, |place| place.module);
        Definition::Frame { local, address: address as u64, module, caller }
    })
}

fn script_frame(process: &Process, frame: ScriptFrame, caller: u32) -> u32 {
    numbered(process, frame.instruction, caller, |local| {
        let place = frame.place();
        Definition::ScriptFrame {
            local,
            function: place.function,
            file: place.file,
            line: place.line,
            caller,
        }
    })
}

/// Number of a frame by its address and caller, which is defined when it is met for the first time.
fn numbered(process: &Process, address: usize, caller: u32, define: impl FnOnce(u32) -> Definition) -> u32 {
    let mut frames = lock(&FRAMES);
    let number = frames.len() as u32 + 1;
    if let Some(known) = frames.get(&(address, caller)) {
        return *known;
    }
    if frames.len() == MOST_FRAMES || frames.try_reserve(1).is_err() {
        return NO_CALLER;
    }
    process.define(&define(number));
    frames.insert((address, caller), number);
    number
}

/// Whether a process has numbered as many call sites by their paths as it may.
pub fn are_exhausted(sites: usize) -> bool {
    sites >= MOST_SITES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_starts_a_program_is_no_part_of_its_paths() {
        let is_c_library = |address: &usize| *address >= 100;
        assert_eq!(without_start(&[1, 2, 100, 101, 3], is_c_library), [1, 2]);
        assert_eq!(without_start(&[1, 100, 2, 100, 101], is_c_library), [1, 100, 2]);
        assert_eq!(without_start(&[1, 2, 3], is_c_library), [1, 2, 3]);
        assert_eq!(without_start(&[100, 101], is_c_library), [0; 0]);
        assert_eq!(without_start(&[1], is_c_library), [1]);
        assert_eq!(without_start(&[], is_c_library), [0; 0]);
    }

    #[test]
    fn paths_that_differ_have_other_hashes() {
        let hash = |addresses: &[usize]| hash(0, addresses.iter().copied());
        assert_ne!(hash(&[1, 2]), hash(&[2, 1]));
        assert_ne!(hash(&[1, 0]), hash(&[1]));
    }
}
