// Made from the Rust types of the answers by a test of crates/show/view; see crates/show/view/src/server/typescript.rs.

/**
 * What is looked at, and how far the index is. Regions and hosts are those of the first trace.
 */
export type Run = { layers: Array<Layer>, hosts: Array<string>, functions: Array<string>,
/**
 * The category of each function.
 */
function_categories: Array<number>,
/**
 * Those that were called, by their place in `functions`.
 */
functions_used: Array<number>, regions: Array<string>, categories: Array<Look>, health: Health, index: IndexState, };

/**
 * A layer of the picture.
 */
export type Layer = { name: string, path_shown: string, span_ns: number,
/**
 * From the first rank that leaves `MPI_Init` to the last that comes to `MPI_Finalize`, where that is known: what
 * is shown first.
 */
work: [number, number] | null, ranks: number, threads: number, events: number,
/**
 * Calls that could not be stored.
 */
lost_calls: number, kind: LayerKind,
/**
 * How its times came to be, if it is no recording.
 */
note: string | null,
/**
 * How many kinds of rank there are, if it is told by them.
 */
kinds: number | null, callsites: Array<CallSite>,
/**
 * Whether it has tasks, and whether it has anything else.
 */
tasks: boolean, only_tasks: boolean,
/**
 * Whether what the links of its network carried is known.
 */
links: boolean,
/**
 * Whether its parallel regions are known, and so what its threads did.
 */
parallel: boolean, };

/**
 * How the times of a layer came to be, in the end.
 */
export type LayerKind = "recorded" | "undisturbed" | "replayed" | "virtual";

/**
 * A place calls are made from.
 */
export type CallSite = { id: number, function: string, file: string | null, line: number | null, };

/**
 * How a category is named and drawn.
 */
export type Look = {
/**
 * Name.
 */
name: string,
/**
 * Colour, as `#rrggbb`: told apart also by people who do not see all colours.
 */
colour: string, };

/**
 * Whether all was recorded.
 */
export type Health = { complete: boolean, problems: Array<string>, };

/**
 * How far the index is.
 */
export type IndexState = { ready: boolean, progress: number, };

/**
 * How many ranks compute over time.
 */
export type Parallelism = { from: number, to: number, kind: LayerKind, recorded: Array<number>, ideal: Array<number> | null,
/**
 * Why there is no `ideal`.
 */
note: string | null, };

/**
 * Collectives one by one.
 */
export type Collectives = { collectives: Array<Collective>, truncated: boolean, };

/**
 * One collective, as far as it is in the selection.
 */
export type Collective = {
/**
 * Index of the communicator.
 */
comm: number,
/**
 * Number of the function, as the first one called it.
 */
op: number,
/**
 * Ranks that take part.
 */
ranks: Array<number>,
/**
 * When each came.
 */
start: Array<number>,
/**
 * When each left.
 */
end: Array<number>, };

/**
 * The critical path.
 */
export type Path = { segments: Array<PathSegment>, truncated: boolean, };

/**
 * A stretch of the path on one rank.
 */
export type PathSegment = {
/**
 * Which.
 */
rank: number,
/**
 * From.
 */
start_ns: number,
/**
 * To.
 */
end_ns: number,
/**
 * What was done: a function or computation.
 */
what: string, };

/**
 * Where time goes.
 */
export type Tree = { nodes: Array<TreeNode>, };

/**
 * One node. Parents come before their children; the first is the run.
 */
export type TreeNode = {
/**
 * Its place in the list.
 */
id: number,
/**
 * Name of the region or function, or the place in the source.
 */
name: string,
/**
 * Node it is part of; none for the run.
 */
parent: number | null,
/**
 * Time in it, over all selected ranks.
 */
inclusive_ns: number,
/**
 * Time in it that is in none of its children.
 */
exclusive_ns: number,
/**
 * Stays in the region, or calls.
 */
calls: number,
/**
 * What it is.
 */
kind: NodeKind,
/**
 * Number of the function.
 */
op: number | null,
/**
 * Index of the place.
 */
site: number | null, };

/**
 * What a node is.
 */
export type NodeKind = "run" | "region" | "caller" | "function" | "callsite";

/**
 * Phases of the run.
 */
export type Phases = { phases: Array<Phase>, };

/**
 * A phase.
 */
export type Phase = {
/**
 * What it is.
 */
kind: PhaseKind,
/**
 * Name of the region.
 */
name: string,
/**
 * Which of the stays in it, counted from 0.
 */
instance: number,
/**
 * From.
 */
from: number,
/**
 * To.
 */
to: number, };

/**
 * What a phase is.
 */
export type PhaseKind = "program" | "region";

/**
 * Stretches without calls.
 */
export type Stops = { stops: Array<Stop>, truncated: boolean, };

/**
 * A stretch that shows no call, and why.
 */
export type Stop = {
/**
 * Whose.
 */
rank: number,
/**
 * From.
 */
start_ns: number,
/**
 * To.
 */
end_ns: number,
/**
 * As the table of stops has it, or `before-first-call`, `after-last-call` or `never-seen`.
 */
reason: string,
/**
 * Calls that were not stored in it.
 */
lost_calls: number, };

/**
 * Lengths of calls.
 */
export type Histogram = {
/**
 * Those with calls and all between them, the shortest first.
 */
buckets: Array<Bucket>,
/**
 * Calls in all.
 */
count: number,
/**
 * Time in them.
 */
total_ns: number, };

/**
 * Calls of about one length.
 */
export type Bucket = {
/**
 * Shortest.
 */
low_ns: number,
/**
 * Longer than any.
 */
high_ns: number,
/**
 * How many.
 */
count: number,
/**
 * How long in all.
 */
total_ns: number, };

/**
 * Calls of about one length.
 */
export type HistogramCalls = { count: number, calls: Array<ListedCall>, };

/**
 * One call.
 */
export type ListedCall = {
/**
 * Whose.
 */
rank: number,
/**
 * Which thread.
 */
thread: number,
/**
 * When it began.
 */
start_ns: number,
/**
 * When it returned.
 */
end_ns: number,
/**
 * Number of the function.
 */
op: number,
/**
 * Index of its place.
 */
site: number | null, };

/**
 * What rows and columns of the matrix stand for.
 */
export type MatrixLabels = { labels: Array<string>,
/**
 * The first rank of each; none for a host.
 */
first_ranks: Array<number | null>, };

/**
 * The busiest links of a range of time.
 */
export type BusyLinks = {
/**
 * The range that figures are about.
 */
from: number,
/**
 * Its end.
 */
to: number,
/**
 * The busiest first.
 */
links: Array<BusyLink>,
/**
 * How many carried anything in it.
 */
of: number,
/**
 * The calls they carried most for.
 */
calls: Array<LinkCall>, };

/**
 * A link, and what it carried.
 */
export type BusyLink = {
/**
 * Its name in the platform.
 */
name: string,
/**
 * What it can carry.
 */
capacity_bytes_per_s: number,
/**
 * The part of it that was used in the range.
 */
mean: number,
/**
 * The same in the stretch where it was used most.
 */
peak: number,
/**
 * When that stretch begins and ends.
 */
peak_from: number,
/**
 * See there.
 */
peak_to: number,
/**
 * The call that took most of it, by its place in `calls`.
 */
call: number | null,
/**
 * The part of what it carried that was for that call.
 */
call_part: number,
/**
 * How busy it is all along, in columns of the same length: stretches that carried anything, one after the other.
 */
starts: Array<number>,
/**
 * Their ends.
 */
ends: Array<number>,
/**
 * The part of the bandwidth that was used.
 */
shares: Array<number>,
/**
 * The bandwidth that was used.
 */
bytes_per_s: Array<number>,
/**
 * The call that took most of it.
 */
stretch_calls: Array<number | null>,
/**
 * The part that it took.
 */
stretch_call_parts: Array<number>, };

/**
 * A function, and where it was called.
 */
export type LinkCall = {
/**
 * Number of the function.
 */
op: number,
/**
 * Index of the place, if that is known.
 */
site: number | null, };

/**
 * What the threads of some ranks did in a range of time.
 */
export type ThreadRows = {
/**
 * By rank as asked for.
 */
ranks: Array<RankRows>,
/**
 * What stretches are about.
 */
subjects: Array<ThreadSubject>, };

/**
 * What the threads of a rank did.
 */
export type RankRows = {
/**
 * Which one.
 */
rank: number,
/**
 * As many threads as there is room for.
 */
threads: Array<ThreadRow>,
/**
 * How many it has.
 */
of: number, };

/**
 * What a thread did.
 */
export type ThreadRow = {
/**
 * Number of the thread.
 */
thread: number,
/**
 * Stretches follow each other: when each begins, and when the last ends.
 */
bounds: Array<number>,
/**
 * The state in each; none where several stretches are told as one.
 */
states: Array<number | null>,
/**
 * What each is about, or what most of its time is about.
 */
subjects: Array<number | null>,
/**
 * Of those without a state, in their order: the share of each state in 255 parts.
 */
shares: Array<[number, number, number, number, number, number, number]>, };

/**
 * What a stretch is about.
 */
export type ThreadSubject = {
/**
 * Index of the place: of the region or, of a call, where it was made.
 */
site: number | null,
/**
 * Number of the function that was called.
 */
op: number | null,
/**
 * Index of the place where the task was made.
 */
task: number | null, };

/**
 * Everything about one call.
 */
export type Flow = {
/**
 * The call.
 */
event: FlowStep,
/**
 * What it waited for, and so on back to the cause, which is the last.
 */
chain: Array<FlowStep>,
/**
 * Who waited for it, the longest first.
 */
waiters: Array<FlowStep>, };

/**
 * A call, or something else a rank did.
 */
export type FlowStep = {
/**
 * Whose.
 */
rank: number,
/**
 * When it began.
 */
start_ns: number,
/**
 * When it ended.
 */
end_ns: number,
/**
 * Name of the function, or what else it was.
 */
name: string,
/**
 * Index of its place, or of the place that computation leads up to.
 */
site: number | null,
/**
 * What it is.
 */
kind: StageKind,
/**
 * How long this one waited, or how long it was waited for.
 */
wait_ns: number,
/**
 * What it has to do with the one before it, in a sentence.
 */
why: string, };

/**
 * What a rank did.
 */
export type StageKind = "call" | "compute" | "start";

/**
 * What is said about a run: of a whole report what the page reads.
 */
export type Verdict = { executable: string, ranks: number, run_ns: number, efficiency: Efficiency, findings: Array<Finding>, waits: Array<Wait>,
/**
 * Where calls take longest.
 */
places: Array<CallTotal>,
/**
 * Where computation takes longest.
 */
computation: Array<ComputationTotal>, not_understood: NotUnderstood, kind: LayerKind,
/**
 * What must be known before anything else.
 */
warnings: Array<string>,
/**
 * What threads lose, most first.
 */
thread_losses: Array<string>,
/**
 * What is said where there is no finding.
 */
nothing_found: string, };

/**
 * Parallel efficiency, and what it is made of.
 */
export type Efficiency = { parallel: number, cores?: number, own_cores_ns?: number, load_balance: number, serialisation: number, transfer: number, average_computation_ns: number, longest_computation_ns: number, ideal_ns: number, };

/**
 * Something that costs time.
 */
export type Finding = { cause: 'computation' | 'call' | 'start',
/**
 * None if many take turns, or cannot be named shortly.
 */
ranks: Array<number>, place: Place, function: string, waiting_ranks: number,
/**
 * All of it in a sentence.
 */
sentence: string,
/**
 * How the program came there.
 */
call_path?: string,
/**
 * The gain that is to be expected.
 */
expected: Gain | null,
/**
 * How long others waited for it, and what fixing it would gain, as in the report.
 */
cost: string,
/**
 * Of a typical instance, if one shows it: who was waited for, from when to when, and who waited where.
 */
rank?: number, callsite?: number | null, from?: number, to?: number, waiting_rank?: number | null, waiting_callsite?: number | null, waiting_start?: number | null, };

/**
 * A place in the source.
 */
export type Place = { file: string | null, line: number | null, function: string, };

/**
 * What fixing it would gain.
 */
export type Gain = { ns: number, error_ns: number, share: number, share_error: number, };

/**
 * Waiting of one kind.
 */
export type Wait = { pattern: string, count: number, ns: number, share: number, worst_rank: number, };

/**
 * Calls of one function at one place.
 */
export type CallTotal = { function: string, place: Place | null, ns: number, share: number, };

/**
 * Computation before the calls at one place.
 */
export type ComputationTotal = { function: string, place: Place, ns: number, share: number, };

/**
 * What was not understood of a run.
 */
export type NotUnderstood = { unmatched: number, not_followed: number, problems: Array<string>, };

/**
 * How many tasks run over time: of the whole run, and of parts of it.
 */
export type TaskCurves = {
/**
 * What the columns are of.
 */
from: number, to: number,
/**
 * When the run begins and ends.
 */
begin: number, end: number,
/**
 * Whether times are units, not nanoseconds.
 */
units: boolean,
/**
 * How many ranks there are: tasks are those of one.
 */
ranks: number,
/**
 * Whether it is known what tasks waited for, so that a runtime can be followed.
 */
follows_runtime: boolean,
/**
 * The first is of the whole run.
 */
curves: Array<TaskCurve>, };

/**
 * One of them.
 */
export type TaskCurve = {
/**
 * `all`, or a letter and a number: `n` a node, `t` a task and all that descend from it, `p` a place.
 */
part: string,
/**
 * Index of the place it is named by.
 */
place: number | null, tasks: number, work: number, peak: number,
/**
 * When its first task starts and its last ends.
 */
begin: number, end: number,
/**
 * Mean parallelism in equal parts of the range. Of curves that are aligned, the range is so much later.
 */
shift: number, columns: Array<number>,
/**
 * Work between the markers.
 */
marked_work: number, };

/**
 * Tasks folded by path.
 */
export type TaskTree = {
/**
 * Parents come before their children; those with most work.
 */
nodes: Array<TaskNode>,
/**
 * How many nodes there are.
 */
of: number, };

/**
 * Tasks with one path, and all below them, in a range.
 */
export type TaskNode = { node: number, parent: number | null, place: number | null, tasks: number, work: number,
/**
 * How much of the critical path is theirs.
 */
on_path: number, columns: Array<number>, };

/**
 * Tasks one by one.
 */
export type TaskFlow = {
/**
 * Those on the critical path first.
 */
tasks: Array<FlowTask>, needs: Array<FlowNeed>,
/**
 * How many tasks there are in the range.
 */
of: number, };

/**
 * One of them.
 */
export type FlowTask = { task: number, parent: number | null, place: number | null, created: number, start: number, end: number, on_path: boolean, };

/**
 * Something a task needed of another one, and when it was there.
 */
export type FlowNeed = { task: number, of: number, at: number, };

/**
 * Tasks by place and length.
 */
export type TaskLengths = { tasks: number, work: number,
/**
 * Lengths at which buckets begin, and behind them where the last one ends.
 */
borders: Array<number>,
/**
 * Those with most work.
 */
places: Array<TaskPlace>,
/**
 * How many places there are.
 */
of: number, };

/**
 * Tasks of one place.
 */
export type TaskPlace = { place: number | null, tasks: number, work: number, longest: number,
/**
 * By bucket: how many, and how long they run.
 */
counts: Array<number>, works: Array<number>, };

/**
 * What so many processors do.
 */
export type TaskSchedule = { at_least: number, at_most: number,
/**
 * None while it is being worked out.
 */
simulated: number | null,
/**
 * The shortest and the longest of several tries; none if there was one.
 */
low: number | null, high: number | null,
/**
 * How tasks are given out.
 */
strategy: string, };
