//! Whether the tables of a kept index can be those of its trace. The checksum finds what was damaged; this is for what
//! somebody made: everything that is looked up by a number from the file is there, and nothing takes long.

use super::block::BlockHead;
use super::file::Mapped;
use super::kind::{Kind, RankRow};
use super::pyramid::Division;

/// Of a trace with so many ranks that have a place in it, and so many rows.
pub(super) fn holds(mapped: &Mapped, ranks: u64, most_rows: u64) -> bool {
    let (head, sections) = (mapped.head(), mapped.sections());
    let seen = sections.ranks.iter().filter(|rank| rank.blocks > 0);
    let begin_ns = seen.clone().map(|rank| rank.begin_ns).min().unwrap_or(0).min(0);
    let end_ns = seen.map(|rank| rank.end_ns).max().unwrap_or(0).max(begin_ns);
    let rows: u64 = sections.blocks.iter().map(|block| u64::from(block.rows)).sum();
    (head.begin_ns, head.end_ns, head.rows) == (begin_ns, end_ns, rows)
        && rows <= most_rows
        && sections.ranks.len() as u64 == ranks
        && head.division() == Division::of(begin_ns, end_ns, ranks, rows)
        && sections.kinds.iter().all(Kind::is_one)
        && sections.blocks.iter().all(|block| block.is_within(mapped.data().len()))
        && each_has_its_blocks(sections.ranks, sections.blocks)
}

/// Whether the blocks are those of one rank after the other, each in the order of time.
fn each_has_its_blocks(ranks: &[RankRow], blocks: &[BlockHead]) -> bool {
    let mut rest = blocks;
    let mut at = 0;
    for rank in ranks.iter().filter(|rank| rank.blocks > 0) {
        let own = usize::try_from(rank.blocks).ok().and_then(|count| rest.split_at_checked(count));
        let Some((own, behind)) = own.filter(|_| rank.first_block == at) else { return false };
        let ends = own.first().zip(own.last()).map(|(first, last)| (first.start_ns, last.end_ns));
        let rises =
            own.is_sorted_by_key(|block| block.start_ns) && own.is_sorted_by_key(|block| block.end_ns);
        if ends != Some((rank.begin_ns, rank.end_ns)) || !rises {
            return false;
        }
        (rest, at) = (behind, at + rank.blocks);
    }
    rest.is_empty()
}
