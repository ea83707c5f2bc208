//! The frames of the functions a thread is in, from the call it makes to the outermost: which return addresses lie on its
//! stack, and where.
//!
//! Where the next return address lies follows from the one before: unwind tables say how large a frame is there, or that
//! its place is known by the frame pointer. These rules are looked up once for each return address and kept; following
//! them takes some nanoseconds a frame. A walk notes which words of the stack it has read: as long as the thread is at the
//! same place, and these words are the same, it would find the same frames again.
//!
//! It promises to read nothing but the stack it was given, and to allocate nothing where all rules are known. Frames beyond
//! [`MOST_FRAMES`], and those behind code that has neither tables nor frame pointers, are not found. A function that was
//! left by a tail call has no frame. For x86-64 Linux.
//!
//! Functions of scripts are another matter: see [`python`].

pub mod python;
mod rules;

use rules::{Base, Rule, SavedPointer};
use std::ops::Range;

/// Frames of a walk, at most.
pub const MOST_FRAMES: usize = 128;
/// Rules a thread keeps at hand.
const RULES_AT_HAND: usize = 512;
/// Bytes of a word of the stack.
const WORD: usize = size_of::<usize>();

/// A word of the stack that a walk depends on.
#[derive(Clone, Copy)]
pub struct Word {
    /// Its address.
    pub at: usize,
    /// What it held.
    pub value: usize,
}

impl Word {
    /// Zero if it still holds that.
    ///
    /// # Safety
    /// Its place must still be a part of the calling thread's stack.
    #[inline(always)]
    pub unsafe fn difference(self) -> usize {
        // SAFETY: by contract.
        unsafe { *(self.at as *const usize) ^ self.value }
    }
}

/// Where a thread stands: what the frames are found from.
#[derive(Clone, Copy)]
pub struct Standpoint {
    /// Where the return address of the innermost call lies.
    pub frame: usize,
    /// The frame pointer at that moment.
    pub frame_pointer: usize,
}

/// What walks of one thread need and find.
pub struct Walker {
    at_hand: Box<[(usize, Rule); RULES_AT_HAND]>,
    addresses: Vec<usize>,
    words: Vec<Word>,
    needs_frame_pointer: bool,
}

impl Walker {
    /// One that has walked nowhere. None if there is no memory for it.
    pub fn new() -> Option<Walker> {
        Some(Walker {
            at_hand: boxed((0, Rule::END))?,
            addresses: with_room(MOST_FRAMES)?,
            words: with_room(2 * MOST_FRAMES + 2)?,
            needs_frame_pointer: false,
        })
    }

    /// Return addresses of the last walk, innermost first.
    pub fn addresses(&self) -> &[usize] {
        &self.addresses
    }

    /// What the last walk depends on, besides where it began.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Whether it depends on the frame pointer with which it began.
    pub fn needs_frame_pointer(&self) -> bool {
        self.needs_frame_pointer
    }

    /// Finds the frames of the calling thread from there on.
    ///
    /// # Safety
    /// `stack` must be readable from the place of the first return address to its end.
    pub unsafe fn walk(&mut self, from: Standpoint, stack: Range<usize>) {
        self.addresses.clear();
        self.words.clear();
        self.needs_frame_pointer = false;
        let read = |at: usize| {
            let lies_within =
                at >= from.frame && at < stack.end && stack.end - at >= WORD && at.is_multiple_of(WORD);
            // SAFETY: by contract.
            lies_within.then(|| Word { at, value: unsafe { *(at as *const usize) } })
        };
        let Some(first) = read(from.frame) else { return };
        let (mut address, mut stack_pointer) = (first.value, from.frame + WORD);
        let (mut frame_pointer, mut pointer) = (from.frame_pointer, Pointer::Entry);
        // Frames that were found without tables, and must lead to some that have them.
        let mut guessed = 0;
        while self.addresses.len() < MOST_FRAMES {
            let rule = self.rule(address);
            if rule.base == Base::End {
                self.addresses.push(address);
                guessed = 0;
                break;
            }
            self.addresses.push(address);
            guessed = if rule.is_guess { guessed + 1 } else { 0 };
            if matches!(rule.base, Base::FramePointer | Base::AtFramePointer)
                || rule.saved == SavedPointer::AtPointer
            {
                match std::mem::replace(&mut pointer, Pointer::Known) {
                    Pointer::Entry => self.needs_frame_pointer = true,
                    Pointer::Read(word) => self.words.push(word),
                    Pointer::Known => {}
                }
            }
            let shifted = |pointer: usize, offset: i32| pointer.wrapping_add_signed(offset as isize);
            let (cfa, return_address_at) = match rule.base {
                Base::StackPointer => {
                    let cfa = shifted(stack_pointer, rule.offset);
                    (cfa, cfa.wrapping_sub(WORD))
                }
                Base::FramePointer => {
                    let cfa = shifted(frame_pointer, rule.offset);
                    (cfa, cfa.wrapping_sub(WORD))
                }
                Base::AtFramePointer => {
                    let Some(word) = read(shifted(frame_pointer, rule.offset)) else { break };
                    self.words.push(word);
                    (word.value, word.value.wrapping_sub(WORD))
                }
                Base::Signal => {
                    let [stack_pointer_at, return_address_at] =
                        [rules::SIGNAL_STACK_POINTER, rules::SIGNAL_ADDRESS]
                            .map(|offset| stack_pointer + offset);
                    let Some(word) = read(stack_pointer_at) else { break };
                    self.words.push(word);
                    (word.value, return_address_at)
                }
                Base::End => break,
            };
            // Frames lie one above the other. Where they do not, the tables are wrong or this is another stack.
            if cfa <= stack_pointer {
                break;
            }
            let saved_at = match rule.saved {
                SavedPointer::Same => None,
                SavedPointer::InFrame => Some(shifted(cfa, rule.saved_offset)),
                SavedPointer::AtPointer => Some(shifted(frame_pointer, rule.saved_offset)),
                SavedPointer::AtSignal => Some(stack_pointer + rules::SIGNAL_FRAME_POINTER),
            };
            if let Some(at) = saved_at {
                let Some(word) = read(at) else { break };
                (frame_pointer, pointer) = (word.value, Pointer::Read(word));
            }
            let Some(word) = read(return_address_at) else { break };
            self.words.push(word);
            // An interrupted instruction was not called yet; all others are the one before the return address.
            address = if rule.base == Base::Signal { word.value.wrapping_add(1) } else { word.value };
            stack_pointer = cfa;
            if word.value == 0 {
                guessed = 0;
                break;
            }
        }
        // The innermost is where the call was made from, however little is known about it.
        let kept = (self.addresses.len() - guessed.min(self.addresses.len())).max(1);
        self.addresses.truncate(kept);
    }

    #[inline(always)]
    fn rule(&mut self, address: usize) -> Rule {
        let (known, rule) = &mut self.at_hand[(address ^ address >> 9) % RULES_AT_HAND];
        if *known != address {
            (*known, *rule) = (address, rules::of(address));
        }
        *rule
    }
}

/// A table on the heap that never lies on the stack, which may be smaller. None if there is no memory for it.
pub fn boxed<T: Copy, const N: usize>(element: T) -> Option<Box<[T; N]>> {
    let mut list = with_room(N)?;
    list.resize(N, element);
    // SAFETY: a list of N elements lies as an array of them does.
    Some(unsafe { Box::from_raw(Box::into_raw(list.into_boxed_slice()).cast()) })
}

/// A list with room for so many elements. None if there is no memory for it.
pub fn with_room<T>(elements: usize) -> Option<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(elements).ok()?;
    Some(list)
}

/// Where the frame pointer of a frame comes from, until something depends on it.
enum Pointer {
    /// It is the one the walk began with.
    Entry,
    /// It was read there.
    Read(Word),
    /// It was noted already.
    Known,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack;
    use crate::unwinder::{_Unwind_Backtrace, _Unwind_GetIP, GO_ON};
    use std::ffi::{c_int, c_void};
    use std::hint::black_box;

    /// Return addresses by our own walk, and by the unwinder of the language libraries.
    struct Found {
        own: Vec<usize>,
        theirs: Vec<usize>,
    }

    /// Calls [`walk_both`] as an exported function calls its body.
    #[unsafe(naked)]
    extern "C" fn from_here(_found: *mut Found) {
        core::arch::naked_asm!("mov rsi, rsp", "mov rdx, rbp", "jmp {body}", body = sym walk_both)
    }

    extern "C" fn walk_both(found: *mut Found, frame: usize, frame_pointer: usize) {
        extern "C" fn visit(context: *mut c_void, list: *mut c_void) -> c_int {
            // SAFETY: the unwinder passes a valid context, and `list` is the one below.
            unsafe { (*list.cast::<Vec<usize>>()).push(_Unwind_GetIP(context)) };
            GO_ON
        }
        let mut walker = Walker::new().unwrap();
        // SAFETY: the caller's list, the callback for it, and the thread's own stack.
        unsafe {
            _Unwind_Backtrace(visit, (&raw mut (*found).theirs).cast());
            walker.walk(Standpoint { frame, frame_pointer }, stack::own());
            (*found).own = walker.addresses().to_vec();
            assert!(walker.words().iter().all(|word| word.difference() == 0));
        }
    }

    #[test]
    fn the_unwinder_of_the_languages_finds_the_same() {
        #[inline(never)]
        fn deeper(depth: usize, found: &mut Found) -> usize {
            match depth {
                0 => from_here(found),
                _ => drop(black_box(deeper(black_box(depth - 1), found))),
            }
            black_box(depth)
        }
        let mut found = Found { own: Vec::new(), theirs: Vec::new() };
        deeper(20, &mut found);
        let theirs = found.theirs.split(|address| *address == 0).next().unwrap_or_default();
        assert!(found.own.len() > 20 && theirs.ends_with(&found.own), "{:x?} {theirs:x?}", found.own);
    }

    #[test]
    fn what_lies_beyond_the_stack_is_not_read() {
        let mut walker = Walker::new().unwrap();
        let words = [walk_both as *const () as usize + 1, 0];
        let frame = words.as_ptr() as usize;
        // SAFETY: the two words are there.
        unsafe { walker.walk(Standpoint { frame, frame_pointer: 1 }, frame..frame + 2 * WORD) };
        assert_eq!(walker.addresses().len(), 1);
        // SAFETY: nothing is to be read.
        unsafe { walker.walk(Standpoint { frame, frame_pointer: 1 }, 0..0) };
        assert!(walker.addresses().is_empty());
    }
}
