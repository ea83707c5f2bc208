//! Times of the tasks that others may still refer to. A page is dropped when nothing refers to its tasks any more.

use kizami_model::{Length, Moment};

/// Tasks of a page.
const PAGE: usize = 256;

/// What is known of a task that others may need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub start: Moment,
    pub end: Moment,
    /// How long it ran, with what recording took.
    pub running: Length,
    /// When it starts if nothing is noticed at once.
    pub burdened: Moment,
}

/// The last task that speaks of any task of each page.
#[derive(Debug)]
pub(super) struct LastUses(Vec<u32>);

impl LastUses {
    /// Of so many tasks.
    pub(super) fn new(tasks: usize) -> LastUses {
        LastUses(vec![0; tasks.div_ceil(PAGE)])
    }

    /// A task speaks of another. Tasks come in their order.
    #[inline]
    pub(super) fn spoken_of(&mut self, of: usize, by: usize) {
        let last = &mut self.0[of / PAGE];
        *last = (*last).max(by as u32);
    }

    /// The pages, those first that go first.
    fn in_order(self) -> Vec<(u32, u32)> {
        // None goes before its own tasks have come.
        let own = |page: u32| (page + 1) * PAGE as u32 - 1;
        let mut order: Vec<(u32, u32)> =
            self.0.into_iter().zip(0..).map(|(last, page)| (last.max(own(page)), page)).collect();
        order.sort_unstable();
        order
    }
}

/// Times of tasks, in pages.
pub(super) struct Live {
    pages: Vec<Option<Box<[Times; PAGE]>>>,
    /// Pages with the last task that speaks of them, and how many of them have gone; nothing if all are kept.
    order: Vec<(u32, u32)>,
    gone: usize,
    /// Pages to be used again.
    spare: Vec<Box<[Times; PAGE]>>,
    now: usize,
    peak: usize,
}

impl Live {
    /// Without last uses, all are kept.
    pub(super) fn new(uses: Option<LastUses>) -> Live {
        let order = uses.map_or(Vec::new(), LastUses::in_order);
        Live { pages: Vec::new(), order, gone: 0, spare: Vec::new(), now: 0, peak: 0 }
    }

    /// Of an earlier task; none if it has been dropped.
    #[inline]
    pub(super) fn get(&self, task: usize) -> Option<&Times> {
        Some(&self.pages.get(task / PAGE)?.as_ref()?[task % PAGE])
    }

    /// Of the next task.
    #[inline]
    pub(super) fn push(&mut self, task: usize, times: Times) {
        if task.is_multiple_of(PAGE) {
            self.next_page(task);
        }
        if let Some(Some(page)) = self.pages.last_mut() {
            page[task % PAGE] = times;
        }
    }

    #[cold]
    fn next_page(&mut self, task: usize) {
        while let Some((last, page)) = self.order.get(self.gone)
            && (*last as usize) < task
        {
            self.spare.extend(self.pages.get_mut(*page as usize).and_then(Option::take));
            self.gone += 1;
            self.now -= 1;
        }
        let page = self.spare.pop().unwrap_or_else(|| Box::new([Times::default(); PAGE]));
        self.pages.push(Some(page));
        self.now += 1;
        self.peak = self.peak.max(self.now);
    }

    /// The most tasks that were kept at once.
    pub(super) fn peak(&self) -> usize {
        self.peak * PAGE
    }
}
