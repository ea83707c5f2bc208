// The one selection all views share, kept in the URL's hash so that an address shows what its sender saw.
// `window` is what the timeline shows; `from`..`to`, ranks and sites are what was chosen. Views that are about
// a part of the run take what was chosen, and what is shown where nothing was.
import { AUTO, parseAlign, showAlign, type Align } from './align';
import type { Layer } from './answers';
import { NO_TASKS, taskHash, taskSelection, type TaskSelection } from './tasks/selection';

export interface Span {
  from: number;
  to: number;
}
export type Order = 'rank' | 'wait' | 'cluster';
export const PANELS = ['verdict', 'tree', 'histogram', 'matrix', 'flow', 'compare', 'scaling', 'links'] as const;
export type Panel = (typeof PANELS)[number];

/** Those a run has something for. */
export const panelsOf = (layers: Layer[]): readonly Panel[] => PANELS.filter((panel) => panel !== 'links' || layers.some((layer) => layer.links));

export const PAGES = ['timeline', 'tasks'] as const;
export type Page = (typeof PAGES)[number];

export interface Selection {
  /** Which page is open, of a run that has both calls and tasks. */
  page: Page;
  layer: number;
  window: Span;
  chosen: Span | null;
  /** Inclusive ranges of ranks, in order; empty: all. */
  ranks: [number, number][];
  /** Call sites; empty: all. */
  sites: number[];
  order: Order;
  panel: Panel;
  /** The call the flow starts from, as RANK:START. */
  event: string | null;
  /** The layer to compare with. */
  other: number | null;
  /** How the other layer lies below the first. */
  align: Align;
  /** The first row shown, and a row's height in pixels; 0: fitted. */
  row: number;
  rowHeight: number;
  /** What is chosen of tasks. */
  tasks: TaskSelection;
}

export function parseRanks(text: string): [number, number][] {
  const ranges: [number, number][] = [];
  for (const part of text.split(',')) {
    const found = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(part);
    if (!found) continue;
    const low = Number(found[1]);
    const high = found[2] === undefined ? low : Number(found[2]);
    ranges.push(low <= high ? [low, high] : [high, low]);
  }
  ranges.sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const range of ranges) {
    const last = merged[merged.length - 1];
    if (last && range[0] <= last[1] + 1) last[1] = Math.max(last[1], range[1]);
    else merged.push([...range]);
  }
  return merged;
}
export const showRanks = (ranges: [number, number][]): string => ranges.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`)).join(',');
/** Single ranks as ranges. */
export const rankRanges = (ranks: number[]): [number, number][] => parseRanks(ranks.join(','));
export const hasRank = (ranges: [number, number][], rank: number): boolean => ranges.length === 0 || ranges.some(([a, b]) => rank >= a && rank <= b);

export function toHash(s: Selection): string {
  const parts: [string, string][] = [['view', `${Math.round(s.window.from)}-${Math.round(s.window.to)}`]];
  if (s.layer) parts.push(['layer', `${s.layer}`]);
  if (s.chosen) parts.push(['from', `${Math.round(s.chosen.from)}`], ['to', `${Math.round(s.chosen.to)}`]);
  if (s.ranks.length) parts.push(['ranks', showRanks(s.ranks)]);
  if (s.sites.length) parts.push(['sites', s.sites.join(',')]);
  if (s.order !== 'rank') parts.push(['order', s.order]);
  if (s.panel !== 'verdict') parts.push(['panel', s.panel]);
  if (s.event) parts.push(['event', s.event]);
  if (s.other !== null) parts.push(['other', `${s.other}`]);
  if (s.align.by !== 'auto') parts.push(['align', showAlign(s.align)]);
  if (s.row) parts.push(['row', `${Math.round(s.row)}`]);
  if (s.rowHeight) parts.push(['height', `${Number(s.rowHeight.toFixed(3))}`]);
  if (s.page !== 'timeline') parts.push(['page', s.page]);
  parts.push(...taskHash(s.tasks));
  return `#${parts.map(([k, v]) => `${k}=${v}`).join('&')}`;
}

/** Reads a hash; whatever makes no sense in it is as if it were not there. `starts` is what is shown first of each layer. */
export function fromHash(hash: string, start: Selection, starts: Span[]): Selection {
  const layers = starts.length;
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const integer = (key: string): number | null => {
    const text = given.get(key);
    return text !== null && /^\d{1,16}$/.test(text) ? Number(text) : null;
  };
  const s: Selection = { ...start };
  const layer = integer('layer');
  if (layer !== null && layer < layers) s.layer = layer;
  s.window = starts[s.layer] ?? start.window;
  const view = /^(-?\d{1,16})-(\d{1,16})$/.exec(given.get('view') ?? '');
  if (view && Number(view[2]) > Number(view[1])) s.window = { from: Number(view[1]), to: Number(view[2]) };
  const from = integer('from');
  const to = integer('to');
  if (from !== null && to !== null && to > from) s.chosen = { from, to };
  s.ranks = parseRanks(given.get('ranks') ?? '');
  s.sites = (given.get('sites') ?? '').split(',').filter((x) => /^\d+$/.test(x)).map(Number);
  const order = given.get('order');
  if (order === 'wait' || order === 'cluster') s.order = order;
  const panel = given.get('panel') as Panel | null;
  if (panel && PANELS.includes(panel)) s.panel = panel;
  const event = given.get('event');
  if (event && /^\d+:\d+$/.test(event)) s.event = event;
  const other = integer('other');
  if (other !== null && other < layers) s.other = other;
  s.align = parseAlign(given.get('align'));
  s.row = integer('row') ?? 0;
  const height = Number(given.get('height'));
  if (height > 0 && height <= 200) s.rowHeight = height;
  const page = given.get('page') as Page | null;
  if (page && PAGES.includes(page)) s.page = page;
  s.tasks = taskSelection(given);
  return s;
}

type Listener = () => void;

/** All of a run; one without length still has a pixel. */
export const wholeOf = (span: number): Span => ({ from: 0, to: Math.max(1000, span) });
export const isSame = (a: Span, b: Span): boolean => Math.round(a.from) === Math.round(b.from) && Math.round(a.to) === Math.round(b.to);
/** What is shown first: the program between MPI_Init and MPI_Finalize, or all of a run where that is not known. */
export const firstOf = ({ span_ns, work }: Pick<Layer, 'span_ns' | 'work'>): Span => (work ? { from: work[0], to: work[1] } : wholeOf(span_ns));

/** Holds the selection, tells who asked about changes, and keeps the URL up to date (not on every frame). */
export class SelectionStore {
  private value: Selection;
  private readonly listeners = new Set<Listener>();
  private timer = 0;
  constructor(
    private readonly start: Selection,
    private readonly starts: Span[],
  ) {
    this.value = fromHash(location.hash, start, starts);
    addEventListener('hashchange', () => {
      if (location.hash === toHash(this.value)) return;
      this.value = fromHash(location.hash, this.start, this.starts);
      this.tell();
    });
  }
  get(): Selection {
    return this.value;
  }
  set(change: Partial<Selection>): void {
    this.value = { ...this.value, ...change };
    this.tell();
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => history.replaceState(null, '', toHash(this.value)), 120);
  }
  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
  private tell(): void {
    for (const listener of [...this.listeners]) listener();
  }
}

/** What a page starts with. */
export const startOf = (window: Span): Selection => ({
  page: 'timeline',
  layer: 0,
  window,
  chosen: null,
  ranks: [],
  sites: [],
  order: 'rank',
  panel: 'verdict',
  event: null,
  other: null,
  align: AUTO,
  row: 0,
  rowHeight: 0,
  tasks: NO_TASKS,
});

/** What views of a part of the run are about: the chosen range, or what the timeline shows. */
export const scope = (s: Selection): Span => s.chosen ?? s.window;

/** The selection as the server takes it. */
export function query(s: Selection): Record<string, string | number> {
  const { from, to } = scope(s);
  return { layer: s.layer, from: Math.max(0, Math.floor(from)), to: Math.ceil(Math.max(0, to)), ranks: showRanks(s.ranks), sites: s.sites.join(',') };
}
