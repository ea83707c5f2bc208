//! Which cores a process may run on. Launchers give each of their processes its own; one that works for several needs theirs.

use std::mem::size_of;

const SET_BYTES: usize = size_of::<libc::cpu_set_t>();

/// Those of this process: a bit for each. Nothing if that cannot be told.
pub fn own() -> Vec<u8> {
    let mut set = vec![0; SET_BYTES];
    // SAFETY: there is room for a set of the size that is said.
    let succeeded = unsafe { libc::sched_getaffinity(0, SET_BYTES, set.as_mut_ptr().cast()) } == 0;
    if succeeded { set } else { Vec::new() }
}

/// As many threads as can run at once here.
pub fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// How many the host has.
pub fn of_host() -> usize {
    // SAFETY: it only asks.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).unwrap_or(1)
}

/// Lets this process, and the threads it starts from now on, run on all cores of several sets. If the system does not allow
/// that, things stay as they are.
pub fn use_all_of(sets: &[Vec<u8>]) {
    if sets.iter().any(|set| set.len() != SET_BYTES) {
        return;
    }
    let all: Vec<u8> = (0..SET_BYTES).map(|byte| sets.iter().fold(0, |all, set| all | set[byte])).collect();
    // SAFETY: the set is of the size that is said, and only read.
    unsafe { libc::sched_setaffinity(0, SET_BYTES, all.as_ptr().cast()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_of_several_are_all_of_them() {
        let before = own();
        let cores: Vec<usize> =
            (0..SET_BYTES * 8).filter(|core| before[core / 8] >> (core % 8) & 1 == 1).collect();
        let only = |core: usize| {
            let mut set = vec![0; SET_BYTES];
            set[core / 8] = 1 << (core % 8);
            set
        };
        let (first, last) = (cores[0], cores[cores.len() - 1]);
        use_all_of(&[only(first)]);
        assert_eq!(own(), only(first));
        use_all_of(&[only(first), Vec::new()]);
        assert_eq!(own(), only(first), "of one it is not known");
        use_all_of(&[only(first), only(last)]);
        let both: Vec<u8> = only(first).iter().zip(only(last)).map(|(one, other)| one | other).collect();
        assert_eq!(own(), both);
    }
}
