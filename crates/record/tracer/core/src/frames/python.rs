//! The frames of the Python functions a thread is in: a line of a script says more than the interpreter's own functions.
//!
//! CPython keeps them in a list that begins at the state of the thread and does not change while the thread is in a function
//! that is not Python's. It is read as it lies in memory, without the interpreter's lock, which is given up around most MPI
//! calls. That is understood for CPython 3.11 as it is built by default. Of other versions no Python frames are found, and
//! the native path is all there is.

use std::ffi::{CStr, c_char, c_void};

/// Python frames of a path, at most.
pub const MOST: usize = 128;

/// How `struct _ts`, `_PyCFrame`, `_PyInterpreterFrame`, `PyCodeObject` and strings lie in memory.
mod layout {
    pub const STATE_C_FRAME: usize = 56;
    pub const C_FRAME_CURRENT: usize = 8;
    pub const FRAME_CODE: usize = 32;
    pub const FRAME_PREVIOUS: usize = 48;
    pub const FRAME_INSTRUCTION: usize = 56;
    pub const CODE_FIRST_LINE: usize = 72;
    pub const CODE_FILE: usize = 112;
    pub const CODE_NAME: usize = 128;
    pub const CODE_LINES: usize = 136;
    pub const CODE_INSTRUCTIONS: usize = 184;
    pub const INSTRUCTION_BYTES: usize = 2;
    pub const OBJECT_LENGTH: usize = 16;
    pub const BYTES_CONTENT: usize = 32;
    pub const STRING_STATE: usize = 32;
    pub const STRING_CONTENT: usize = 48;
    /// Bits of a string's state: its content follows it, and is ASCII.
    pub const COMPACT_ASCII: u32 = 0x60;
}

/// The interpreter of this process.
#[derive(Clone, Copy)]
pub struct Python {
    this_thread: unsafe extern "C" fn() -> *const c_void,
}

/// A function of a script that is being executed, and at which instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptFrame {
    code: usize,
    /// Address of the instruction: another one for each call in each function.
    pub instruction: usize,
}

/// What a script says of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptPlace {
    /// The function, as Python qualifies it.
    pub function: String,
    /// The script.
    pub file: String,
    /// The line there.
    pub line: u32,
}

impl Python {
    /// The one in this process, if it is of a version that is understood.
    pub fn of_process() -> Option<Python> {
        type Version = unsafe extern "C" fn() -> *const c_char;
        type ThisThread = unsafe extern "C" fn() -> *const c_void;
        // SAFETY: functions of the interpreter's stable interface, which have these types in all versions.
        unsafe {
            let symbol = |name: &CStr| {
                let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
                (!found.is_null()).then_some(found)
            };
            let version = std::mem::transmute::<*mut c_void, Version>(symbol(c"Py_GetVersion")?);
            let this_thread =
                std::mem::transmute::<*mut c_void, ThisThread>(symbol(c"PyGILState_GetThisThreadState")?);
            let is_known = CStr::from_ptr(version()).to_bytes().starts_with(b"3.11.");
            is_known.then_some(Python { this_thread })
        }
    }

    /// The frames of the calling thread, innermost first; none if it is not the interpreter's.
    pub fn frames(self) -> impl Iterator<Item = ScriptFrame> {
        // SAFETY: asks for a thread-local value. What it points to is the thread's own and lies as said above.
        let first = unsafe {
            match (self.this_thread)() {
                state if state.is_null() => 0,
                state => match word(state as usize + layout::STATE_C_FRAME) {
                    0 => 0,
                    c_frame => word(c_frame + layout::C_FRAME_CURRENT),
                },
            }
        };
        let frames = std::iter::successors(Some(first), |frame| {
            // SAFETY: a frame of the list.
            Some(unsafe { word(*frame + layout::FRAME_PREVIOUS) })
        });
        frames.take_while(|frame| *frame != 0).take(MOST).map(|frame| {
            // SAFETY: as above.
            let field = |offset| unsafe { word(frame + offset) };
            ScriptFrame { code: field(layout::FRAME_CODE), instruction: field(layout::FRAME_INSTRUCTION) }
        })
    }
}

impl ScriptFrame {
    /// Where that is in the script. To be asked while the frame exists.
    pub fn place(self) -> ScriptPlace {
        // SAFETY: the code of a frame that exists, which keeps its names and lines.
        unsafe {
            let text = |offset| string(word(self.code + offset)).unwrap_or_else(|| "?".to_owned());
            let first_line = (word(self.code + layout::CODE_FIRST_LINE) & 0xFFFF_FFFF) as u32;
            let lines = word(self.code + layout::CODE_LINES);
            let table = std::slice::from_raw_parts(
                (lines + layout::BYTES_CONTENT) as *const u8,
                word(lines + layout::OBJECT_LENGTH),
            );
            let instructions = self.instruction.saturating_sub(self.code + layout::CODE_INSTRUCTIONS);
            let instruction = instructions / layout::INSTRUCTION_BYTES;
            ScriptPlace {
                function: text(layout::CODE_NAME),
                file: text(layout::CODE_FILE),
                line: line(table, first_line, instruction),
            }
        }
    }
}

/// # Safety
/// It must be the address of a word of the interpreter.
#[inline(always)]
unsafe fn word(address: usize) -> usize {
    // SAFETY: by contract. Not all fields are aligned as words are.
    unsafe { (address as *const usize).read_unaligned() }
}

/// The content of a string, if it is ASCII.
///
/// # Safety
/// It must be the address of a string of the interpreter.
unsafe fn string(address: usize) -> Option<String> {
    // SAFETY: by contract.
    unsafe {
        let state = (word(address + layout::STRING_STATE) & 0xFFFF_FFFF) as u32;
        if state & layout::COMPACT_ASCII != layout::COMPACT_ASCII {
            return None;
        }
        let content = (address + layout::STRING_CONTENT) as *const u8;
        let bytes = std::slice::from_raw_parts(content, word(address + layout::OBJECT_LENGTH));
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// The line of an instruction by the table of a function (`Objects/locations.md` of CPython).
fn line(table: &[u8], first_line: u32, instruction: usize) -> u32 {
    let mut bytes = table.iter().copied();
    let (mut line, mut behind) = (i64::from(first_line), 0);
    while let Some(head) = bytes.next() {
        let (code, instructions) = (head >> 3 & 15, usize::from(head & 7) + 1);
        match code {
            // Columns are of no interest.
            0..=9 => _ = bytes.next(),
            10..=12 => {
                line += i64::from(code) - 10;
                bytes.next();
                bytes.next();
            }
            13 => line += signed(number(&mut bytes)),
            14 => {
                line += signed(number(&mut bytes));
                (0..3).for_each(|_| _ = number(&mut bytes));
            }
            // No line at all.
            _ => {}
        }
        behind += instructions;
        if instruction < behind {
            break;
        }
    }
    u32::try_from(line).unwrap_or(first_line)
}

/// A number in pieces of six bits, the lowest first.
fn number(bytes: &mut impl Iterator<Item = u8>) -> i64 {
    let (mut value, mut shift) = (0, 0);
    for byte in bytes {
        value |= i64::from(byte & 63) << shift;
        shift = (shift + 6).min(56);
        if byte & 64 == 0 {
            break;
        }
    }
    value
}

/// A number whose lowest bit is its sign.
fn signed(value: i64) -> i64 {
    if value & 1 == 1 { -(value >> 1) } else { value >> 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_follow_the_table() {
        // Two instructions on the first line, one on the next, three that go back two lines, one without a line.
        let head = |code: u8, instructions: u8| 0x80 | code << 3 | (instructions - 1);
        let table = [head(0, 2), 0, head(11, 1), 1, 2, head(13, 3), 5, head(15, 1), head(14, 1), 2, 0, 1, 1];
        let lines: Vec<u32> = (0..8).map(|instruction| line(&table, 10, instruction)).collect();
        assert_eq!(lines, [10, 10, 11, 9, 9, 9, 9, 10]);
        assert_eq!(line(&[], 10, 3), 10);
    }
}
