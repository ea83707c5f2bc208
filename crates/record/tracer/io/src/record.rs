//! One call on a file on its way through the tracer: whose it is, on what, and what it moved.

use crate::descriptors::{self, File};
use crate::errno;
use crate::hooks::{Act, Hook, Items, Real, Text, TextLength};
use crate::stream::{self, Buffered};
use kizami_tracer_mpi::outside::{self, Moved, OutsideCall};
use std::ffi::{CStr, c_char};

/// The arguments of a function as they travel; it may have fewer.
#[derive(Clone, Copy)]
pub struct Arguments(pub [usize; 5]);

/// What is known of a call before it is made.
struct Subject {
    file: Option<File>,
    /// Of a stream, what its buffer held.
    buffered: Buffered,
}

/// Makes a call, and records it if it is the program's own, on a file.
///
/// # Safety
/// `real` is the function of this hook, `arguments` are what the program gave it, and `frame` points to the return address
/// of the call.
#[inline]
pub unsafe fn around(hook: &'static Hook, real: Real, arguments: Arguments, frame: *const usize) -> usize {
    let Arguments([a, b, c, d, e]) = arguments;
    // What is closed or replaced is another file from now on.
    match hook.act {
        Act::Replace => descriptors::forget(b as i32),
        Act::Close if !outside::is_outside(frame) => descriptors::forget(a as i32),
        _ => {}
    }
    if hook.act == Act::Replace || !outside::is_outside(frame) {
        // SAFETY: what the program called.
        return unsafe { real(a, b, c, d, e) };
    }
    let before = errno::get();
    // SAFETY: the caller's promises.
    let subject = unsafe { hook.act.subject(arguments) };
    errno::set(before);
    let Some(subject) = subject else {
        // SAFETY: what the program called.
        return unsafe { real(a, b, c, d, e) };
    };
    // SAFETY: the frame is the caller's promise.
    let Some(mut call) = (unsafe { OutsideCall::enter(hook.op(), hook.act.shape(), frame) }) else {
        // SAFETY: what the program called.
        return unsafe { real(a, b, c, d, e) };
    };
    // SAFETY: what the program called.
    let result = unsafe { real(a, b, c, d, e) };
    let after = errno::get();
    call.leave(hook.act.failed(result));
    // SAFETY: the caller's promises, and what the function gave.
    match unsafe { hook.act.moved(arguments, result, &subject) } {
        Some(moved) => call.finish(moved),
        None => call.forget(),
    }
    errno::set(after);
    result
}

impl Act {
    /// What is to be known before the call; `None` if it is not to be recorded.
    ///
    /// # Safety
    /// The arguments are those of a function that does this.
    #[inline]
    unsafe fn subject(self, arguments: Arguments) -> Option<Subject> {
        let Arguments(words) = arguments;
        let nothing = Subject { file: None, buffered: Buffered::default() };
        match self {
            // Only their result shows it.
            Act::Open { .. } => Some(nothing),
            Act::OpenStream { before } => {
                if let Some(before) = before {
                    // SAFETY: the program gives an open stream.
                    descriptors::forget(unsafe { stream::descriptor(words[before]) });
                }
                Some(nothing)
            }
            Act::Replace => None,
            Act::Read | Act::Write | Act::Sync => Some(Subject { file: Some(on_file(words[0])?), ..nothing }),
            Act::Close => {
                let file = on_file(words[0]);
                descriptors::forget(words[0] as i32);
                Some(Subject { file: Some(file?), ..nothing })
            }
            // All streams there are.
            Act::FlushStream if words[0] == 0 => Some(nothing),
            // SAFETY: the program gives an open stream, as for the others.
            Act::FlushStream => unsafe { of_stream(words[0], |buffered| buffered.to_write > 0) },
            Act::CloseStream => {
                // SAFETY: as above.
                let (subject, descriptor) =
                    unsafe { (of_stream(words[0], |_| true), stream::descriptor(words[0])) };
                descriptors::forget(descriptor);
                subject
            }
            Act::ReadStream(items) => {
                let bytes = items.bytes(words);
                // SAFETY: as above.
                unsafe { of_stream(words[items.stream], |buffered| bytes > buffered.to_read) }
            }
            Act::WriteStream(items) => {
                let bytes = items.bytes(words);
                // SAFETY: as above.
                unsafe { of_stream(words[items.stream], |buffered| bytes > buffered.room) }
            }
            Act::WriteText(text) => {
                // SAFETY: as above, with a C string if that is what it takes. How long a text is that is still to be
                // made, only the call itself finds out.
                unsafe {
                    let known = (text.length == TextLength::FirstArgument).then(|| text.bytes(words, 0));
                    of_stream(words[text.stream], |buffered| known.is_none_or(|bytes| bytes > buffered.room))
                }
            }
            // SAFETY: as above.
            Act::ReadText(text) => unsafe {
                of_stream(words[text.stream], |_| !stream::holds_line(words[text.stream]))
            },
        }
    }

    /// Whether its result means that it failed.
    #[inline]
    fn failed(self, result: usize) -> bool {
        match self {
            Act::Open { .. }
            | Act::Close
            | Act::Sync
            | Act::CloseStream
            | Act::FlushStream
            | Act::WriteText(_)
            | Act::Replace => (result as i32) < 0,
            Act::Read | Act::Write => (result as isize) < 0,
            Act::OpenStream { .. } => result == 0,
            // Less than what was asked for may be the end of the file.
            Act::ReadStream(_) | Act::WriteStream(_) | Act::ReadText(_) => false,
        }
    }

    /// What the call moved; `None` if it was on no file after all, or did not come to it.
    ///
    /// # Safety
    /// The arguments are those of a function that does this, and `result` is what it gave.
    #[inline]
    unsafe fn moved(self, arguments: Arguments, result: usize, subject: &Subject) -> Option<Moved> {
        let Arguments(words) = arguments;
        let file = subject.file.map_or(0, |file| file.number);
        let moved = Moved { file, ..Moved::default() };
        let bytes = (result as isize).max(0) as u64;
        // SAFETY: a stream that was given to a function which leaves it open.
        let buffered = |stream: usize| unsafe { Buffered::of(words[stream]) };
        let before = subject.buffered;
        Some(match self {
            Act::Open { .. } | Act::OpenStream { .. } if self.failed(result) => moved,
            Act::Open { path } => {
                // SAFETY: the function took the path, so it was one.
                let name = unsafe { absolute_path(words, path) };
                Moved { file: descriptors::opened(result as i32, name)?.number, ..moved }
            }
            Act::OpenStream { .. } => {
                // SAFETY: as above, and it gave an open stream.
                let (name, descriptor) = unsafe { (absolute_path(words, 0), stream::descriptor(result)) };
                Moved { file: descriptors::opened(descriptor, name)?.number, ..moved }
            }
            Act::Close | Act::Sync | Act::Replace => moved,
            Act::Read => Moved { bytes_in: bytes, ..moved },
            Act::Write => Moved { bytes_out: bytes, ..moved },
            Act::CloseStream => Moved { bytes_out: before.to_write, ..moved },
            Act::FlushStream if words[0] == 0 => moved,
            Act::FlushStream => Moved { bytes_out: before.written(0, buffered(0)), ..moved },
            Act::ReadStream(items) => {
                let bytes_in = before.read(items.bytes_of(words, result), buffered(items.stream));
                (bytes_in > 0).then_some(Moved { bytes_in, ..moved })?
            }
            Act::WriteStream(items) => {
                let bytes_out = before.written(items.bytes_of(words, result), buffered(items.stream));
                (bytes_out > 0).then_some(Moved { bytes_out, ..moved })?
            }
            Act::ReadText(text) => {
                // SAFETY: the text was read by this call.
                let length = unsafe { text.bytes(words, result) };
                let bytes_in = before.read(length, buffered(text.stream));
                (bytes_in > 0).then_some(Moved { bytes_in, ..moved })?
            }
            Act::WriteText(text) => {
                // SAFETY: the text was written by this call.
                let length = unsafe { text.bytes(words, result) };
                let bytes_out = before.written(length, buffered(text.stream));
                (bytes_out > 0).then_some(Moved { bytes_out, ..moved })?
            }
        })
    }
}

impl Items {
    /// Bytes that were asked for.
    fn bytes(self, words: [usize; 5]) -> u64 {
        self.bytes_of(words, words[self.count])
    }

    /// Bytes of so many items.
    fn bytes_of(self, words: [usize; 5], count: usize) -> u64 {
        (words[self.size] as u64).saturating_mul(count as u64)
    }
}

impl Text {
    /// How long the text was.
    ///
    /// # Safety
    /// It follows from the arguments of the call, or from its result.
    unsafe fn bytes(self, words: [usize; 5], result: usize) -> u64 {
        let length = |string: usize| match string {
            0 => 0,
            // SAFETY: the caller's promise: a C string.
            string => unsafe { libc::strlen(string as *const c_char) as u64 },
        };
        match self.length {
            TextLength::Result => (result as i32).max(0) as u64,
            TextLength::FirstArgument => length(words[0]),
            TextLength::ResultString => length(result),
        }
    }
}

fn on_file(descriptor: usize) -> Option<File> {
    descriptors::file(descriptor as i32)
}

/// The path that a file was opened with, if it does not depend on a folder's descriptor.
///
/// # Safety
/// The argument is a C string or null.
unsafe fn absolute_path<'a>(words: [usize; 5], path: usize) -> Option<&'a CStr> {
    if words[path] == 0 {
        return None;
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(words[path] as *const c_char) };
    let tells = path == 0 || words[0] as i32 == libc::AT_FDCWD || name.to_bytes().starts_with(b"/");
    tells.then_some(name)
}

/// What is known of a stream, if it is of a file and the call will do more than look into its buffer.
///
/// # Safety
/// The address is that of an open stream.
#[inline]
unsafe fn of_stream(stream: usize, does_more: impl FnOnce(Buffered) -> bool) -> Option<Subject> {
    // SAFETY: the caller's promise.
    let buffered = unsafe { Buffered::of(stream) };
    if !does_more(buffered) {
        return None;
    }
    // SAFETY: as above.
    let file = descriptors::file(unsafe { stream::descriptor(stream) })?;
    Some(Subject { file: Some(file), buffered })
}
