//! The one thing every stub looks at: whether calls on files are to be recorded.
//!
//! It lies on a page of its own that the kernel clears in a forked child, so that it is off there whichever way the child
//! was made: with `fork`, which is noticed, or with `_Fork` or `clone`, which do not.

use crate::hooks;
use kizami_tracer_core::settings;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU8, Ordering};

const PAGE: usize = 4096;

#[repr(C, align(4096))]
pub struct Switch {
    on: AtomicU8,
    rest: [AtomicU8; PAGE - 1],
}

pub static SWITCH: Switch = Switch { on: AtomicU8::new(0), rest: [const { AtomicU8::new(0) }; PAGE - 1] };

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

impl Switch {
    /// Whether they are.
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed) != 0
    }
}

extern "C" fn on_load() {
    hooks::find_those_with_lists();
    if std::env::var_os("KIZAMI_RAW").is_none() || !settings::get().io {
        return;
    }
    hooks::find_all();
    // Older kernels do not clear it: there children made by `fork` alone are distinguished.
    // SAFETY: the page of the switch, which lies alone on it.
    unsafe { libc::madvise((&raw const SWITCH).cast_mut().cast::<c_void>(), PAGE, libc::MADV_WIPEONFORK) };
    SWITCH.on.store(1, Ordering::Relaxed);
}
