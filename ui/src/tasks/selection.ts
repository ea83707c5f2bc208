// What is chosen on the page about tasks, as the address keeps it: what the curves show, the two markers, sub-trees, and how many
// processors are asked about. Times are nanoseconds or units of virtual time.
import type { Span } from '../selection';

/** Those of a list, and those of runtimes; '' is as the runtime does that ran the tasks, or the oldest first. */
export const LISTED = ['oldest', 'newest', 'longest'] as const;
export const STRATEGIES = ['', 'gnu', 'llvm', ...LISTED] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** Sub-trees that are drawn beside the whole run, at most: as many as there are colours. */
export const MOST_PARTS = 6;

export interface TaskSelection {
  /** What the curves show; none: all. */
  window: Span | null;
  /** The markers. */
  marks: Span | null;
  /** Sub-trees: `n` and a node, `t` and a task, `p` and a place. */
  parts: string[];
  /** Whether all sub-trees begin at 0. */
  aligned: boolean;
  processors: number;
  strategy: Strategy;
  /** Whose tasks. */
  rank: number;
}

export const NO_TASKS: TaskSelection = { window: null, marks: null, parts: [], aligned: false, processors: 8, strategy: '', rank: 0 };

const show = ({ from, to }: Span): string => `${Math.round(from)}-${Math.round(to)}`;

function parse(text: string | null): Span | null {
  const found = /^(-?\d{1,16})-(-?\d{1,16})$/.exec(text ?? '');
  return found && Number(found[2]) > Number(found[1]) ? { from: Number(found[1]), to: Number(found[2]) } : null;
}

export function taskHash(s: TaskSelection): [string, string][] {
  const parts: [string, string][] = [];
  if (s.window) parts.push(['shown', show(s.window)]);
  if (s.marks) parts.push(['marks', show(s.marks)]);
  if (s.parts.length) parts.push(['parts', s.parts.join(',')]);
  if (s.aligned) parts.push(['aligned', '1']);
  if (s.processors !== NO_TASKS.processors) parts.push(['processors', `${s.processors}`]);
  if (s.strategy !== NO_TASKS.strategy) parts.push(['strategy', s.strategy]);
  if (s.rank !== NO_TASKS.rank) parts.push(['task_rank', `${s.rank}`]);
  return parts;
}

/** Whatever makes no sense is as if it were not there. */
export function taskSelection(given: URLSearchParams): TaskSelection {
  const processors = Number(given.get('processors'));
  const strategy = given.get('strategy') as Strategy | null;
  const rank = Number(given.get('task_rank'));
  const parts = (given.get('parts') ?? '').split(',').filter((part) => /^[ntp]\d{1,10}$/.test(part));
  return {
    window: parse(given.get('shown')),
    marks: parse(given.get('marks')),
    parts: [...new Set(parts)].slice(0, MOST_PARTS),
    aligned: given.get('aligned') === '1',
    processors: Number.isInteger(processors) && processors >= 1 && processors <= 1e6 ? processors : NO_TASKS.processors,
    rank: Number.isInteger(rank) && rank >= 0 && rank <= 1e7 ? rank : NO_TASKS.rank,
    strategy: strategy && STRATEGIES.includes(strategy) ? strategy : NO_TASKS.strategy,
  };
}

/** What the windows are about: what is between the markers, or else what is shown. */
export const taskScope = (s: TaskSelection): Span | null => s.marks ?? s.window;

/** Whose tasks are meant, and the scope, as the server takes them. */
export function marked(s: TaskSelection): Record<string, number | null> {
  const scope = taskScope(s);
  return { rank: s.rank, mark_from: scope ? Math.round(scope.from) : null, mark_to: scope ? Math.round(scope.to) : null };
}

/** Adds a sub-tree to those that are chosen, or takes it away; of too many the oldest goes. */
export const toggled = (parts: string[], part: string): string[] => (parts.includes(part) ? parts.filter((each) => each !== part) : [...parts, part].slice(-MOST_PARTS));
