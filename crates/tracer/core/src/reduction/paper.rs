//! The scheme of Kamoshida and Taura, to compare with: a thread collects a window of calls, and writes down those it draws.
//!
//! What is drawn, and how, is `kizami_reduce::summary::paper`; here are the packed calls, in memory that is had when the thread
//! starts. Nothing else is known of calls, and what is in the window when the process is killed is lost: that is the scheme.
//!
//! No lock, no system call and no allocation, neither when a call is added nor when calls are drawn.

use super::Owner;
use crate::settings::Keep;
use kizami_records::{CallRecord, SampledBatch};
use kizami_reduce::summary::draw::Series;
use kizami_reduce::summary::paper::{Scheme, Windows};

/// A packed call: one slot or two, and zeros behind.
pub type Packed = [u64; kizami_reduce::summary::PAYLOAD_WORDS];

/// Calls that are collected, to draw from.
pub struct Window {
    windows: Windows,
    importance: u8,
    calls: Vec<Packed>,
    ns_per_tick: f64,
    /// Start of the first call and end of the last, in ticks since the segment's base.
    span_ticks: (u64, u64),
}

impl Window {
    /// An empty one with all its memory; none if there is not so much.
    pub fn create(keep: Keep, scheme: Scheme, owner: Owner) -> Option<Box<Window>> {
        let mut windows = Windows::new(scheme, Series::alone(keep.seed, owner.key).number(0));
        windows.reserve().ok()?;
        let mut calls = Vec::new();
        calls.try_reserve_exact(scheme.n).ok()?;
        Some(Box::new(Window {
            windows,
            importance: scheme.f.number(),
            calls,
            ns_per_tick: 1e9 / owner.ticks_per_second.max(1) as f64,
            span_ticks: (0, 0),
        }))
    }

    /// One that nobody draws from while at least so many calls are added, to learn what adding one costs.
    pub fn for_nobody(keep: Keep, scheme: Scheme, calls: usize) -> Option<Box<Window>> {
        let scheme = Scheme { n: scheme.n.max(calls + 1), ..scheme };
        Window::create(keep, scheme, Owner::NOBODY)
    }

    /// Adds a call. True if [`Window::draw`] is due.
    #[inline]
    pub fn add(&mut self, call: &CallRecord, packed: Packed) -> bool {
        if self.calls.is_empty() {
            self.span_ticks.0 = call.start_ticks;
        }
        self.span_ticks.1 = call.start_ticks + call.duration_ticks;
        self.calls.push(packed);
        self.windows.add(call.op.0, (call.duration_ticks as f64 * self.ns_per_tick) as u64)
    }

    /// Draws from what was collected and begins anew. Gives `append` what was collected, and then each packed call that was
    /// drawn. `rest` says that nothing more is to be expected.
    pub fn draw(
        &mut self,
        rest: bool,
        now_ticks: u64,
        mut append: impl FnMut(&SampledBatch, Option<&Packed>),
    ) {
        let (start_ticks, end_ticks) =
            if self.calls.is_empty() { (now_ticks, now_ticks) } else { self.span_ticks };
        let drawn = self.windows.draw();
        let window = SampledBatch {
            start_ticks,
            duration_ticks: end_ticks.saturating_sub(start_ticks),
            collected: self.calls.len() as u32,
            drawn: drawn.len() as u32,
            importance: self.importance,
            rest,
        };
        append(&window, None);
        let calls = drawn.iter().filter_map(|index| self.calls.get(*index as usize));
        calls.for_each(|call| append(&window, Some(call)));
        self.calls.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Amount;
    use kizami_model::Op;
    use kizami_reduce::summary::paper::Importance;

    /// Windows of 1,000 calls at 2 ticks a nanosecond.
    fn window() -> Box<Window> {
        let scheme = Scheme { f: Importance::H2, n: 1_000, x: 10 };
        let keep = Keep { amount: Amount::Fraction(0.01), seed: 3, paper: Some(scheme) };
        let owner = Owner { key: 5, ticks_per_second: 2_000_000_000, ..Owner::NOBODY };
        Window::create(keep, scheme, owner).expect("little memory")
    }

    fn drawn(window: &mut Window, rest: bool) -> (SampledBatch, Vec<u64>) {
        let mut found = (None, Vec::new());
        window.draw(rest, 77, |told, call| match call {
            None => found.0 = Some(*told),
            Some(call) => found.1.push(call[0]),
        });
        (found.0.expect("said first"), found.1)
    }

    #[test]
    fn windows_are_drawn_from_when_they_are_full() {
        let mut window = window();
        let place = window.calls.as_ptr();
        for number in 0..2_000 {
            // One call in 250 takes 2 ms, the others 600 ns: 1,200 ticks, which would be another decade.
            let duration_ticks = if number % 250 == 7 { 4_000_000 } else { 1_200 };
            let call = CallRecord::new(Op(3), number * 5_000_000, duration_ticks);
            let due = window.add(&call, [number, 0, 0, 0, 0, 0, 0, 0]);
            assert_eq!(due, number % 1_000 == 999);
            if due {
                let (told, calls) = drawn(&mut window, false);
                let first = number - 999;
                assert_eq!((told.collected, told.drawn, told.rest), (1_000, 10, false));
                assert_eq!((told.start_ticks, told.importance), (first * 5_000_000, 3));
                assert_eq!(told.duration_ticks, 999 * 5_000_000 + 1_200);
                assert!(calls.is_sorted() && calls.len() == 10);
                assert!([7, 257, 507, 757].iter().all(|long| calls.contains(&(first + long))));
            }
        }
        assert_eq!(window.calls.as_ptr(), place, "nothing was allocated");
    }

    #[test]
    fn what_is_left_is_drawn_from_in_proportion() {
        let mut window = window();
        for number in 0..340 {
            window.add(&CallRecord::new(Op(3), number, 1), [number; 8]);
        }
        let (told, calls) = drawn(&mut window, true);
        assert_eq!((told.collected, told.drawn, told.rest, calls.len()), (340, 3, true, 3));
        let (told, calls) = drawn(&mut window, true);
        assert_eq!((told.collected, told.start_ticks, told.duration_ticks, calls.len()), (0, 77, 0, 0));
    }
}
