//! What a run would gain if threads of its ranks lost less of their time, or were more: the run replayed with what its
//! ranks compute shorter where that is.

use crate::analysis::Analysis;
use crate::thresholds::THRESHOLDS;
use kizami_hybrid::{Loss, LossKind, Regions, Sharing, Spans, ThreadChange, Threads, changes};
use kizami_replay::{Pieces, Setting};
use kizami_trace::SourceLine;
use kizami_whatif::ThreadCount;

/// What is known of a run's threads.
#[derive(Clone, Debug)]
pub struct RunThreads {
    /// What became of their time.
    pub times: Threads,
    /// What they ran.
    pub regions: Regions,
    /// What tasks say of it.
    pub spans: Spans,
}

/// What is different, and how far that may be off.
pub(crate) type Without = (Setting, f64);

impl Analysis {
    /// Tells what the run would gain without what threads lost, by replaying it.
    pub fn gains_of_threads(&self, times: &mut Threads, regions: &Regions, spans: &Spans) {
        let all_ns = times.all_ns.max(1) as f64;
        let worth = |loss: &&mut Loss| loss.ns as f64 >= THRESHOLDS.least_loss * all_ns;
        let mut replayed: Vec<(&mut Loss, Without)> = times
            .losses
            .iter_mut()
            .filter(worth)
            .filter_map(|loss| Some((self.without_loss(regions, spans, loss)?, loss)))
            .map(|(without, loss)| (loss, without))
            .take(THRESHOLDS.most_losses)
            .collect();
        let settings: Vec<Setting> = replayed.iter().map(|(_, (setting, _))| setting.clone()).collect();
        let outcomes = self.replay_all(&settings.iter().collect::<Vec<_>>(), &|_| {});
        for ((loss, (_, doubt_ns)), outcome) in replayed.iter_mut().zip(outcomes) {
            let Some(fix) = loss.kind.fix(&loss.place) else { continue };
            let gain = self.gain(&outcome, *doubt_ns);
            loss.gain = Some(if fix.at_most { gain.of_a_best_case() } else { gain });
            (loss.at_most, loss.option) = (fix.at_most, fix.option);
        }
    }

    /// The run without a loss; none if it cannot be avoided.
    pub(crate) fn without_loss(&self, regions: &Regions, spans: &Spans, loss: &Loss) -> Option<Without> {
        loss.kind.fix(&loss.place)?;
        let sites = self.all_sites_of(&loss.place);
        if loss.kind == LossKind::IdleInMpi {
            let overlapped = sites.into_iter().flatten().map(|site| (site, Pieces::Endless)).collect();
            return Some((Setting { overlapped, ..Setting::default() }, 0.0));
        }
        let change = ThreadChange { without: vec![(loss.kind, sites)], ..ThreadChange::default() };
        Some(self.with_threads(regions, spans, &change))
    }

    /// The run with other threads, shared as they may be: as now, and the two ends of what is possible.
    pub(crate) fn with_thread_count(&self, threads: &RunThreads, count: ThreadCount) -> [Without; 3] {
        [Sharing::AsNow, Sharing::Evenly, Sharing::AsLong].map(|sharing| {
            let change = ThreadChange { threads: Some(count), sharing, without: Vec::new() };
            self.with_threads(&threads.regions, &threads.spans, &change)
        })
    }

    fn with_threads(&self, regions: &Regions, spans: &Spans, change: &ThreadChange) -> Without {
        let changed = changes(&self.graph, regions, spans, change);
        (Setting::of_steps(&self.graph, changed.steps), changed.doubt_ns)
    }

    /// All call sites that people name like this; none stands for what has no place.
    fn all_sites_of(&self, place: &SourceLine) -> Vec<Option<u32>> {
        let sites = (0..self.definitions.callsites.len() as u32).map(Some).chain([None]);
        sites.filter(|site| SourceLine::of(&self.definitions, *site) == *place).collect()
    }
}
