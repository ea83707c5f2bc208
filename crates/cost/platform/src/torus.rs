//! Tori of any number of dimensions. Hosts are numbered along the first dimension first; messages go all the way along
//! the first dimension, then along the second and so on, each the shorter way around.

use super::{LinkId, MOST_LEVELS, product};

/// Hosts along each dimension.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Torus(Vec<usize>);

impl Torus {
    /// None if there is nothing in it, or too much.
    pub fn new(dimensions: Vec<usize>) -> Option<Torus> {
        product(dimensions.iter().copied().chain([dimensions.len()]))?;
        (dimensions.len() <= MOST_LEVELS).then_some(Torus(dimensions))
    }

    pub fn dimensions(&self) -> &[usize] {
        &self.0
    }

    pub fn hosts(&self) -> usize {
        self.0.iter().product()
    }

    /// Each host has one to the next in every dimension.
    pub fn cables(&self) -> usize {
        self.hosts() * self.0.len()
    }

    pub fn route(&self, from: usize, to: usize, route: &mut Vec<LinkId>) {
        let mut host = from;
        let mut stride = 1;
        for (dimension, size) in self.0.iter().enumerate() {
            let (start, end) = (host / stride % size, to / stride % size);
            let ahead = (end + size - start) % size;
            // Half around is equally far both ways; SimGrid goes back only from the middle to 0.
            let forward = ahead <= size / 2 && !(start == size / 2 && end == 0);
            let mut at = start;
            while at != end {
                let next = if forward { (at + 1) % size } else { (at + size - 1) % size };
                let next_host = host - at * stride + next * stride;
                route.push(match forward {
                    true => LinkId::up(host * self.0.len() + dimension),
                    false => LinkId::down(next_host * self.0.len() + dimension),
                });
                (host, at) = (next_host, next);
            }
            stride *= size;
        }
    }
}
