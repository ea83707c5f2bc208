//! Tasks that were only counted: they are recorded as a number, and what they ran is their thread's in its region.

use kizami_records::threading::{Runtime, TaskName, ThreadEvent, WaitFor};
use kizami_threads::{Followed, Listener, Need, Piece, RegionRun, Settings, ThreadInput, follow};
use std::convert::Infallible;

#[derive(Default)]
struct Collected {
    pieces: Vec<Piece>,
    regions: Vec<RegionRun>,
}

impl Listener for Collected {
    type Error = Infallible;

    fn piece(&mut self, piece: &Piece, _needs: &[Need]) -> Result<(), Infallible> {
        self.pieces.push(*piece);
        Ok(())
    }

    fn region(&mut self, region: &RegionRun) -> Result<(), Infallible> {
        self.regions.push(*region);
        Ok(())
    }
}

fn collect(threads: Vec<Vec<(u64, ThreadEvent)>>) -> (Followed, Collected) {
    let input = |(stream, events): (usize, Vec<(u64, ThreadEvent)>)| ThreadInput {
        stream: stream as u32,
        is_first: stream == 0,
        record_cost: 0,
        absences: Vec::new(),
        events: events.into_iter(),
    };
    let mut collected = Collected::default();
    let inputs = threads.into_iter().enumerate().map(input).collect();
    let Ok(followed) = follow(inputs, Settings::default(), &mut collected);
    (followed, collected)
}

#[test]
fn what_is_recorded_stays_whole_and_what_is_counted_is_no_idle_time() {
    use ThreadEvent::*;
    let region = |site| Region { site, region: 1, runtime: Runtime::Gnu };
    let task = TaskName { stream: 0, number: 0 };
    // The first thread makes a task that is recorded and, from 30 on, five that are not. Both threads run some of those
    // while their shares wait, the second one also when its share has ended.
    let first = vec![
        (0, Anew { at_ticks: 0, created: 0 }),
        (10, region(3)),
        (10, Share { index: 0, region: 1 }),
        (20, Create { site: 4 }),
        (30, Counted { tasks: 1, running: 0 }),
        (40, Wait { what: WaitFor::Children, site: 5 }),
        (70, Counted { tasks: 4, running: 25 }),
        (70, Waited(WaitFor::Children)),
        (80, ShareEnd),
        (95, Counted { tasks: 0, running: 10 }),
        (100, RegionEnd),
        (110, Leave),
    ];
    let second = vec![
        (10, Anew { at_ticks: 10, created: 0 }),
        (12, Share { index: 1, region: 1 }),
        (22, Wait { what: WaitFor::Barrier, site: 5 }),
        (24, Begin(task)),
        (34, End),
        (60, Counted { tasks: 0, running: 20 }),
        (62, Waited(WaitFor::Barrier)),
        (64, ShareEnd),
        (90, Counted { tasks: 0, running: 15 }),
        (120, Leave),
    ];
    let (followed, collected) = collect(vec![first, second]);
    assert_eq!((followed.strange, followed.orphans), (0, 0));
    assert_eq!(followed.counted, kizami_threads::Counted { tasks: 5, running: 70, since: Some(30) });
    let [run] = &collected.regions[..] else { panic!("{:?}", collected.regions) };
    assert_eq!(run.tasks, 6);
    // The first: 30 before it waits, 25 and 10 of counted tasks, 10 after. The second: 10, 2 and the task's 10, and 35.
    assert_eq!((run.running, run.longest), (75 + 57, 75));
    assert_eq!(collected.pieces.iter().map(|piece| piece.running).sum::<u64>(), 20 + 40 + 12 + 10);
}
