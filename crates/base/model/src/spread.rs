//! How the exchanges that give each rank another amount spread what they give: to how many others, and how much of it stays.
//!
//! A row of such a call has the sum alone, which says little about what it costs: all of it for one neighbour, or a little for
//! all ranks. Tracers count the rest under the names made here, beside the work that programs count.

use crate::Op;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpreadCount {
    /// Other ranks that get something.
    RanksGivenTo,
    /// Of what is given, the part that the rank gives to itself, in thousandths.
    ThousandthsKept,
}

impl SpreadCount {
    const ALL: [SpreadCount; 2] = [SpreadCount::RanksGivenTo, SpreadCount::ThousandthsKept];

    fn words(self) -> &'static str {
        match self {
            SpreadCount::RanksGivenTo => "ranks given to",
            SpreadCount::ThousandthsKept => "thousandths kept",
        }
    }

    /// The name it is counted under for a function.
    pub fn name(self, op: Op) -> String {
        format!("{}: {}", op.name(), self.words())
    }

    /// What is counted under a name, if it is one of these.
    pub fn of_name(name: &str) -> Option<(Op, SpreadCount)> {
        let (function, words) = name.split_once(": ")?;
        let counted = SpreadCount::ALL.into_iter().find(|counted| counted.words() == words)?;
        Some((Op::by_name(function)?, counted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let op = Op::by_name("MPI_Ialltoallv").unwrap();
        for counted in SpreadCount::ALL {
            assert_eq!(SpreadCount::of_name(&counted.name(op)), Some((op, counted)));
        }
        assert_eq!(SpreadCount::of_name("cells: ranks given to"), None);
        assert_eq!(SpreadCount::of_name("cells"), None);
    }
}
