// What threads of ranks did in what is shown: whose threads are asked for, and what is at a moment.
import { api, type ThreadRow, type ThreadRows, type ThreadSubject } from '../api';
import { useAnswer, useSettledSelection, type Answer, type Model } from '../model';
import { rankRanges, showRanks, type Selection } from '../selection';

/** As `State` of the server numbers them. */
export const STATE = { computing: 0, waiting: 1, serial: 2, call: 3, idle: 4, region: 5, none: 6 } as const;
/** By number: their names, and what they say. */
export const STATES: readonly { name: string; says: string }[] = [
  { name: 'computing in a region', says: 'in a parallel region or a task' },
  { name: 'waiting in a region', says: 'at a barrier, for tasks, or for the region to begin' },
  { name: 'serial computation', says: 'outside of parallel regions and MPI' },
  { name: 'in MPI', says: 'in a recorded call' },
  { name: 'idle', says: 'a worker outside of parallel regions' },
  { name: 'in a region', says: 'waiting, or running tasks that were only counted' },
  { name: 'no record', says: 'before the thread was first seen, afterwards, or while the tracer held it' },
];

/** Whose threads are shown at most, in so many rows. */
const RANKS = 4;
const ROWS = 32;
/** On both sides of the window a quarter of it is asked for, so that there is something when it moves. */
const COLUMNS = 1000;
const MARGIN = 0.25;

/** The first of the ranks that are chosen, or else of those in view. */
function ranksOf(model: Model, s: Selection, inView: () => number[]): number[] {
  const { ranks } = model.layer(s.layer);
  const chosen = s.ranks.flatMap(([first, last]) => Array.from({ length: Math.min(RANKS, last - first + 1) }, (_, i) => first + i)).filter((rank) => rank < ranks);
  const all = chosen.length > 0 ? chosen : inView();
  return (all.length > 0 ? all : Array.from({ length: Math.min(RANKS, ranks) }, (_, rank) => rank)).slice(0, RANKS);
}

/** Nothing is asked unless they are `shown`, and the layer has parallel regions. */
export function useThreadRows(model: Model, shown: boolean, inView: () => number[]): Answer<ThreadRows> {
  const s = useSettledSelection(model, 120);
  const margin = (s.window.to - s.window.from) * MARGIN;
  const inRun = (ns: number) => Math.max(0, Math.min(model.layer(s.layer).span_ns, ns));
  const asked = {
    layer: s.layer,
    from: Math.floor(inRun(s.window.from - margin)),
    to: Math.ceil(inRun(s.window.to + margin)),
    ranks: showRanks(rankRanges(ranksOf(model, s, inView))),
    columns: COLUMNS,
    rows: ROWS,
    limit: RANKS,
  };
  return useAnswer(shown && model.layer(s.layer).parallel ? JSON.stringify(asked) : null, (signal) => api.threads(asked, signal));
}

/** A stretch of a thread: what it does all along, or shares of its states. */
export interface Stretch {
  from: number;
  to: number;
  state: number | null;
  /** In 255 parts. */
  shares: number[] | null;
  subject: ThreadSubject | null;
}

/** The stretch of a thread at a moment; null outside of what was asked for. */
export function stretchAt(value: ThreadRows, row: ThreadRow, time: number): Stretch | null {
  let low = 0;
  let high = row.states.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row.bounds[middle + 1]! <= time) low = middle + 1;
    else high = middle;
  }
  if (low === row.states.length || row.bounds[low]! > time) return null;
  const state = row.states[low]!;
  const before = row.states.slice(0, low).filter((each) => each === null).length;
  return {
    from: row.bounds[low]!,
    to: row.bounds[low + 1]!,
    state,
    shares: state === null ? row.shares[before]! : null,
    subject: value.subjects[row.subjects[low] ?? -1] ?? null,
  };
}
