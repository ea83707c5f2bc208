//! Headings and rows of tables.
//!
//! Names of columns have blanks in them and one blank between them at times, so a heading is cut at words that end a name.

/// What a column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Size,
    /// Of all ranks.
    Average,
    Slowest,
    Bandwidth,
    /// Communication and computation at once.
    Overall,
    /// Communication alone.
    Pure,
    Iterations,
    Validation,
    /// Known, and not needed.
    Other,
}

/// The columns of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading(Vec<Column>);

/// A row that fits its heading.
pub(super) struct Row<'a>(Vec<(Column, &'a str)>);

impl<'a> Row<'a> {
    /// What is in a column.
    pub(super) fn word(&self, column: Column) -> Option<&'a str> {
        self.0.iter().find(|(known, _)| *known == column).map(|(_, word)| *word)
    }
}

impl Heading {
    /// The words of a row by their columns.
    pub(super) fn fit<'a>(&self, words: &[&'a str]) -> Option<Row<'a>> {
        let fits = words.len() == self.0.len();
        fits.then(|| Row(self.0.iter().copied().zip(words.iter().copied()).collect()))
    }
}

/// The columns of a line without its `#`; none if it is not a heading, or one of its columns is not known.
pub(super) fn heading(line: &str) -> Option<Heading> {
    let mut columns = Vec::new();
    let mut name = String::new();
    for word in line.split_whitespace() {
        name.push_str(word);
        let ends =
            word.ends_with(')') || ["Size", "Iterations", "Validation", "MB/s", "Messages/s"].contains(&word);
        if ends {
            columns.push(column(&std::mem::take(&mut name))?);
        }
    }
    (name.is_empty() && !columns.is_empty()).then_some(Heading(columns))
}

/// By the name without its blanks.
fn column(name: &str) -> Option<Column> {
    Some(match name {
        "Size" => Column::Size,
        "Latency(us)" | "AvgLatency(us)" => Column::Average,
        "MaxLatency(us)" => Column::Slowest,
        "Bandwidth(MB/s)" => Column::Bandwidth,
        "Overall(us)" => Column::Overall,
        "PureComm.(us)" => Column::Pure,
        "Iterations" => Column::Iterations,
        "Validation" => Column::Validation,
        "MinLatency(us)" | "Compute(us)" | "Coll.Init(us)" | "MPI_Test(us)" | "MPI_Wait(us)"
        | "MinComm.(us)" | "MaxComm.(us)" | "Overlap(%)" | "TransmitSize" | "MB/s" | "Messages/s" => {
            Column::Other
        }
        name if name.starts_with('P')
            && (name.ends_with("TailLat(us)") || name.ends_with("TailBW(MB/s)")) =>
        {
            Column::Other
        }
        _ => return None,
    })
}

/// The words of a line that has nothing but numbers and verdicts in it.
pub(super) fn row(line: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let fits =
        |word: &&str| word.parse::<f64>().is_ok() || ["Pass", "Fail", "pass", "fail", "N/A"].contains(word);
    words.iter().all(fits).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_cut_at_the_ends_of_names() {
        use Column::*;
        let of = |line| heading(line).map(|heading| heading.0);
        assert_eq!(of("Size          Latency (us)"), Some(vec![Size, Average]));
        assert_eq!(of("Size      Bandwidth (MB/s) P50 Tail BW(MB/s)"), Some(vec![Size, Bandwidth, Other]));
        assert_eq!(of("Overall(us)  Coll. Init(us)  Pure Comm.(us)"), Some(vec![Overall, Other, Pure]));
        assert_eq!(of("Size  Furlongs(us)"), None);
        assert_eq!(of("Size and everything"), None);
    }

    #[test]
    fn a_sentence_that_begins_with_a_number_is_no_row() {
        assert_eq!(row("2 total processes killed"), None);
        assert_eq!(row("8  1.25 Pass"), Some(vec!["8", "1.25", "Pass"]));
    }
}
