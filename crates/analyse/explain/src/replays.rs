//! A run under other settings: on an ideal network, and without what is suspect.

use crate::diseases::Suspect;
use crate::outcome::{Outcome, Watch};
use crate::work_interval::Borders;
use kizami_graph::Graph;
use kizami_network::Fit;
use kizami_replay::{Network, Setting, Workers, replay_by};

/// What every replay of a run needs.
pub(crate) struct Replays<'a> {
    graph: &'a Graph,
    fit: &'a Fit,
    borders: &'a Borders,
    /// Steps that mark iterations, in order.
    marks: &'a [u64],
    workers: Workers,
}

impl<'a> Replays<'a> {
    /// Settings that are replayed in one walk.
    pub(crate) const MOST_LANES: usize = 8;

    pub(crate) fn new(
        graph: &'a Graph,
        fit: &'a Fit,
        borders: &'a Borders,
        marks: &'a [u64],
        workers: Workers,
    ) -> Replays<'a> {
        Replays { graph, fit, borders, marks, workers }
    }

    /// On an ideal network, and without each of two lists of suspects.
    pub(crate) fn ideal_and(
        &self,
        first: &[Suspect],
        then: &[Suspect],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Vec<Outcome> {
        let ideal = Setting { network: Network::Ideal, ..Setting::default() };
        let settings: Vec<&Setting> =
            [&ideal].into_iter().chain(without(first)).chain(without(then)).collect();
        self.all(&settings, progress)
    }

    /// Under any number of settings, in as few walks as possible.
    pub(crate) fn all(&self, settings: &[&Setting], progress: &(dyn Fn(u64) + Sync)) -> Vec<Outcome> {
        let recorded = Setting::default();
        let mut outcomes = Vec::with_capacity(settings.len());
        for batch in settings.chunks(Self::MOST_LANES) {
            // More lanes take more time, also if they are not used.
            match batch.len() {
                1 => outcomes.extend(self.walk([batch[0]], progress)),
                2..=4 => outcomes.extend(self.walk(lanes::<4>(batch, &recorded), progress)),
                _ => outcomes.extend(self.walk(lanes::<{ Replays::MOST_LANES }>(batch, &recorded), progress)),
            }
        }
        outcomes.truncate(settings.len());
        outcomes
    }

    fn walk<const LANES: usize>(
        &self,
        settings: [&Setting; LANES],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Vec<Outcome> {
        let watch = || Watch::new(self.borders, self.marks);
        let replayed = replay_by(self.graph, settings, self.fit, self.workers, watch, progress);
        Watch::outcomes(replayed.observers)
    }
}

fn without(suspects: &[Suspect]) -> impl Iterator<Item = &Setting> {
    suspects.iter().filter(|suspect| suspect.is_worth_replaying()).flat_map(Suspect::settings)
}

/// Settings for all lanes; those that are left over are as recorded.
fn lanes<'a, const LANES: usize>(settings: &[&'a Setting], recorded: &'a Setting) -> [&'a Setting; LANES] {
    std::array::from_fn(|lane| settings.get(lane).copied().unwrap_or(recorded))
}
