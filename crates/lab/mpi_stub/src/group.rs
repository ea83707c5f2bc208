//! Groups: ordered sets of world ranks. That of all ranks takes no memory, however many there are.

use std::sync::Arc;

/// An ordered set of world ranks.
#[derive(Clone, Debug)]
pub enum Group {
    /// Ranks 0 to this, without it.
    All(u32),
    /// These.
    List(Arc<[u32]>),
}

impl PartialEq for Group {
    fn eq(&self, other: &Group) -> bool {
        match (self, other) {
            (Group::All(one), Group::All(two)) => one == two,
            (Group::List(one), Group::List(two)) if Arc::ptr_eq(one, two) => true,
            _ => self.size() == other.size() && self.iter().eq(other.iter()),
        }
    }
}

impl Eq for Group {}

impl Group {
    /// Of these ranks.
    pub fn of(ranks: Vec<u32>) -> Group {
        Group::List(ranks.into())
    }

    /// How many.
    #[inline]
    pub fn size(&self) -> u32 {
        match self {
            Group::All(size) => *size,
            Group::List(ranks) => ranks.len() as u32,
        }
    }

    /// The world rank at a place.
    #[inline]
    pub fn world(&self, place: u32) -> Option<u32> {
        match self {
            Group::All(size) => (place < *size).then_some(place),
            Group::List(ranks) => ranks.get(place as usize).copied(),
        }
    }

    /// The place of a world rank.
    pub fn place(&self, world: u32) -> Option<u32> {
        match self {
            Group::All(size) => (world < *size).then_some(world),
            Group::List(ranks) => ranks.iter().position(|rank| *rank == world).map(|place| place as u32),
        }
    }

    /// All world ranks in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.size()).map(|place| self.world(place).unwrap_or(0))
    }

    /// Those at these places.
    pub fn including(&self, places: &[u32]) -> Option<Group> {
        places.iter().map(|place| self.world(*place)).collect::<Option<Vec<u32>>>().map(Group::of)
    }

    /// All but those at these places.
    pub fn excluding(&self, places: &[u32]) -> Group {
        let out: std::collections::HashSet<u32> = places.iter().copied().collect();
        let kept = (0..self.size()).filter(|place| !out.contains(place));
        Group::of(kept.filter_map(|place| self.world(place)).collect())
    }

    /// All of this one, then those of the other that are not in it.
    pub fn union(&self, other: &Group) -> Group {
        let here: std::collections::HashSet<u32> = self.iter().collect();
        Group::of(self.iter().chain(other.iter().filter(|rank| !here.contains(rank))).collect())
    }

    /// Those that are in the other, too (or are not).
    pub fn shared(&self, other: &Group, wanted: bool) -> Group {
        let there: std::collections::HashSet<u32> = other.iter().collect();
        Group::of(self.iter().filter(|rank| there.contains(rank) == wanted).collect())
    }

    /// The places that ranges (first, last, step) name.
    pub fn places_of(ranges: &[[i32; 3]]) -> Vec<u32> {
        let mut places = Vec::new();
        for [first, last, step] in ranges {
            let mut place = *first;
            while *step != 0 && ((*step > 0 && place <= *last) || (*step < 0 && place >= *last)) {
                places.push(place as u32);
                place += step;
            }
        }
        places
    }
}
