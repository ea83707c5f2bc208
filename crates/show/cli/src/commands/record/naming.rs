//! What to call a trace: the application's name, from a command line or an executable's path.
//!
//! A name is what the user would say: `ring` for `python3 ring.py`, `stencil2d` for `./stencil2d 512`.
//! Programs that only start other programs have no say; then the recorded executable decides.

use std::ffi::{OsStr, OsString};
use std::path::Path;

const INTERPRETERS: [&str; 9] = ["python", "pypy", "perl", "ruby", "julia", "Rscript", "bash", "sh", "lua"];
const STARTERS: [&str; 20] = [
    "env",
    "nice",
    "numactl",
    "taskset",
    "timeout",
    "time",
    "xterm",
    "valgrind",
    "gdb",
    "strace",
    "ltrace",
    "perf",
    "stdbuf",
    "chrt",
    "setarch",
    "nohup",
    "kizami",
    "likwid-pin",
    "apptainer",
    "singularity",
];
const SCRIPT_ENDINGS: [&str; 8] = ["py", "sh", "pl", "rb", "jl", "R", "lua", "exe"];

/// The application's name as its command line tells it; `None` when something else should decide.
pub fn application(program: &OsStr, arguments: &[OsString]) -> Option<String> {
    let name = Path::new(program).file_name()?.to_str()?;
    if STARTERS.contains(&name) {
        return None;
    }
    if is_interpreter(name) { script(arguments) } else { from_path(Path::new(program)) }
}

/// The name of an executable or a script.
pub fn from_path(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy();
    let stem = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && SCRIPT_ENDINGS.contains(&ending) => stem,
        _ => &name,
    };
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._+".contains(c) { c } else { '-' };
    let name: String = stem.chars().map(safe).take(64).collect();
    let name = name.trim_matches(['-', '.']);
    (!name.is_empty()).then(|| name.to_owned())
}

/// `python`, and `python3.11` too.
fn is_interpreter(name: &str) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&stem)
}

fn script(arguments: &[OsString]) -> Option<String> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.to_str()? {
            "-m" => {
                let module = words.next()?.to_str()?;
                // `python -m mpi4py script.py` runs the script.
                let starts_another =
                    matches!(module, "mpi4py" | "mpi4py.run" | "mpi4py.futures" | "pdb" | "cProfile");
                if !starts_another {
                    return from_path(Path::new(module));
                }
            }
            "-c" => return None,
            option if option.starts_with('-') => {}
            _ => return from_path(Path::new(word)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        application(&words[0], &words[1..])
    }

    #[test]
    fn programs_are_called_by_their_file_name() {
        let cases = [
            ("./stencil2d 512", "stencil2d"),
            ("/opt/app/bin/cg.B.16 x", "cg.B.16"),
            ("./a.out", "a.out"),
            ("./run.sh", "run"),
            ("./odd%name", "odd-name"),
        ];
        for (line, expected) in cases {
            assert_eq!(name(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn scripts_are_called_by_their_own_name() {
        let cases = [
            ("python3 ring.py", "ring"),
            ("python3.11 -u /home/u/ring.py --size 3", "ring"),
            ("python -m package.solver", "package.solver"),
            ("python -m mpi4py ring.py", "ring"),
            ("bash ./job.sh", "job"),
            ("julia --project=. heat.jl", "heat"),
        ];
        for (line, expected) in cases {
            assert_eq!(name(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn what_only_starts_others_does_not_name_the_trace() {
        for line in ["env A=1 ./app", "numactl -l ./app", "bash -c ./app", "python3", "timeout 5 ./app"] {
            assert_eq!(name(line), None, "{line}");
        }
    }

    #[test]
    fn a_name_is_never_a_path_or_hidden() {
        assert_eq!(from_path(Path::new("..")), None);
        assert_eq!(from_path(Path::new("/")), None);
        assert_eq!(from_path(Path::new("./.hidden")).as_deref(), Some("hidden"));
    }
}
