//! What a program may call outside itself.
//!
//! Functions of MPI are stood in for by `calls`, those of the C library that would end the process, take its memory
//! or touch files by `c_library` and `files`. Of the rest only what `real.txt` lists is
//! called for real; everything else is refused by its name, with what can be done about it. Nothing is found out here about
//! code that needs no name, such as a system call in inline assembly: the process that ranks run in holds that.

use crate::{c_library, files};
use std::collections::HashSet;
use std::sync::OnceLock;

const REAL: &str = include_str!("real.txt");

/// How a name outside the program is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// To the library's own function or variable.
    Real,
    /// To a function of ours.
    Stub,
    /// To nothing: who calls it is stopped.
    Refused,
}

/// A word of `real.txt`.
struct Pattern {
    start: &'static str,
    /// What follows somewhere behind the start, for a `*` in the middle.
    then: Option<&'static str>,
    any_end: bool,
    refused: bool,
}

impl Pattern {
    fn parse(word: &'static str) -> Pattern {
        let (refused, word) = word.strip_prefix('!').map_or((false, word), |rest| (true, rest));
        let any_end = word.ends_with('*');
        let word = word.trim_end_matches('*');
        let (start, then) = word.split_once('*').map_or((word, None), |(start, then)| (start, Some(then)));
        Pattern { start, then, any_end, refused }
    }

    fn fits(&self, name: &str) -> bool {
        let Some(rest) = name.strip_prefix(self.start) else { return false };
        match self.then {
            Some(then) => rest.find(then).is_some_and(|at| self.any_end || at + then.len() == rest.len()),
            None => self.any_end || rest.is_empty(),
        }
    }
}

struct Real {
    names: HashSet<String>,
    patterns: Vec<Pattern>,
}

fn real() -> &'static Real {
    static READ: OnceLock<Real> = OnceLock::new();
    READ.get_or_init(|| {
        let lines = REAL.lines().filter(|line| !line.starts_with('#'));
        let (mut names, mut patterns) = (HashSet::new(), Vec::new());
        for word in lines.flat_map(str::split_whitespace) {
            if word.contains('~') {
                names.extend(["", "f", "l"].map(|end| word.replace('~', end)));
            } else if word.contains(['*', '!']) {
                patterns.push(Pattern::parse(word));
            } else {
                names.insert(word.to_owned());
            }
        }
        Real { names, patterns }
    })
}

/// How a name is bound that a program does not define itself; functions of MPI are not asked for.
pub fn bound(name: &str) -> Bound {
    static STUBS: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let stubs = STUBS.get_or_init(|| {
        let own = c_library::own_functions().into_iter();
        let all = c_library::replacements().into_iter().chain(files::replacements()).chain(own);
        all.map(|(name, _)| name).collect()
    });
    if stubs.contains(name) {
        return Bound::Stub;
    }
    let real = real();
    if real.names.contains(name) {
        return Bound::Real;
    }
    match real.patterns.iter().find(|pattern| pattern.fits(name)) {
        Some(pattern) if !pattern.refused => Bound::Real,
        _ => Bound::Refused,
    }
}

/// Why a skeleton may not call a function, if it may not: its name, a colon, and a reason.
pub fn refusal(name: &str) -> Option<String> {
    if name.starts_with("llvm.") || bound(name) != Bound::Refused {
        return None;
    }
    let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    let runs =
        ["system", "popen", "pclose", "exec", "fork", "vfork", "posix_spawn", "wait", "clone", "daemon"];
    let talks = [
        "socket",
        "connect",
        "bind",
        "listen",
        "accept",
        "send",
        "recv",
        "getaddrinfo",
        "gethostby",
        "shutdown",
    ];
    let signals = ["kill", "raise", "tgkill", "sigqueue", "pthread_kill"];
    let loads = ["dlopen", "dlsym", "dlmopen", "syscall"];
    let why = if begins(&runs) || name == "_FortranAExecuteCommandLine" {
        "a skeleton cannot start other programs"
    } else if begins(&talks) {
        "a skeleton cannot use the network"
    } else if begins(&signals) {
        "a skeleton cannot send signals"
    } else if begins(&loads) {
        "a skeleton cannot load code or make system calls of its own"
    } else if begins(&["pthread_create", "_ZNSt6thread", "thrd_create"]) {
        "a skeleton has one thread per rank"
    } else if begins(&["chdir", "fchdir"]) {
        "all ranks of a skeleton share one working directory"
    } else {
        "a skeleton calls only functions known to have no external effects"
    };
    Some(format!("{name}: {why}; exclude the call when building for a skeleton"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_computes_is_real_and_what_acts_is_not() {
        let real = [
            "sin",
            "sinf",
            "sinl",
            "memcpy",
            "__divti3",
            "qsort",
            "fread",
            "_ZNSt6localeC1Ev",
            "_FortranATrim",
        ];
        for name in real {
            assert_eq!(bound(name), Bound::Real, "{name}");
        }
        for name in
            ["malloc", "open", "fopen", "unlink", "truncate", "rmdir", "symlink", "printf", "__kizami_site"]
        {
            assert_eq!(bound(name), Bound::Stub, "{name}");
        }
        let refused = [
            "system",
            "popen",
            "execve",
            "fork",
            "socket",
            "connect",
            "kill",
            "syscall",
            "dlsym",
            "chdir",
            "ptrace",
            "_ZNSt10filesystem6removeERKNS_7__cxx114pathE",
            "_ZNSt6thread4joinEv",
            "_FortranAExecuteCommandLine",
            "setuid",
            "mount",
            "no_such_function",
            "shm_open",
            "pthread_create",
            "_ZNSt13basic_filebufIwSt11char_traitsIwEE4openEPKcSt13_Ios_Openmode",
        ];
        for name in refused {
            assert_eq!(bound(name), Bound::Refused, "{name}");
            let why = refusal(name).expect("it is refused");
            assert!(why.starts_with(&format!("{name}: a")), "{why}");
        }
        assert_eq!(refusal("llvm.memcpy.p0.p0.i64"), None);
    }
}
