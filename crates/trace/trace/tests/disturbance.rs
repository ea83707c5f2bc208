//! What the tracer took from a program is added up by kind.

use kizami_model::{Length, Moment, Rank, StopReason, ThreadIndex};
use kizami_trace::definitions::Stop;
use kizami_trace::disturbance::{Disturbance, Lost, RankLoss};

fn stop(reason: StopReason, length_ns: i64, late: Option<i64>) -> Stop {
    Stop {
        rank: Rank(0),
        thread: ThreadIndex(0),
        start: Moment(100),
        end: Moment(100 + length_ns),
        reason,
        late: late.map(Length),
        lost_calls: 0,
    }
}

#[test]
fn each_kind_has_its_sum_and_its_worst_rank() {
    let mut ranks = [RankLoss::new(0), RankLoss::new(1)];
    ranks[0].add_call(10, 1_000);
    ranks[1].add_call(10, 1_200);
    ranks[0].add_stop(&stop(StopReason::ChunkWait, 500, None));
    ranks[1].add_stop(&stop(StopReason::Suspended, 70, Some(-9)));
    ranks[1].add_stop(&stop(StopReason::ClockRound, 30, None));
    ranks[1].add_stop(&stop(StopReason::Paused, 1 << 40, None));
    let disturbance = Disturbance::of(&ranks);
    assert_eq!(disturbance.overhead, Lost { total_ns: 2_200, worst_rank: Some(1), worst_ns: 1_200 });
    assert_eq!(disturbance.spills, Lost { total_ns: 500, worst_rank: Some(0), worst_ns: 500 });
    assert_eq!(disturbance.suspensions.total_ns, 70);
    assert_eq!(disturbance.clock_rounds.total_ns, 30);
    assert_eq!(disturbance.all, Lost { total_ns: 2_800, worst_rank: Some(0), worst_ns: 1_500 });
    // 10 calls times (20 ns between ranks + 100 ns), and 9 ns late.
    assert_eq!(disturbance.error_ns, 1_209);
}

#[test]
fn nothing_lost_is_nothing_to_doubt() {
    let mut rank = RankLoss::new(0);
    rank.add_call(1_000, 0);
    assert_eq!(Disturbance::of(&[rank]), Disturbance::default());
    assert_eq!(Disturbance::of(&[]), Disturbance::default());
}
