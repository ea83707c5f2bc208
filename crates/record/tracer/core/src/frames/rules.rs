//! How to get from a function to the one that called it: a rule for each return address, as the unwind tables of what is
//! loaded have it (`.eh_frame`).
//!
//! What compilers write is understood: frames at a distance from the stack or frame pointer, frames that were aligned, and
//! the kernel's frame of a signal. Anything else ends the walk. Code without tables is taken to keep frame pointers.

use crate::loader::objects;
use crate::stream::lock;
use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, Encoding, EndianSlice, Format, NativeEndian, Operation,
    Pointer, RegisterRule, UnwindContext, UnwindContextStorage, UnwindExpression, UnwindSection,
    UnwindTableRow, X86_64,
};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ops::{ControlFlow, Range};
use std::sync::{LazyLock, Mutex, OnceLock};

/// Bytes above the frame of a signal's handler where the interrupted function's registers lie, as the kernel puts them.
pub(super) const SIGNAL_FRAME_POINTER: usize = 120;
pub(super) const SIGNAL_STACK_POINTER: usize = 160;
pub(super) const SIGNAL_ADDRESS: usize = 168;

/// Where the frame above begins (its canonical frame address), and where the frame pointer is that belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub base: Base,
    pub saved: SavedPointer,
    /// There is no table: it is a guess.
    pub is_guess: bool,
    pub offset: i32,
    pub saved_offset: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// So far above the stack pointer.
    StackPointer,
    /// So far above the frame pointer.
    FramePointer,
    /// That lies so far above the frame pointer.
    AtFramePointer,
    /// A signal has interrupted the function above.
    Signal,
    /// There is no frame above, or it cannot be found.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SavedPointer {
    /// It has not been changed.
    Same,
    /// So far from where the frame above begins.
    InFrame,
    /// So far from where it points to.
    AtPointer,
    /// With the other registers that a signal has interrupted.
    AtSignal,
}

impl Rule {
    pub(super) const END: Rule =
        Rule { base: Base::End, saved: SavedPointer::Same, is_guess: false, offset: 0, saved_offset: 0 };
    const SIGNAL: Rule = Rule { base: Base::Signal, saved: SavedPointer::AtSignal, ..Rule::END };
    const GUESS: Rule = Rule {
        base: Base::FramePointer,
        saved: SavedPointer::InFrame,
        is_guess: true,
        offset: 16,
        saved_offset: -16,
    };
}

/// Rows of tables for the registers there are: a stack of 16 KiB has room for them.
struct SmallRows;

impl UnwindContextStorage<usize> for SmallRows {
    type Rules = [(gimli::Register, RegisterRule<usize>); 20];
    type Stack = [UnwindTableRow<usize, SmallRows>; 4];
}

type Reader = EndianSlice<'static, NativeEndian>;

/// The rule of the call that returns to an address.
#[cold]
pub(super) fn of(return_address: usize) -> Rule {
    static KNOWN: LazyLock<Mutex<HashMap<usize, Rule>>> = LazyLock::new(Mutex::default);
    let mut known = lock(&KNOWN);
    if let Some(rule) = known.get(&return_address) {
        return *rule;
    }
    let rule = look_up(return_address);
    // Where there is no memory left, it is looked up again the next time.
    if known.try_reserve(1).is_ok() {
        known.insert(return_address, rule);
    }
    rule
}

fn look_up(return_address: usize) -> Rule {
    // The call is the instruction before the one it returns to.
    let Some(address) = return_address.checked_sub(1) else { return Rule::END };
    match tables(address) {
        Some(tables) => in_tables(&tables, address).unwrap_or(Rule::GUESS),
        None => Rule::GUESS,
    }
}

/// Where the unwind tables of an object begin, and where the object ends.
type Tables = Range<usize>;

/// Those of the object that holds an address.
fn tables(address: usize) -> Option<Tables> {
    /// glibc's `struct dl_find_object`, with room to spare.
    #[repr(C)]
    struct Found {
        flags: u64,
        start: usize,
        end: usize,
        link_map: *const c_void,
        tables: usize,
        reserved: [u64; 16],
    }
    type Find = unsafe extern "C" fn(*const c_void, *mut Found) -> c_int;
    static FIND: OnceLock<Option<Find>> = OnceLock::new();
    let find = FIND.get_or_init(|| {
        // SAFETY: the function has this type wherever it exists (glibc 2.35).
        unsafe {
            let symbol = libc::dlsym(libc::RTLD_DEFAULT, c"_dl_find_object".as_ptr());
            (!symbol.is_null()).then(|| std::mem::transmute::<*mut c_void, Find>(symbol))
        }
    });
    let found = find.and_then(|find| {
        // SAFETY: all zeros is a valid value, which is filled in.
        unsafe {
            let mut found: Found = std::mem::zeroed();
            (find(address as *const c_void, &raw mut found) == 0).then_some(found.tables..found.end)
        }
    });
    match found {
        Some(tables) if tables.start == 0 => None,
        // Of an object with holes between its segments the function knows the end of one segment only.
        Some(tables) if tables.start < tables.end => Some(tables),
        _ => tables_by_headers(address),
    }
}

#[cold]
fn tables_by_headers(address: usize) -> Option<Tables> {
    objects::find(|object| {
        if !object.holds(address) {
            return ControlFlow::Continue(());
        }
        let begin = object.segments(libc::PT_GNU_EH_FRAME).next().map(|header| object.range(header).start);
        let end = object
            .segments(libc::PT_LOAD)
            .map(|header| object.range(header))
            .find_map(|segment| begin.filter(|begin| segment.contains(begin)).map(|_| segment.end));
        ControlFlow::Break(begin.zip(end).map(|(begin, end)| begin..end))
    })
    .flatten()
}

fn in_tables(tables: &Tables, address: usize) -> Option<Rule> {
    // SAFETY: tables are mapped as long as their object is, which holds a function that is being called. Nothing of them is
    // kept.
    let slice = |from: usize| unsafe {
        std::slice::from_raw_parts(from as *const u8, tables.end.saturating_sub(from))
    };
    let bases = BaseAddresses::default().set_eh_frame_hdr(tables.start as u64);
    let header = EhFrameHdr::new(slice(tables.start), NativeEndian).parse(&bases, 8).ok()?;
    let begin = match header.eh_frame_ptr() {
        Pointer::Direct(begin) => begin as usize,
        Pointer::Indirect(_) => return None,
    };
    if begin >= tables.end {
        return None;
    }
    let bases = bases.set_eh_frame(begin as u64);
    let frames: EhFrame<Reader> = EhFrame::new(slice(begin), NativeEndian);
    let table = header.table()?;
    let function_at =
        |at: usize| table.fde_for_address(&frames, &bases, at as u64, EhFrame::cie_from_offset).ok();
    // What starts on a stack of its own (`makecontext`) returns to where nothing was called from.
    let is_begin =
        |at: usize| function_at(at).is_some_and(|function| function.initial_address() == at as u64);
    if is_begin(address + 1) && !follows_call(address + 1) {
        return Some(Rule::END);
    }
    let function = function_at(address)?;
    if function.is_signal_trampoline() {
        return Some(Rule::SIGNAL);
    }
    let mut context = UnwindContext::<usize, SmallRows>::new_in();
    let row = function.unwind_info_for_address(&frames, &bases, &mut context, address as u64).ok()?;
    let expression = |expression: &UnwindExpression<usize>| simple(expression, &frames);
    let end = Some(Rule::END);
    let (base, offset) = match row.cfa() {
        CfaRule::RegisterAndOffset { register: X86_64::RSP, offset } => (Base::StackPointer, *offset),
        CfaRule::RegisterAndOffset { register: X86_64::RBP, offset } => (Base::FramePointer, *offset),
        CfaRule::Expression(written) => match expression(written) {
            Some((X86_64::RBP, offset, true)) => (Base::AtFramePointer, offset),
            Some((X86_64::RBP, offset, false)) => (Base::FramePointer, offset),
            Some((X86_64::RSP, offset, false)) => (Base::StackPointer, offset),
            _ => return end,
        },
        CfaRule::RegisterAndOffset { .. } => return end,
    };
    match row.register(X86_64::RA) {
        Some(RegisterRule::Offset(-8)) => {}
        _ => return end,
    }
    let (saved, saved_offset) = match row.register(X86_64::RBP) {
        None | Some(RegisterRule::SameValue | RegisterRule::Undefined) => (SavedPointer::Same, 0),
        Some(RegisterRule::Offset(offset)) => (SavedPointer::InFrame, offset),
        Some(RegisterRule::Expression(written)) => match expression(&written) {
            Some((X86_64::RBP, offset, false)) => (SavedPointer::AtPointer, offset),
            _ => return end,
        },
        Some(_) => return end,
    };
    let (offset, saved_offset) = (i32::try_from(offset).ok()?, i32::try_from(saved_offset).ok()?);
    Some(Rule { base, saved, is_guess: false, offset, saved_offset })
}

/// Whether the instruction before an address may be a call: `call` by a distance, a register or memory.
fn follows_call(return_address: usize) -> bool {
    const LONGEST: usize = 7;
    // SAFETY: a function lies there, and its object's other parts before it.
    let code = unsafe { *((return_address - LONGEST) as *const [u8; LONGEST]) };
    let is_indirect =
        |bytes: usize| matches!(code[LONGEST - bytes..], [0xFF, modrm, ..] if modrm >> 3 & 7 == 2);
    code[LONGEST - 5] == 0xE8 || [2, 3, 4, 6, 7].into_iter().any(is_indirect)
}

/// An expression that adds an offset to a register, and may read what lies there.
fn simple(
    expression: &UnwindExpression<usize>,
    frames: &EhFrame<Reader>,
) -> Option<(gimli::Register, i64, bool)> {
    let encoding = Encoding { address_size: 8, format: Format::Dwarf32, version: 4 };
    let mut operations = expression.get(frames).ok()?.operations(encoding);
    let Some(Operation::RegisterOffset { register, offset, .. }) = operations.next().ok()? else {
        return None;
    };
    let reads = match operations.next().ok()? {
        None => return Some((register, offset, false)),
        Some(Operation::Deref { size: 8, .. }) => true,
        Some(_) => return None,
    };
    operations.next().ok()?.is_none().then_some((register, offset, reads))
}
