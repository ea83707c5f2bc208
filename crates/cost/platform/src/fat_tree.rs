//! Fat-trees of any number of levels, in the terms of SimGrid: on each level, how many children a switch has, how many
//! parents a node below has, and how many cables lie between the two.
//!
//! The way up is d-mod-k: the number of the destination chooses the parent, so that all messages to one host come down
//! the same way. The way down has only a choice of cable, which the source makes.

use super::{LinkId, MOST_LEVELS, product};

/// Parameters by level, from the hosts upwards.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FatTree {
    children: Vec<usize>,
    parents: Vec<usize>,
    cables: Vec<usize>,
}

impl FatTree {
    /// None if there is nothing in it, levels do not agree, or it is too large.
    pub fn new(children: Vec<usize>, parents: Vec<usize>, cables: Vec<usize>) -> Option<FatTree> {
        let levels = children.len();
        if !(1..=MOST_LEVELS).contains(&levels) || parents.len() != levels || cables.len() != levels {
            return None;
        }
        let tree = FatTree { children, parents, cables };
        // Every level of switches, and the ports below it, must be countable, too.
        for level in 0..levels {
            let (below, above) = (&tree.parents[..level], &tree.children[level..]);
            let nodes = below.iter().chain(above).copied();
            product(nodes.chain([tree.parents[level], tree.cables[level]]))?;
        }
        product(tree.children.iter().copied())?;
        // Each cable is two links.
        u32::try_from(2 * tree.cables()).is_ok().then_some(tree)
    }

    /// Two levels: switches with hosts, and one cable from each to every one of `uplinks` switches above.
    pub fn of_leaves(leaves: usize, hosts: usize, uplinks: usize) -> Option<FatTree> {
        FatTree::new(vec![hosts, leaves], vec![1, uplinks], vec![1, 1])
    }

    /// Leaves, hosts and uplinks of each, if it is of that kind.
    pub fn leaves(&self) -> Option<(usize, usize, usize)> {
        match (&self.children[..], &self.parents[..], &self.cables[..]) {
            (&[hosts, leaves], &[1, uplinks], [1, 1]) => Some((leaves, hosts, uplinks)),
            _ => None,
        }
    }

    pub fn hosts(&self) -> usize {
        self.children.iter().product()
    }

    pub fn cables(&self) -> usize {
        (0..self.children.len()).map(|level| self.nodes(level) * self.ports(level)).sum()
    }

    /// Children, parents and cables by level.
    pub fn levels(&self) -> [&[usize]; 3] {
        [&self.children, &self.parents, &self.cables]
    }

    /// How many nodes there are on a level; level 0 are the hosts.
    fn nodes(&self, level: usize) -> usize {
        self.parents[..level].iter().chain(&self.children[level..]).product()
    }

    /// Cables from a node to all its parents.
    fn ports(&self, level: usize) -> usize {
        self.parents[level] * self.cables[level]
    }

    /// The cable at a port of a node on a level.
    fn cable(&self, level: usize, node: usize, port: usize) -> usize {
        let below: usize = (0..level).map(|level| self.nodes(level) * self.ports(level)).sum();
        below + node * self.ports(level) + port
    }

    /// A node's digit on each level. Below its own level it says which of the parents it is, above which child.
    fn label(&self, level: usize, node: usize) -> Vec<usize> {
        let bases = self.parents[..level].iter().chain(&self.children[level..]);
        let mut left = node;
        bases
            .map(|base| {
                let digit = left % base;
                left /= base;
                digit
            })
            .collect()
    }

    /// The node with these digits.
    fn node(&self, level: usize, label: &[usize]) -> usize {
        let bases = self.parents[..level].iter().chain(&self.children[level..]);
        bases.rev().zip(label.iter().rev()).fold(0, |node, (base, digit)| node * base + digit)
    }

    pub fn route(&self, from: usize, to: usize, route: &mut Vec<LinkId>) {
        let destination = self.label(0, to);
        let mut label = self.label(0, from);
        let (mut level, mut choice) = (0, to);
        while label[level..] != destination[level..] {
            let port = choice % self.ports(level);
            route.push(LinkId::up(self.cable(level, self.node(level, &label), port)));
            choice /= self.parents[level];
            label[level] = port % self.parents[level];
            level += 1;
        }
        let mut last = None;
        while level > 0 {
            level -= 1;
            let child_port = self.port_down(level, destination[level], from, last);
            last = Some(child_port);
            let port = label[level] + child_port / self.children[level] * self.parents[level];
            label[level] = destination[level];
            route.push(LinkId::down(self.cable(level, self.node(level, &label), port)));
        }
    }

    /// A parent's port to its child. Ports of the first cables to all children come first, then those of the second.
    /// The source chooses the cable, but SimGrid 3.32 looks on from the `last` port that was taken, if a fitting one
    /// still comes.
    fn port_down(&self, level: usize, child: usize, from: usize, last: Option<usize>) -> usize {
        let children = self.children[level];
        let after = last.map(|last| last + 1 + (child + children - (last + 1) % children) % children);
        let chosen = from % self.cables[level] * children + child;
        after.filter(|port| *port < children * self.cables[level]).unwrap_or(chosen)
    }
}
