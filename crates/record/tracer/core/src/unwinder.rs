//! The unwinder of the language libraries, as far as it is asked here: the stack, frame by frame.

use std::ffi::{c_int, c_void};

/// What a function that looks at frames returns to the unwinder: to go on to the next.
pub const GO_ON: c_int = 0;
/// The same: to stop.
pub const STOP: c_int = 4;

unsafe extern "C" {
    /// Shows `visit` each frame of the thread from the innermost out.
    pub fn _Unwind_Backtrace(
        visit: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    /// Where a frame goes on when what it has called returns.
    pub fn _Unwind_GetIP(context: *mut c_void) -> usize;
    /// The same, and whether it was interrupted there by a signal.
    pub fn _Unwind_GetIPInfo(context: *mut c_void, interrupted: *mut c_int) -> usize;
    /// The frame's stack pointer at that moment.
    pub fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}
