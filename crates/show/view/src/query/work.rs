//! The part of a run in which the program works: what pictures begin with. Starting and ending MPI takes what it takes,
//! and in a short run it would take most of the picture.
//!
//! From the first rank that leaves `MPI_Init` to the last that comes to `MPI_Finalize`, as reports have it
//! ([`kizami_replay::WorkInterval`]), but told from the index: both are among the outermost rows of a rank.

use crate::index::Index;
use kizami_model::Moment;
use kizami_replay::work_interval::Borders;

/// When a program begins to work and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// When the first rank leaves `MPI_Init`; none if nobody calls it.
    pub from: Option<Moment>,
    /// When the last rank comes to `MPI_Finalize`, or ends its last call if it never comes there; none if nobody does.
    pub to: Option<Moment>,
}

/// When the program of a run works.
pub fn work(index: &Index) -> Work {
    let borders = Borders::new();
    let op = |kind: u32| index.kinds().get(kind as usize).map(|kind| kind.op());
    let (mut from_ns, mut to_ns, mut ended) = (None::<i64>, None::<i64>, false);
    let all: Vec<u32> = (0..index.ranks()).collect();
    for (rank, _) in index.weighed(&all) {
        let Some((_, mut last_ns, _)) = index.seen(rank) else { continue };
        index.outermost(rank, |row| match op(row.kind) {
            Some(op) if borders.begins(op) => {
                from_ns = Some(from_ns.map_or(row.end_ns, |ns| ns.min(row.end_ns)));
            }
            Some(op) if borders.ends(op) => {
                // Nothing but a look at what MPI was follows.
                (last_ns, ended) = (row.start_ns, true);
            }
            _ => {}
        });
        to_ns = to_ns.max(Some(last_ns));
    }
    Work { from: from_ns.map(Moment), to: to_ns.filter(|_| ended).map(Moment) }
}
