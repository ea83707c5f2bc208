//! Sequences folded into loops.
//!
//! Whenever the last few nodes are the same as those right before them, they become a loop, and a loop followed by its own body
//! goes round once more. Bodies may hold loops, so nests are found from the inside out. What is folded says exactly what the
//! sequence was; nothing is left out.

/// A call, or a loop of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// One call, by the number of what it does.
    Leaf(u32),
    /// Some nodes, so often.
    Loop(Vec<Node>, u64),
}

/// The longest body of a loop that is looked for.
const LONGEST_BODY: usize = 128;

/// Folds a sequence.
pub fn fold(sequence: &[u32]) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    for token in sequence {
        nodes.push(Node::Leaf(*token));
        while shorten(&mut nodes) {}
    }
    nodes
}

/// Folds the end of the list once, if it can be.
fn shorten(nodes: &mut Vec<Node>) -> bool {
    let count = nodes.len();
    for body in 1..=LONGEST_BODY.min(count.saturating_sub(1)) {
        let (before, last) = nodes.split_at(count - body);
        if let Some(Node::Loop(known, _)) = before.last()
            && known[..] == *last
        {
            nodes.truncate(count - body);
            if let Some(Node::Loop(_, rounds)) = nodes.last_mut() {
                *rounds += 1;
            }
            return true;
        }
        if before.len() >= body && before[before.len() - body..] == *last {
            let body = nodes.split_off(count - body);
            nodes.truncate(count - 2 * body.len());
            nodes.push(Node::Loop(body, 2));
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use Node::{Leaf, Loop};
    use kizami_rng::SplitMix64;

    fn unfold(nodes: &[Node]) -> Vec<u32> {
        let one = |node: &Node| match node {
            Leaf(token) => vec![*token],
            Loop(body, rounds) => unfold(body).repeat(*rounds as usize),
        };
        nodes.iter().flat_map(one).collect()
    }

    #[test]
    fn loops_and_nests_are_found() {
        assert_eq!(fold(&[1, 2, 2, 2, 3]), [Leaf(1), Loop(vec![Leaf(2)], 3), Leaf(3)]);
        let nest = [[7, 7, 8], [7, 7, 8], [7, 7, 8]].concat();
        assert_eq!(fold(&nest), [Loop(vec![Loop(vec![Leaf(7)], 2), Leaf(8)], 3)]);
        assert_eq!(fold(&[]), []);
    }

    #[test]
    fn nothing_is_lost() {
        let mut random = SplitMix64::new(7);
        for length in 0..200 {
            let sequence: Vec<u32> = (0..length).map(|_| random.below(4) as u32).collect();
            assert_eq!(unfold(&fold(&sequence)), sequence);
        }
    }
}
