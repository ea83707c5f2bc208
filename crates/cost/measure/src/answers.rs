//! Lines that rank 0 writes.

use kizami_stats::sorted;
use std::io::Write;

/// What each line begins with.
const MARK: &str = "kizami: ";

/// More spans than this are represented by so many of them.
const MOST_SPANS: usize = 200;

/// Rank 0's output. Once its reader is gone it stays closed.
#[derive(Debug)]
pub(crate) struct Answers<W: Write> {
    output: W,
    open: bool,
}

impl<W: Write> Answers<W> {
    pub(crate) fn new(output: W) -> Answers<W> {
        Answers { output, open: true }
    }

    /// Whether there may still be a reader.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// Writes a line, in one piece, so that other ranks' output does not get into it.
    pub(crate) fn say(&mut self, line: &str) {
        let line = format!("{MARK}{line}\n");
        self.open &= self.output.write_all(line.as_bytes()).and_then(|()| self.output.flush()).is_ok();
    }

    /// Tells what was measured.
    pub(crate) fn row(&mut self, what: &str, first_ns: Option<f64>, spans_ns: &[f64]) {
        let whole = |span_ns: &f64| format!("{span_ns:.0}");
        let first = first_ns.as_ref().map_or("-".to_owned(), whole);
        let mut fields = vec![format!("row {what} {first} {}", spans_ns.len())];
        if spans_ns.len() > MOST_SPANS {
            fields.push(MOST_SPANS.to_string());
            fields.extend(chosen(spans_ns, MOST_SPANS).iter().map(whole));
        } else {
            fields.extend(spans_ns.iter().map(whole));
        }
        self.say(&fields.join(" "));
    }
}

/// So many of them, evenly from the shortest to the longest.
fn chosen(spans_ns: &[f64], count: usize) -> Vec<f64> {
    let sorted = sorted(spans_ns);
    (0..count).map(|index| sorted[index * (sorted.len() - 1) / (count - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(spans_ns: &[f64], first_ns: Option<f64>) -> String {
        let mut output = Vec::new();
        Answers::new(&mut output).row("MPI_Bcast plain 8", first_ns, spans_ns);
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn few_spans_are_listed_in_order() {
        assert_eq!(written(&[30.0, 10.0], Some(99.6)), "kizami: row MPI_Bcast plain 8 100 2 30 10\n");
        assert_eq!(written(&[5.0], None), "kizami: row MPI_Bcast plain 8 - 1 5\n");
    }

    #[test]
    fn many_spans_are_summarised_by_their_distribution() {
        let spans: Vec<f64> = (0..1000).rev().map(f64::from).collect();
        let line = written(&spans, None);
        let fields: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(fields[5..9], ["-", "1000", "200", "0"]);
        assert_eq!(fields.len(), 8 + 200);
        assert_eq!(fields.last(), Some(&"999"));
    }
}
