//! All lanes of a walk, and which of them are *plain* at a step.
//!
//! Most settings change little: nearly everywhere a lane does with a step what the recorded run did with it, only earlier
//! or later. Such lanes are worked out together, by the same few additions, and what is different is looked up for the
//! others alone. Which those are is known by call site and by step before the walk begins.

use super::lane::Lane;
use crate::prefetch::prefetch;
use crate::setting::{Factor, Network, Setting};
use crate::step_changes::StepChanges;
use kizami_model::Length;
use kizami_network::Fit;

/// Some of the lanes, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LaneSet(u32);

impl LaneSet {
    /// Those whose setting is like that.
    fn of<const LANES: usize>(settings: &[&Setting; LANES], like: impl Fn(&Setting) -> bool) -> LaneSet {
        const { assert!(LANES <= u32::BITS as usize, "a lane has no bit") };
        let with = |set: u32, (lane, setting): (usize, &&Setting)| set | u32::from(like(setting)) << lane;
        LaneSet(settings.iter().enumerate().fold(0, with))
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(super) fn and(self, other: LaneSet) -> LaneSet {
        LaneSet(self.0 | other.0)
    }

    #[inline]
    pub(super) fn has(self, lane: usize) -> bool {
        self.0 >> lane & 1 != 0
    }

    /// Their numbers.
    #[inline]
    pub(super) fn each(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let lane = left.trailing_zeros() as usize;
            (left != 0).then(|| {
                left &= left - 1;
                lane
            })
        })
    }
}

/// Lanes in which something is different everywhere, and others in which it is at some call sites.
struct BySite {
    everywhere: LaneSet,
    /// With those everywhere; only as long as needed.
    sites: Vec<LaneSet>,
}

impl BySite {
    fn new<const LANES: usize>(
        settings: &[&Setting; LANES],
        everywhere: impl Fn(&Setting) -> bool,
        sites_of: impl Fn(&Setting) -> Vec<u32>,
    ) -> BySite {
        let everywhere = LaneSet::of(settings, everywhere);
        let mut sites = Vec::new();
        for (lane, setting) in settings.iter().enumerate() {
            for site in sites_of(setting) {
                let site = site as usize;
                sites.resize(sites.len().max(site + 1), everywhere);
                sites[site] = sites[site].and(LaneSet(1 << lane));
            }
        }
        BySite { everywhere, sites }
    }

    #[inline]
    fn at(&self, site: Option<u32>) -> LaneSet {
        match site.and_then(|site| self.sites.get(site as usize)) {
            Some(lanes) => *lanes,
            None => self.everywhere,
        }
    }
}

/// Lanes in which single steps are different.
struct ByStep {
    lanes: LaneSet,
    /// A bit for each step that is different in one of them.
    steps: Vec<u64>,
}

impl ByStep {
    fn new<const LANES: usize>(
        settings: &[&Setting; LANES],
        differs: impl Fn(&StepChanges) -> bool,
    ) -> ByStep {
        let changes = |setting: &&'_ Setting| setting.steps.clone().filter(|steps| differs(steps));
        let mut steps = Vec::new();
        for all in settings.iter().filter_map(changes) {
            let words = all.marks().words();
            steps.resize(steps.len().max(words.len()), 0);
            steps.iter_mut().zip(words).for_each(|(step, word)| *step |= word);
        }
        ByStep { lanes: LaneSet::of(settings, |setting| changes(&setting).is_some()), steps }
    }

    #[inline]
    fn at(&self, step: u64) -> LaneSet {
        let word = self.steps.get((step / 64) as usize);
        if word.is_some_and(|word| word >> (step % 64) & 1 != 0) { self.lanes } else { LaneSet::default() }
    }
}

/// The lanes of a walk.
pub(super) struct Lanes<const LANES: usize> {
    pub each: [Lane; LANES],
    /// Those with a model of the network.
    pub modelled: LaneSet,
    /// Those that hide waits behind computation.
    pub overlapping: LaneSet,
    /// Those in which the tracer's cost is taken out.
    pub without_tracer: LaneSet,
    gap_sites: BySite,
    gap_steps: ByStep,
    end_sites: BySite,
    end_steps: ByStep,
}

impl<const LANES: usize> Lanes<LANES> {
    pub(super) fn new(settings: [&Setting; LANES], fit: &Fit) -> Lanes<LANES> {
        let overlaps = |setting: &Setting| !setting.overlapped.is_empty();
        let travels_differently = |setting: &Setting| setting.network != Network::AsRecorded;
        let ends_differently = |setting: &Setting| {
            let Setting { left_out, posted_early, ideal_at, .. } = setting;
            left_out.iter().chain(posted_early).chain(ideal_at).copied().collect()
        };
        Lanes {
            each: settings.map(|setting| Lane::new(setting, fit)),
            modelled: LaneSet::of(&settings, |setting| {
                matches!(setting.network, Network::Model(_) | Network::Measured(_))
            }),
            overlapping: LaneSet::of(&settings, overlaps),
            without_tracer: LaneSet::of(&settings, |setting| setting.without_tracer),
            gap_sites: BySite::new(
                &settings,
                |setting| setting.cpu != Factor::default() || overlaps(setting),
                |setting| setting.places.keys().copied().collect(),
            ),
            gap_steps: ByStep::new(&settings, StepChanges::change_gaps),
            end_sites: BySite::new(
                &settings,
                |setting| {
                    travels_differently(setting) || setting.eager_limit_bytes.is_some() || overlaps(setting)
                },
                ends_differently,
            ),
            end_steps: ByStep::new(&settings, StepChanges::change_calls),
        }
    }

    /// Asks for the memory that says whether a step is different.
    #[inline]
    pub(super) fn fetch_marks(&self, step: u64) {
        for changes in [&self.gap_steps, &self.end_steps] {
            prefetch(&changes.steps, (step / 64) as usize, 1);
        }
        for lane in self.gap_steps.lanes.and(self.end_steps.lanes).each() {
            self.each[lane].fetch_marks(step);
        }
    }

    /// The same for what is different about it, or about the next one that is different.
    #[inline]
    pub(super) fn fetch_changes(&self, step: u64) {
        let lanes = self.gap_steps.lanes.and(self.end_steps.lanes);
        lanes.each().for_each(|lane| self.each[lane].fetch_changes(step));
    }

    /// Those in which the computation before a step, recorded to be so long, is not plain: it does not take what it took.
    #[inline]
    pub(super) fn with_other_gap(&self, site: Option<u32>, step: u64, gap: Length) -> LaneSet {
        let lanes = self.gap_sites.at(site).and(self.gap_steps.at(step));
        // Before a step that is different in any way, computation does not take less than no time.
        if gap < Length::ZERO { lanes.and(self.end_steps.at(step)) } else { lanes }
    }

    /// Those in which what calls at a place wait for is not plain: it is not as long on its way as it was.
    #[inline]
    pub(super) fn with_other_way(&self, site: Option<u32>) -> LaneSet {
        self.end_sites.at(site)
    }

    /// Those in which a step is not plain: it does not take what it took, from its start and from whom it waits for.
    #[inline]
    pub(super) fn with_other_end(&self, site: Option<u32>, step: u64) -> LaneSet {
        self.end_sites.at(site).and(self.end_steps.at(step))
    }
}
