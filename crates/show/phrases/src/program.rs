//! What a program is called: by its own name, or by its script or input where the executable alone says little.

/// The name of a program with this executable and command line: `solver`, `ring.py (python3.11)`, `lmp in.melt`.
pub fn name(executable: &str, command: &[String]) -> String {
    let executable = match last_part(executable) {
        "" => return "unknown program".to_owned(),
        name => name,
    };
    let arguments = command.get(1..).unwrap_or_default();
    if is_interpreter(executable) {
        return script(arguments)
            .map_or_else(|| executable.to_owned(), |script| format!("{} ({executable})", last_part(script)));
    }
    match input(arguments) {
        Some(input) => format!("{executable} {}", last_part(input)),
        None => executable.to_owned(),
    }
}

fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// Whether an executable only runs what it is given.
pub(crate) fn is_interpreter(executable: &str) -> bool {
    const NAMES: [&str; 9] =
        ["python", "pypy", "julia", "Rscript", "perl", "ruby", "lua", "octave", "FreeFem++"];
    executable == "R" || NAMES.iter().any(|name| executable.starts_with(name))
}

/// The first argument that is no option, without a runner module such as `-m mpi4py`.
fn script(arguments: &[String]) -> Option<&str> {
    let mut arguments = arguments.iter().map(String::as_str);
    while let Some(argument) = arguments.next() {
        match argument {
            "-m" => {
                let module = arguments.next()?;
                let is_script = |text: &&str| !text.starts_with('-');
                return arguments.next().filter(is_script).filter(|_| module == "mpi4py").or(Some(module));
            }
            "-c" => return None,
            "-W" | "-X" => {
                arguments.next();
            }
            option if option.starts_with('-') => {}
            script => return Some(script),
        }
    }
    None
}

/// The input file or case that simulation codes are given by one of these options.
fn input(arguments: &[String]) -> Option<&str> {
    const OPTIONS: [&str; 8] = ["-in", "-i", "-inp", "-input", "--input", "-case", "-s", "-deffnm"];
    let at = arguments.iter().position(|argument| OPTIONS.contains(&argument.as_str()))?;
    let value = arguments.get(at + 1)?;
    // Others count iterations by the same options.
    let is_name = |value: &&String| value.starts_with(|c: char| c.is_alphabetic() || "./".contains(c));
    Some(value).filter(is_name).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn scripts_and_inputs_tell_runs_apart() {
        let cases = [
            ("./solver 100 8", "/home/me/solver", "solver"),
            ("python3 -u src/ring.py 4", "/usr/bin/python3.11", "ring.py (python3.11)"),
            ("python3 -m mpi4py ring.py", "/usr/bin/python3.11", "ring.py (python3.11)"),
            ("python3 -m solver.main -x", "/usr/bin/python3.11", "solver.main (python3.11)"),
            ("python3 -c pass", "/usr/bin/python3.11", "python3.11"),
            ("FreeFem++-mpi -nw cases/stokes.edp", "/usr/bin/FreeFem++-mpi", "stokes.edp (FreeFem++-mpi)"),
            ("lmp -in bench/in.melt", "/usr/bin/lmp", "lmp in.melt"),
            ("pw.x -i si.in", "/usr/bin/pw.x", "pw.x si.in"),
            ("lulesh -i 100 -s 20", "/tmp/lulesh", "lulesh"),
            ("", "", "unknown program"),
        ];
        for (command, executable, expected) in cases {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(name(executable, &words), expected, "{command}");
        }
        assert_eq!(name("/usr/bin/python3.11", &[]), "python3.11");
    }
}
