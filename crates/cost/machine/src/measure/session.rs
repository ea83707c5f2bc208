//! A measuring program under its launcher: questions to its first rank, answers from it.
//!
//! Questions are `measure OPERATION PATTERN BYTES REPETITIONS SECONDS TOLERANCE`, and `quit`. Answers begin with `kizami: `;
//! whatever else the launcher or the MPI library prints is passed over. First comes
//! `here RANKS NODES RANKS_PER_NODE HOST | LIBRARY`; then for each question, in order,
//! `row OPERATION PATTERN BYTES FIRST_NS COUNT SPAN_NS...` or `cannot OPERATION PATTERN BYTES REASON`. Of more than 200
//! spans, 200 are listed, and before them how many there are.

use crate::error::MachineError;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// What our lines begin with.
const OURS: &str = "kizami: ";
/// Of more spans than this a selection is listed.
const MOST_LISTED: u64 = 200;
/// How long a program may take to end on request.
const PATIENCE: Duration = Duration::from_secs(5);

/// One thing to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The MPI function, or `message`, or `noise`.
    pub operation: String,
    /// How.
    pub pattern: String,
    /// How many bytes; of noise, how many nanoseconds.
    pub bytes: u64,
    /// At most so often.
    pub most_repetitions: u64,
    /// And for at most so long.
    pub seconds: f64,
    /// Or until the median is this sure, as a share.
    pub tolerance: f64,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Measured.
    Row {
        /// The first call in its process, if this was one.
        first_ns: Option<f64>,
        /// How often it was measured.
        repetitions: u64,
        /// All of them, or some from the smallest to the largest.
        spans_ns: Vec<f64>,
    },
    /// Not possible there.
    Cannot(String),
}

/// Who answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Here {
    /// How many ranks.
    pub ranks: u32,
    /// On how many hosts.
    pub nodes: u32,
    /// How many a host has.
    pub ranks_per_node: u32,
    /// Name of the first host.
    pub host: String,
    /// The MPI library, as it says itself.
    pub library: String,
}

/// A running measuring program.
pub struct Session {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    words: String,
}

impl Session {
    /// Starts one by these words and reads who is there.
    pub fn start(words: &[String]) -> Result<(Session, Here), MachineError> {
        Session::with(words, &[], Stdio::inherit())
    }

    /// The same with variables in its environment; what it complains about is not shown, for it may be refused.
    pub fn start_quietly(
        words: &[String],
        variables: &[(&str, &str)],
    ) -> Result<(Session, Here), MachineError> {
        Session::with(words, variables, Stdio::null())
    }

    fn with(
        words: &[String],
        variables: &[(&str, &str)],
        complaints: Stdio,
    ) -> Result<(Session, Here), MachineError> {
        let shown = words.join(" ");
        let failed = |what: String| MachineError::Measuring { what };
        let (program, arguments) =
            words.split_first().ok_or_else(|| failed("there is nothing to run".to_owned()))?;
        let mut child = Command::new(program)
            .args(arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(complaints)
            .spawn()
            .map_err(|error| failed(format!("cannot run `{shown}`: {error}")))?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or_else(|| failed(format!("`{shown}` has no output")))?;
        let mut session = Session { child, input, output: BufReader::new(output), words: shown };
        let line = session.line()?;
        let here = parse_here(&line).ok_or_else(|| session.strange(&line))?;
        Ok((session, here))
    }

    /// Asks some questions at once; the answers come in their order.
    pub fn ask(&mut self, questions: &[Question]) -> Result<Vec<Answer>, MachineError> {
        let mut lines = String::new();
        for question in questions {
            let Question { operation, pattern, bytes, most_repetitions, seconds, tolerance } = question;
            lines +=
                &format!("measure {operation} {pattern} {bytes} {most_repetitions} {seconds} {tolerance}\n");
        }
        self.send(&lines)?;
        questions
            .iter()
            .map(|_| {
                let line = self.line()?;
                parse_answer(&line).ok_or_else(|| self.strange(&line))
            })
            .collect()
    }

    /// Ends it.
    pub fn end(mut self) -> Result<(), MachineError> {
        self.send("quit\n")?;
        drop(self.input.take());
        // All answers are here. Some libraries hang in MPI_Finalize now and then; that is not waited for.
        let asked = Instant::now();
        while asked.elapsed() < PATIENCE && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    fn send(&mut self, lines: &str) -> Result<(), MachineError> {
        let sent = match &mut self.input {
            Some(input) => input.write_all(lines.as_bytes()).and_then(|()| input.flush()),
            None => Ok(()),
        };
        sent.map_err(|_| self.gone())
    }

    fn line(&mut self) -> Result<String, MachineError> {
        loop {
            let mut line = String::new();
            match self.output.read_line(&mut line) {
                Ok(0) | Err(_) => return Err(self.gone()),
                Ok(_) => {
                    if let Some((_, ours)) = line.split_once(OURS) {
                        return Ok(ours.trim_end().to_owned());
                    }
                }
            }
        }
    }

    fn gone(&mut self) -> MachineError {
        let how = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let what = format!(
            "`{}` ended ({how}) before it had measured; what it printed above says why. `kizami doctor` checks launchers",
            self.words
        );
        MachineError::Measuring { what }
    }

    fn strange(&self, line: &str) -> MachineError {
        let what = format!(
            "`{}` answered {line:?}, which is not understood; is it of the same version?",
            self.words
        );
        MachineError::Measuring { what }
    }
}

/// A measuring program that is not needed any more must not go on.
impl Drop for Session {
    fn drop(&mut self) {
        drop(self.input.take());
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            // Its input has ended, so it ends by itself; if it hangs, it is not waited for.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn parse_here(line: &str) -> Option<Here> {
    let (place, library) = line.strip_prefix("here ")?.split_once('|')?;
    let mut words = place.split_whitespace();
    Some(Here {
        ranks: words.next()?.parse().ok()?,
        nodes: words.next()?.parse().ok()?,
        ranks_per_node: words.next()?.parse().ok()?,
        host: words.next()?.to_owned(),
        library: library.trim().to_owned(),
    })
}

fn parse_answer(line: &str) -> Option<Answer> {
    let mut words = line.split_whitespace();
    match words.next()? {
        "row" => {
            let mut words = words.skip(3);
            let first_ns = match words.next()? {
                "-" => None,
                first => Some(first.parse().ok()?),
            };
            let repetitions: u64 = words.next()?.parse().ok()?;
            let listed = if repetitions > MOST_LISTED { words.next()?.parse().ok()? } else { repetitions };
            let spans_ns: Vec<f64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
            (spans_ns.len() as u64 == listed).then_some(Answer::Row { first_ns, repetitions, spans_ns })
        }
        "cannot" => Some(Answer::Cannot(words.skip(3).collect::<Vec<_>>().join(" "))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_understood_or_not_at_all() {
        let here = parse_here("here 4 2 2 node7 | Open MPI v4.1.4, package: Debian").unwrap();
        assert_eq!((here.ranks, here.nodes, here.host.as_str()), (4, 2, "node7"));
        assert!(here.library.starts_with("Open MPI v4.1.4"));
        let row = parse_answer("row MPI_Barrier plain 0 81234 3 900 1000 1100").unwrap();
        let spans_ns = vec![900.0, 1_000.0, 1_100.0];
        assert_eq!(row, Answer::Row { first_ns: Some(81_234.0), repetitions: 3, spans_ns });
        assert_eq!(parse_answer("row MPI_Barrier plain 0 - 3 900 1000"), None);
        let cannot = parse_answer("cannot MPI_Put plain 8 no windows here");
        assert_eq!(cannot, Some(Answer::Cannot("no windows here".to_owned())));
        assert_eq!(parse_answer("hello"), None);
    }
}
