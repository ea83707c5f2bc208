//! Rank classes: those at the ends of a line or a grid do other things than those inside.

use super::peers::Grid;
use serde::Serialize;

/// How ranks are divided into classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheme {
    /// All do the same.
    All,
    /// The first one does something else.
    FirstAndOthers,
    /// The first, the last, and those between.
    Line,
    /// Even and odd ones.
    EvenAndOdd,
    /// Even and odd ones, and the ends.
    EvenAndOddLine,
    /// By the side of a grid they are at.
    Grid(Grid),
}

impl Scheme {
    /// All of them, the plainest first.
    pub const ALL: [Scheme; 7] = [
        Scheme::All,
        Scheme::FirstAndOthers,
        Scheme::Line,
        Scheme::EvenAndOdd,
        Scheme::EvenAndOddLine,
        Scheme::Grid(Grid { dimensions: 2, periodic: false }),
        Scheme::Grid(Grid { dimensions: 3, periodic: false }),
    ];

    /// The number of the class of a rank among so many.
    pub fn class(self, rank: u32, ranks: u32) -> u32 {
        let line = || {
            if rank == 0 {
                0
            } else if rank + 1 == ranks {
                2
            } else {
                1
            }
        };
        match self {
            Scheme::All => 0,
            Scheme::FirstAndOthers => u32::from(rank > 0),
            Scheme::Line => line(),
            Scheme::EvenAndOdd => rank % 2,
            Scheme::EvenAndOddLine => 2 * line() + rank % 2,
            Scheme::Grid(grid) => grid.region(rank, ranks),
        }
    }
}
