//! The stack of a thread: where it lies, and whether the thread is on it.

use std::ops::Range;

/// The stack of this thread, empty if it is not known.
pub fn own() -> Range<usize> {
    // SAFETY: attributes are filled in before they are read, and given back; a thread may ask about itself.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return 0..0;
        }
        let (mut lowest, mut bytes) = (std::ptr::null_mut(), 0);
        let refused = libc::pthread_attr_getstack(&attributes, &mut lowest, &mut bytes) != 0;
        libc::pthread_attr_destroy(&mut attributes);
        if refused { 0..0 } else { lowest as usize..lowest as usize + bytes }
    }
}

/// The mapping that holds an address, empty if there is none.
pub fn around(address: usize) -> Range<usize> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mapping = |line: &str| {
        let (begin, rest) = line.split_once('-')?;
        let [begin, end] = [begin, rest.split_once(' ')?.0].map(|number| usize::from_str_radix(number, 16));
        Some(begin.ok()?..end.ok()?)
    };
    maps.lines().filter_map(mapping).find(|range| range.contains(&address)).unwrap_or(0..0)
}

/// Whether this is a signal handler with a stack of its own, which may lie within the thread's.
pub fn on_signal_stack() -> bool {
    // SAFETY: all zeros is a valid value, which is filled in.
    unsafe {
        let mut stack: libc::stack_t = std::mem::zeroed();
        libc::sigaltstack(std::ptr::null(), &mut stack) == 0 && stack.ss_flags & libc::SS_ONSTACK != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_knows_its_own() {
        let mine = own();
        let variable = 0;
        assert!(mine.contains(&(&raw const variable as usize)), "{mine:x?}");
        assert!(around(mine.end - 8).contains(&(mine.end - 8)));
        assert!(around(0).is_empty());
        let other = std::thread::spawn(own).join().unwrap();
        assert!(!other.is_empty() && !other.contains(&(&raw const variable as usize)));
    }
}
