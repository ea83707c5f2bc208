//! Calls that a reader cannot tell apart become calls of one site: of the same function, on the same line, by the same lines
//! of all callers. Compilers copy calls where they inline and unroll, and recursion makes as many as it is deep; blame and
//! waiting that is divided among copies would hide below what is worth telling.

use crate::step::Step;
use kizami_model::Op;
use kizami_parallel::map;
use kizami_trace::Definitions;
use rustc_hash::FxHashMap;

/// Which function each call site calls.
#[derive(Default)]
pub(super) struct Called(Vec<Option<u16>>);

impl Called {
    pub(super) fn new(definitions: &Definitions) -> Called {
        Called(vec![None; definitions.callsites.len()])
    }

    /// Notes a call.
    #[inline]
    pub(super) fn note(&mut self, site: Option<u32>, op: Op) {
        if let Some(called) = site.and_then(|site| self.0.get_mut(site as usize)) {
            // A function pointer may call several: the least, whoever was noted first.
            *called = Some(called.map_or(op.0, |known| known.min(op.0)));
        }
    }

    /// Adds what another has noted.
    pub(super) fn join(&mut self, other: &Called) {
        for (called, theirs) in self.0.iter_mut().zip(&other.0) {
            *called = called.iter().chain(theirs).min().copied();
        }
    }

    /// Gives all steps the first site among those that are alike.
    pub(super) fn unite(self, definitions: &Definitions, steps: &mut [Step], threads: usize) {
        let mut first: FxHashMap<(u32, Option<u16>), u32> = FxHashMap::default();
        let alike = definitions.alike_sites();
        let united: Vec<u32> = (0..)
            .zip(alike.iter().zip(&self.0))
            .map(|(site, (alike, called))| *first.entry((*alike, *called)).or_insert(site))
            .collect();
        if (0..).zip(&united).all(|(site, first)| site == *first) {
            return;
        }
        let share = steps.len().div_ceil(threads.max(1)).max(1);
        map(steps.chunks_mut(share), |steps| {
            for step in steps {
                step.set_site(step.site().map(|site| united.get(site as usize).copied().unwrap_or(site)));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::StepKind;
    use kizami_model::Moment;
    use kizami_trace::CallSite;

    #[test]
    fn copies_of_a_call_are_united_and_calls_of_other_functions_are_not() {
        let site = |index: u32, line: u32| CallSite {
            index,
            offset: u64::from(index),
            module: None,
            function: "halo".to_owned(),
            file: Some("/src/halo.c".to_owned()),
            line: Some(line),
            inlined_into: Vec::new(),
            path: None,
        };
        let callsites = vec![site(0, 7), site(1, 9), site(2, 7), site(3, 7), site(4, 7)];
        let definitions = Definitions { callsites, ..Definitions::default() };
        let [send, receive] = ["MPI_Send", "MPI_Recv"].map(kizami_testing::op);
        let calls = [(0, send), (1, send), (2, receive), (3, send), (4, receive)];
        let (mut one, mut other) = (Called::new(&definitions), Called::new(&definitions));
        calls[..3].iter().for_each(|(site, op)| one.note(Some(*site), *op));
        calls[3..].iter().for_each(|(site, op)| other.note(Some(*site), *op));
        one.join(&other);
        let at = Moment(0);
        let step = |(site, op): &(u32, Op)| Step::new(at, at, *op, Some(*site), StepKind::Call);
        let mut steps: Vec<Step> = calls.iter().map(step).collect();
        one.unite(&definitions, &mut steps, 2);
        let sites: Vec<Option<u32>> = steps.iter().map(Step::site).collect();
        assert_eq!(sites, [Some(0), Some(1), Some(2), Some(0), Some(2)]);
    }
}
