//! Which tasks must have ended before a task can begin, by the addresses that it and its siblings depend on.
//!
//! As runtimes do it: readers come after the last writers, writers after all readers since and the writers
//! before. Tasks that write as a set, or one at a time in any order, are unordered among themselves.

use crate::task::TaskSlot;
use kizami_records::threading::{Dependence, Purpose};
use rustc_hash::FxHashMap;

/// What the children of one task have done with an address.
#[derive(Debug, Default)]
struct Address {
    /// Who must have ended before the last writers.
    before: Vec<TaskSlot>,
    writers: Vec<TaskSlot>,
    /// How the writers write.
    purpose: Option<Purpose>,
    /// Who has read since.
    readers: Vec<TaskSlot>,
}

impl Address {
    /// Who a task that comes now must wait for, if it does this with the address. It is noted as the latest.
    /// `forget` is called with those that are not needed any more.
    fn add(
        &mut self,
        task: TaskSlot,
        purpose: Purpose,
        needs: &mut Vec<TaskSlot>,
        forget: &mut Vec<TaskSlot>,
    ) {
        if purpose == Purpose::In {
            needs.extend(&self.writers);
            self.readers.push(task);
            return;
        }
        let joins = purpose != Purpose::Out && self.purpose == Some(purpose) && self.readers.is_empty();
        if joins {
            needs.extend(&self.before);
            self.writers.push(task);
            return;
        }
        let writers = std::mem::replace(&mut self.writers, vec![task]);
        let readers = std::mem::take(&mut self.readers);
        // Readers have waited for the writers themselves.
        let (last, implied) = if readers.is_empty() { (writers, readers) } else { (readers, writers) };
        needs.extend(&last);
        forget.extend(implied);
        forget.append(&mut self.before);
        match purpose {
            Purpose::Out => forget.extend(last),
            _ => self.before = last,
        }
        self.purpose = Some(purpose);
    }

    fn all(self) -> impl Iterator<Item = TaskSlot> {
        self.before.into_iter().chain(self.writers).chain(self.readers)
    }
}

/// What the children of one task depend on.
#[derive(Debug, Default)]
pub(crate) struct Siblings {
    addresses: FxHashMap<u64, Address>,
}

/// What a new task means for others.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    /// Tasks that must have ended before it begins.
    pub needs: Vec<TaskSlot>,
    /// References to the new task that were made.
    pub references: u32,
    /// References that are no more.
    pub forgotten: Vec<TaskSlot>,
}

impl Siblings {
    /// A task with these dependences comes.
    pub(crate) fn add(&mut self, task: TaskSlot, dependences: &[Dependence]) -> Noted {
        let mut noted = Noted::default();
        let mut sorted: Vec<(u64, Purpose)> =
            dependences.iter().map(|one| (one.address, one.purpose)).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let same = sorted.chunk_by(|a, b| a.0 == b.0);
        for (address, purpose) in same.map(|group| match group {
            [one] => *one,
            // Who does several things with an address does all a writer does.
            several => (several[0].0, Purpose::Out),
        }) {
            let address = self.addresses.entry(address).or_default();
            address.add(task, purpose, &mut noted.needs, &mut noted.forgotten);
            noted.references += 1;
        }
        noted.needs.sort_unstable();
        noted.needs.dedup();
        noted
    }

    /// All references to tasks.
    pub(crate) fn into_references(self) -> impl Iterator<Item = TaskSlot> {
        self.addresses.into_values().flat_map(Address::all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_rng::SplitMix64;

    #[test]
    fn readers_writers_and_sets() {
        let mut siblings = Siblings::default();
        let mut add = |task, purpose| siblings.add(task, &[Dependence { address: 8, purpose }]).needs;
        assert_eq!(add(0, Purpose::In), []);
        assert_eq!(add(1, Purpose::Out), [0]);
        assert_eq!(add(2, Purpose::In), [1]);
        assert_eq!(add(3, Purpose::In), [1]);
        assert_eq!(add(4, Purpose::Set), [2, 3]);
        assert_eq!(add(5, Purpose::Set), [2, 3]);
        assert_eq!(add(6, Purpose::Exclusive), [4, 5]);
        assert_eq!(add(7, Purpose::Exclusive), [4, 5]);
        assert_eq!(add(8, Purpose::In), [6, 7]);
        assert_eq!(add(9, Purpose::Exclusive), [8]);
        assert_eq!(add(10, Purpose::Out), [9]);
        assert_eq!(add(11, Purpose::Out), [10]);
    }

    #[test]
    fn every_reference_is_forgotten_once() {
        let purposes = [Purpose::In, Purpose::Out, Purpose::Exclusive, Purpose::Set];
        let (mut siblings, mut held) = (Siblings::default(), vec![0i32; 500]);
        let mut random = SplitMix64::new(7);
        for task in 0..500u32 {
            let dependences: Vec<Dependence> = (0..random.below(4))
                .map(|_| Dependence { address: random.below(5), purpose: purposes[random.index(4)] })
                .collect();
            let noted = siblings.add(task, &dependences);
            assert!(!noted.needs.contains(&task));
            held[task as usize] += noted.references as i32;
            noted.forgotten.iter().for_each(|other| held[*other as usize] -= 1);
        }
        siblings.into_references().for_each(|other| held[other as usize] -= 1);
        assert!(held.iter().all(|held| *held == 0));
    }
}
