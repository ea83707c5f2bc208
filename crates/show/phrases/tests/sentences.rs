//! Every variant of what analysis gives, in words: `snapshots/` shows all of them, and a variant without a sample does not
//! compile.

// Each test takes what it needs.
#[allow(dead_code)]
mod samples;

use kizami_explain::{
    Cause, Consumer, Diagnosis, Disease, Finding, Gain, Idea, Loss, LossKind, NothingFound, Rows, SourceLine,
    ThreadCount, Who,
};
use kizami_model::Length;
use kizami_phrases::{finding, idea, loss, nothing};
use kizami_whatif::EagerLimit;
use samples::{at, check, finding_of, named, unknown};

/// One of each disease.
fn diagnosis(disease: Disease) -> Diagnosis {
    let who = named(&[3]);
    let rows = Rows { most_bytes: 64, calls: 1_000, rows: 96 };
    match disease {
        Disease::Imbalance => Diagnosis::Imbalance { who },
        Disease::MovingImbalance => Diagnosis::MovingImbalance { who: Who::InTurns },
        Disease::GrowingImbalance => Diagnosis::GrowingImbalance { who },
        Disease::RareImbalance => Diagnosis::RareImbalance { who, times: 4, iterations: 100 },
        Disease::RandomImbalance => Diagnosis::RandomImbalance { who: Who::InTurns },
        Disease::TaskFarmTail => Diagnosis::TaskFarmTail { workers: 8 },
        Disease::LateStart => Diagnosis::LateStart { who },
        Disease::LateReceiver => Diagnosis::LateReceiver { who },
        Disease::WrongOrder => Diagnosis::WrongOrder {},
        Disease::PipelineFill => Diagnosis::PipelineFill { who },
        Disease::SerialisedSection => Diagnosis::SerialisedSection { most_bytes: 4 },
        Disease::NeedlessBarrier => Diagnosis::NeedlessBarrier {},
        Disease::NeedlessCollective => Diagnosis::NeedlessCollective { of: 2 },
        Disease::SerialisedIo => Diagnosis::SerialisedIo { who },
        Disease::CollectionLoop => Diagnosis::CollectionLoop { sends: false, partners: 7, times: 20 },
        Disease::RepeatedCommunicator => Diagnosis::RepeatedCommunicator { times: 100 },
        Disease::LateRoot => Diagnosis::LateRoot { who },
        Disease::TinyCollectives => Diagnosis::TinyCollectives { rows },
        Disease::SmallMessages => Diagnosis::SmallMessages { rows },
        Disease::SlowRanks => {
            Diagnosis::SlowRanks { who, host: Some("node7".to_owned()), factor_percent: 140 }
        }
        Disease::LockContention => Diagnosis::LockContention { who },
        Disease::SystemNoise => Diagnosis::SystemNoise { ranks: 4 },
        Disease::HotReceiver => Diagnosis::HotReceiver { who, percent: 70 },
        Disease::Alltoall => Diagnosis::Alltoall {},
        Disease::SlowCall => Diagnosis::SlowCall { who },
        Disease::Transfer => Diagnosis::Transfer {},
        Disease::ThreadImbalance => Diagnosis::ThreadImbalance { threads: 4 },
        Disease::ThreadWaits => Diagnosis::ThreadWaits { threads: 4 },
        Disease::ThreadLocks => Diagnosis::ThreadLocks { threads: 4 },
        Disease::FewThreads => Diagnosis::FewThreads { threads: 4 },
        Disease::SerialPart => Diagnosis::SerialPart { threads: 4 },
        Disease::TaskChain => Diagnosis::TaskChain {
            span_ns: 100_000_000,
            work_ns: 400_000_000,
            threads: 8,
            tasks: Some(at(51)),
        },
    }
}

fn of(disease: Disease) -> Finding {
    use Disease::{LateStart, SerialisedIo, SlowCall};
    let cause = match disease {
        LateStart => Cause::Start,
        SlowCall | SerialisedIo => Cause::Call,
        _ => Cause::Computation,
    };
    finding_of(diagnosis(disease), cause)
}

#[test]
fn every_disease_has_a_sentence_an_advice_and_an_idea() {
    let lines = |disease: &Disease| {
        let finding_of = of(*disease);
        [
            format!("{disease:?}"),
            format!("  {}", finding::sentence(&finding_of)),
            format!("  {}", finding::advice(*disease)),
            format!("  what if: {}", idea::sentence(&Idea::Fix(Box::new(finding_of)))),
        ]
    };
    let lines: Vec<String> = Disease::ALL.iter().flat_map(lines).collect();
    check("diseases", &lines);
}

/// What differs with who did it, how many waited, and what is known of the place.
#[test]
fn findings_name_ranks_place_and_waiters() {
    let imbalance = |who: Who| finding_of(Diagnosis::Imbalance { who }, Cause::Computation);
    let one = imbalance(named(&[0]));
    let everywhere = SourceLine { function: "main".to_owned(), ..at(42) };
    let nowhere = SourceLine::in_function("step");
    let in_solve = |line| SourceLine { function: "solve".to_owned(), ..at(line) };
    let from = |line, caller| SourceLine { caller: Some(Box::new(in_solve(caller))), ..at(line) };
    let late = |ranks: &[u32]| finding_of(Diagnosis::LateReceiver { who: named(ranks) }, Cause::Call);
    let sends = Diagnosis::CollectionLoop { sends: true, partners: 7, times: 1 };
    let lock = |who| finding_of(Diagnosis::LockContention { who }, Cause::Call);
    let findings = [
        imbalance(named(&[1, 2])),
        imbalance(named(&[0, 1, 2, 5, 7])),
        imbalance(Who::Many(20)),
        imbalance(Who::InTurns),
        Finding { waiting_ranks: 1, ..one.clone() },
        Finding { waiting_in: None, ..one.clone() },
        Finding { region: Some("pressure".to_owned()), ..one.clone() },
        Finding { within: Some([in_solve(93), in_solve(126)]), ..one.clone() },
        Finding { within: Some([in_solve(126), in_solve(126)]), ..one.clone() },
        Finding { place: from(42, 126), ..one.clone() },
        Finding {
            place: nowhere.clone(),
            within: Some([SourceLine::in_function("solve"), SourceLine::in_function("solve")]),
            ..one.clone()
        },
        Finding { after: None, ..one.clone() },
        Finding { after: Some(at(42)), ..one.clone() },
        Finding { place: everywhere, ..one.clone() },
        Finding { place: nowhere.clone(), after: Some(nowhere), ..one },
        finding_of(Diagnosis::LateStart { who: Who::Many(9) }, Cause::Start),
        finding_of(Diagnosis::PipelineFill { who: Who::InTurns }, Cause::Computation),
        finding_of(Diagnosis::SlowCall { who: named(&[0, 1]) }, Cause::Call),
        lock(named(&[0, 1])),
        late(&[0, 1]),
        Finding { waiting_ranks: 1, ..late(&[0]) },
        Finding { waiting_in: None, ..late(&[0]) },
        Finding { ranks: vec![0, 1], ..finding_of(Diagnosis::WrongOrder {}, Cause::Call) },
        Finding { waiting_ranks: 1, ..finding_of(Diagnosis::NeedlessBarrier {}, Cause::Call) },
        finding_of(sends, Cause::Call),
    ];
    check("findings", &findings.iter().map(finding::sentence).collect::<Vec<_>>());
}

#[test]
fn ideas() {
    let ideas = [
        Idea::Threads(ThreadCount::Times(2.0)),
        Idea::Threads(ThreadCount::Exactly(8)),
        Idea::WithoutLoss(LossKind::Locks, at(9)),
        Idea::Balance(at(42)),
        Idea::Halve(at(42)),
        Idea::HalveBelow("cg_solve".to_owned()),
        Idea::IdealNetwork,
        Idea::HalfTheLatency,
        Idea::TwiceTheBandwidth,
        Idea::Overlap(at(42)),
        Idea::EagerLimit(EagerLimit { bytes: 1 << 20 }),
        Idea::Fix(Box::new(finding_of(Diagnosis::LockContention { who: named(&[3]) }, Cause::Call))),
    ];
    check("ideas", &ideas.iter().map(idea::sentence).collect::<Vec<_>>());
}

#[test]
fn losses_of_threads() {
    let kinds = [
        LossKind::Imbalance,
        LossKind::InRegion,
        LossKind::Locks,
        LossKind::FewerThreads,
        LossKind::Serial,
        LossKind::IdleInMpi,
        LossKind::Mpi,
        LossKind::Away,
        LossKind::Tracer,
    ];
    let call = Some("MPI_Waitall".to_owned());
    let lost = |kind, place| Loss {
        kind,
        place,
        call: call.clone(),
        ns: 1,
        gain: None,
        at_most: false,
        option: None,
    };
    let both = |lost: Loss| {
        let mended = lost.kind.fix(&lost.place);
        let without = mended.map(|_| idea::sentence(&Idea::WithoutLoss(lost.kind, lost.place.clone())));
        let without = without.map(|words| format!("  what if: {words}"));
        std::iter::once(loss::sentence(&lost)).chain(without)
    };
    let of_kinds = kinds.into_iter().map(|kind| lost(kind, at(9)));
    let lines: Vec<String> = of_kinds.chain([lost(LossKind::Serial, unknown())]).flat_map(both).collect();
    check("losses", &lines);
}

#[test]
fn runs_without_findings() {
    let (share, function) = (0.314, "MPI_Allreduce".to_owned());
    let consumer = |computes, share| Consumer { computes, function: function.clone(), place: at(42), share };
    let consumers = vec![consumer(true, 0.55), consumer(false, 0.4)];
    let mut likeliest = finding_of(diagnosis(Disease::Imbalance), Cause::Computation);
    likeliest.gain = Some(Gain::of(Length(1_000_000), Length(900_000), Some(Length(200_000)), 0.0));
    let all = [
        NothingFound::NoCalls,
        NothingFound::WaitingWithoutCause {
            share,
            likeliest: None,
            lacks_cores: false,
            reconstructed: false,
            consumers: Vec::new(),
        },
        NothingFound::WaitingWithoutCause {
            share,
            likeliest: Some(Box::new(likeliest.clone())),
            lacks_cores: false,
            reconstructed: false,
            consumers: consumers.clone(),
        },
        NothingFound::WaitingWithoutCause {
            share,
            likeliest: Some(Box::new(likeliest)),
            lacks_cores: false,
            reconstructed: true,
            consumers: Vec::new(),
        },
        NothingFound::Unknown {
            share,
            function: function.clone(),
            place: at(42),
            consumers: consumers.clone(),
        },
        NothingFound::LongCalls { share, function: function.clone(), place: Some(at(42)), consumers },
        NothingFound::LongCalls { share, function, place: None, consumers: Vec::new() },
        NothingFound::HardlyAnyWaiting,
    ];
    check("nothing", &all.iter().map(nothing::sentence).collect::<Vec<_>>());
}
