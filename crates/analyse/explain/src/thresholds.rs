//! The thresholds that decide what is found, and in which order it is listed: all of them, in one place.
//!
//! Most were set together, while `workloads/truth` was written, so that its programs are named for what they are and
//! healthy ones for nothing; `bench/truth.py` judges them as a set, and the section "Accuracy of findings" in
//! `docs/src/guides/slow.md` has its figures. Where a field says "chosen", that number was never varied alone; vary it with
//! `bench/truth.py` before
//! you change it.
//!
//! Two things are decided before these apply: waits of less than a microsecond are added up but blamed on
//! no rank (`kizami_blame`: they are of the order of the call itself), and how far a gain may be off (`kizami_whatif::Gain`).
//! Limits that only bound memory or time stay with the code that they bound.

use kizami_model::Length;

/// What decides findings. Shares are parts of the run, or of the time of all ranks where that is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    // What is listed.
    /// A finding is listed only if it gains this part of the run, and more than its error. The errors of gains start from one
    /// per cent of the run (what no replay knows), so that less could not be distinguished from nothing.
    pub least_gain: f64,
    /// The same for ranks that compute longer in turn, without any order: they differ a little in every run. Chosen;
    /// at 5 % no healthy program of `workloads/truth` has such a finding under SMPI.
    pub least_gain_by_chance: f64,
    /// The same for calls that take long by themselves: every run communicates. Chosen, as above.
    pub least_gain_of_transfer: f64,

    /// Ranks that lack a core for this part of their time are told of before everything else. Chosen: on two cores that
    /// nothing else uses, two ranks lack one for less than 1 % of their time.
    pub least_without_core: f64,

    /// It is said if a hypervisor took this part of the time of the cores. Chosen, as much as two runs commonly differ.
    pub least_stolen: f64,

    // What is looked at.
    /// Causes of waiting that are replayed, those that cost most. Eight lanes of a replay are one walk: seven and the run
    /// on an ideal network.
    pub most_causes: usize,
    /// Blame for less than this part of the time of all ranks is not replayed. Chosen: a fifth of the least gain that is
    /// listed.
    pub worth_replaying: f64,
    /// Places that are looked at for needless barriers, wrong orders and transfer, each. Chosen, for the time of replays.
    pub most_places: usize,
    /// Less time in calls at a place beyond waiting, as a part of the time of all ranks, is not looked at as transfer.
    /// Chosen, below what must be gained.
    pub least_in_calls: f64,
    /// Less waiting in a wrong order than this part of the time of one rank is not looked at. Chosen, as the least gain.
    pub least_waiting_of_a_rank: f64,

    // What comes first.
    /// Weight of what is fixed easily. Chosen: of two ways to look at the same waiting that gain about the same,
    /// the one that is easier to act on comes first.
    pub easily_fixed: f64,
    /// A loop in which one rank serves all others is weighed by this: what it costs is found in other ways as well, which
    /// do not say what to do. Chosen.
    pub loop_of_one: f64,
    /// Weight of gains that need an ideal network. Chosen.
    pub hardly_fixed: f64,
    /// Weight of what comes by chance: no rank in particular is to blame. Chosen.
    pub by_chance: f64,

    // Which of several explanations holds.
    /// Computation that others wait for is that of a pipeline if smaller blocks gain so many times as much as anything
    /// else. Chosen, with the next.
    pub surely_instead: f64,
    /// And gain this part of the run.
    pub least_gain_instead: f64,
    /// Messages of at most so many bytes are no blocks of a pipeline. Chosen: eight numbers.
    pub token_bytes: u64,
    /// Into how many pieces blocks of a pipeline are cut in the replay. Chosen: with eight, seven eighths of what could be
    /// gained by ever smaller ones are. Programs of `workloads/truth` that are fixed with more are off by a few points.
    pub pieces: u32,
    /// If more than this part of all channels has one that goes the other way, no rank is behind: neighbours exchange.
    /// Chosen: most of them.
    pub mutual_channels: f64,
    /// Parts of an iteration cancel if this part of the waiting between them is gone where ranks do not meet there. Chosen: of
    /// the waiting for random work, less than a third goes where two parts become one, and a half where four do.
    pub most_cancels: f64,
    /// Waiting is for computation if that explains this part of it. Chosen: half of it.
    pub explained_by_computation: f64,
    /// If spreading work gains less than this part of what it gains if it is gone, spreading does not help. Chosen.
    pub spreading_helps: f64,

    // Who is to blame.
    /// Ranks, or stretches of ranks, that are named one by one. Chosen: as many as are read at a glance.
    pub few_ranks: usize,
    /// Ranks that post a receive late and are named one by one. Chosen.
    pub few_receivers: usize,
    /// Ranks that have this part of the blame together are named. Chosen.
    pub most_of_the_blame: f64,
    /// And those that have this part of what the last of them has: ranks with equal parts are alike, and tests hold real runs
    /// to naming all of them. The part itself is chosen.
    pub hardly_less: f64,
    /// More than a few ranks are late together if this part of them has yet to come while others wait, on average. Of those
    /// who take turns about a third has.
    pub late_together: f64,
    /// So are they if each is late in this part of the iterations with late ranks. Chosen.
    pub late_mostly: f64,
    /// If more than this part of the ranks is to blame, the work must be done by someone, and the gain is that of spreading
    /// it. Chosen.
    pub few_of_the_ranks: f64,

    // Ranks that are slower everywhere.
    /// The mean excess of a rank over parts of the run exceeds its standard error so many times. Chosen: in 32 parts, of ten
    /// thousand ranks whose computation differs by chance, two do.
    pub surely_slow: f64,
    /// If so many of all ranks are slower, the others are faster. Chosen.
    pub too_many_are_slow: f64,
    /// If one place has this part of the excess, it is an imbalance there. Chosen.
    pub at_one_place: f64,
    /// Ranks are slow jointly if that gains so many times as much as anything that says a part of it. Chosen.
    pub surely_joint: f64,

    // How long computation usually is.
    /// The shortest part of all stretches at a place is its baseline. Chosen.
    pub shortest_part: f64,
    /// Computation that a smaller part of the ranks has is that of those who do something else, and has no baseline. Chosen.
    pub baseline_ranks: f64,
    /// Iterations that are looked back for where time was lost first: marks may be set by the first of all ranks, so that
    /// an iteration spans two of them.
    pub iterations_back: usize,

    // How imbalance is spread over the run.
    /// Runs with fewer iterations do not show it. Chosen.
    pub fewest_iterations: usize,
    /// What is found in a smaller part of the iterations is rare: fewer than a third, as the book has it.
    pub rare: f64,
    /// What is so many times as much in the last third of a run as in the first grows, as the book has it.
    pub growing: f64,
    /// And if the middle third has less than so many times the last. Chosen: what is at its worst in the middle moves.
    pub growing_middle: f64,
    /// And if it is found in more than this part of the last third: what comes now and then comes in all thirds.
    pub growing_in_last_third: f64,
    /// If less than this part of the stretches at a place is too long, ranks are interrupted there now and then. Chosen.
    pub interrupted: f64,
    /// A rank that is late so many times in a row on average stays for some time: the imbalance moves. Chosen.
    pub stays: f64,
    /// So does one where this part of those who are late follows its neighbour. Chosen.
    pub in_order: f64,
    /// But only with more ranks than this: of fewer, most are neighbours.
    pub in_order_beyond_rank: u32,
    /// Iterations with less than this part of what is usually too long do not count. Chosen.
    pub worth_counting: f64,

    // Calls that follow each other closely.
    /// What has more bytes is not small. Chosen, below the eager limits that MPI libraries start from.
    pub small_bytes: u64,
    /// So many collectives in a row are worth joining. Chosen: two may have different reasons.
    pub fewest_collectives: usize,
    /// So many messages in a row are. Chosen: neighbours in three dimensions exchange six at a time.
    pub fewest_messages: usize,
    /// Calls follow each other closely if no more than this is computed between them. Chosen: as long as a short call.
    pub hardly_any: Length,
    /// Or no more than the call takes, divided by this. Chosen.
    pub close_part: i64,

    // Loops in which one rank serves all others.
    /// Fewer partners are served one by one for good reason. Chosen: a collective would take two steps for three.
    pub fewest_partners: usize,
    /// At least this part of the other ranks is served. Chosen: else they are neighbours.
    pub most_of_the_ranks: f64,

    // All-to-all exchanges.
    /// Ranks that receive so many times the mean receive far more than the others. Chosen: sums of random sizes differ by less.
    pub far_more_received: f64,
    /// A hot receiver explains an exchange if an even one gains this part of what no transfer at all would. Chosen.
    pub hot_receiver_explains: f64,

    /// A rank that computes less than this part of what its partners do on average hands out tasks. Chosen.
    pub master_computes: f64,

    // Loops of the program, by whose iterations noise and imbalance are judged.
    /// Fewer repetitions are no loop. Chosen.
    pub fewest_repetitions: usize,
    /// Repetitions span this part of the run. Chosen: what is called in parts with little in common marks no loop.
    pub loop_spans: f64,
    /// Calls of a place make rows if, of what mostly lies between two of them, this part does. Chosen.
    pub row_part: i64,
    /// And so many of them are in one, on average. Chosen.
    pub fewest_in_a_row: usize,
    /// A loop has so many iterations that count, if there is one that has. Chosen, as the fewest iterations above.
    pub enough_iterations: f64,

    // Noise.
    /// Fewer blocks of iterations do not show how far blocks scatter. Chosen.
    pub fewest_blocks: usize,
    /// If more than this part of the time is in iterations that no other one is like, all of it is taken for noise. Chosen.
    pub most_alone: f64,

    // What is said without findings, and of ranks and threads.
    /// More than this part of all time is waiting for long. Chosen.
    pub long_waiting: f64,
    /// Calls that do not wait are mentioned from this part of all time on. Chosen.
    pub long_calls: f64,
    /// A rank whose computation is so many times the median, or that part of it, is far from the others. Chosen.
    pub outlier: f64,
    /// Losses of threads that are replayed: two walks of eight lanes.
    pub most_losses: usize,
    /// A loss of less than this part of the threads' time is not replayed: reports do not list less.
    pub least_loss: f64,
    /// Regions are limited by a chain of tasks if that is as long as this part of them. Chosen: most of it; otherwise it is how
    /// tasks are scheduled, or created, that takes time.
    pub least_chain: f64,

    // Ideas.
    /// Places whose computation is balanced or made faster, and as many whose waits are overlapped. Chosen.
    pub most_idea_places: usize,
    /// Less computation, waiting or loss than this part of all is no place for an idea. Chosen, as the least gain.
    pub least_idea: f64,
    /// A function with this part of all computation is the whole program. Chosen.
    pub nearly_all: f64,
}

/// Those that are used.
pub const THRESHOLDS: Thresholds = Thresholds {
    least_gain: 0.01,
    least_gain_by_chance: 0.05,
    least_gain_of_transfer: 0.05,
    least_without_core: 0.03,
    least_stolen: 0.03,
    most_causes: 7,
    worth_replaying: 0.002,
    most_places: 2,
    least_in_calls: 0.03,
    least_waiting_of_a_rank: 0.01,
    easily_fixed: 1.25,
    loop_of_one: 1.5,
    hardly_fixed: 0.6,
    by_chance: 0.2,
    surely_instead: 1.5,
    least_gain_instead: 0.1,
    token_bytes: 64,
    pieces: 8,
    mutual_channels: 0.5,
    most_cancels: 0.65,
    explained_by_computation: 0.5,
    spreading_helps: 0.3,
    few_ranks: 4,
    few_receivers: 8,
    most_of_the_blame: 0.8,
    hardly_less: 0.5,
    late_together: 0.75,
    late_mostly: 0.5,
    few_of_the_ranks: 0.25,
    surely_slow: 4.0,
    too_many_are_slow: 0.5,
    at_one_place: 0.8,
    surely_joint: 1.2,
    shortest_part: 0.1,
    baseline_ranks: 0.75,
    iterations_back: 2,
    fewest_iterations: 8,
    rare: 0.34,
    growing: 2.0,
    growing_middle: 1.5,
    growing_in_last_third: 0.5,
    interrupted: 0.1,
    stays: 2.5,
    in_order: 0.7,
    in_order_beyond_rank: 3,
    worth_counting: 0.1,
    small_bytes: 4 << 10,
    fewest_collectives: 3,
    fewest_messages: 8,
    hardly_any: Length(2_000),
    close_part: 4,
    fewest_partners: 3,
    most_of_the_ranks: 0.5,
    master_computes: 0.1,
    far_more_received: 2.0,
    hot_receiver_explains: 0.5,
    fewest_repetitions: 4,
    loop_spans: 0.5,
    row_part: 4,
    fewest_in_a_row: 8,
    enough_iterations: 8.0,
    fewest_blocks: 5,
    most_alone: 0.5,
    long_waiting: 0.05,
    long_calls: 0.1,
    outlier: 1.5,
    most_losses: 16,
    least_loss: 0.0005,
    least_chain: 0.7,
    most_idea_places: 4,
    least_idea: 0.01,
    nearly_all: 0.95,
};
