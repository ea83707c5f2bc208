//! Commands as they are read.

/// When to stop repeating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    pub most_repetitions: usize,
    pub seconds: f64,
    /// How far the interval of the median may reach from it, as a share of it.
    pub tolerance: f64,
}

/// A command to rank 0, which all ranks follow.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    Measure { op: String, pattern: String, bytes: usize, limits: Limits },
    Quit,
}

impl Command {
    /// Understands a line. Whether there is such an operation is not asked here.
    pub(crate) fn parse(line: &str) -> Option<Command> {
        let mut words = line.split_whitespace();
        let command = match words.next()? {
            "quit" => Command::Quit,
            "measure" => {
                let (op, pattern) = (words.next()?.to_owned(), words.next()?.to_owned());
                let bytes = words.next()?.parse().ok()?;
                let most_repetitions = words.next()?.parse().ok()?;
                let seconds = words.next()?.parse().ok().filter(|seconds: &f64| *seconds >= 0.0)?;
                let tolerance = words.next()?.parse().ok().filter(|share: &f64| *share >= 0.0)?;
                Command::Measure {
                    op,
                    pattern,
                    bytes,
                    limits: Limits { most_repetitions, seconds, tolerance },
                }
            }
            _ => return None,
        };
        words.next().is_none().then_some(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_understood() {
        let limits = Limits { most_repetitions: 500, seconds: 0.05, tolerance: 0.03 };
        let (op, pattern) = ("MPI_Allreduce".to_owned(), "plain".to_owned());
        assert_eq!(
            Command::parse("measure MPI_Allreduce plain 1024 500 0.05 0.03\n"),
            Some(Command::Measure { op, pattern, bytes: 1024, limits })
        );
        assert_eq!(Command::parse("quit"), Some(Command::Quit));
    }

    #[test]
    fn other_lines_are_not() {
        for line in
            ["", "quit now", "measure MPI_Bcast plain x 1 1 1", "measure MPI_Bcast plain 8 1 -1 0.1", "go"]
        {
            assert_eq!(Command::parse(line), None, "{line}");
        }
    }
}
