// What is known about the run for as long as the page is open: names, colours of calls, and the shared selection.
// Components get it as a prop; nothing is global.
import { useEffect, useState } from 'preact/hooks';
import { SAME, type Line } from './align';
import { ApiError, type CallSite, type FlowStep, type Layer, type PathSegment, type Run } from './api';
import { baseName } from './format';
import { firstOf, isSame, scope, wholeOf, type Selection, type SelectionStore } from './selection';

const NONE = 0xffffffff;

/** What is drawn on the timeline besides the selection. */
export interface Marks {
  /** How the layer compared with lies on the first. */
  line: Line;
  flow: FlowStep[];
  path: PathSegment[];
  arrows: boolean;
}

export class Model {
  /** Of each layer: their numbers are those of its own trace. */
  private readonly sites: Map<number, CallSite>[];
  private readonly markListeners = new Set<() => void>();
  private readonly pointListeners = new Set<() => void>();
  /** The moment the pointer is at, on whatever has the timeline's axis. */
  pointed: number | null = null;
  marks: Marks = { line: SAME, flow: [], path: [], arrows: true };
  readonly categoryOfOp: number[];
  /** Functions that were called. */
  readonly used: number[];
  constructor(
    readonly run: Run,
    readonly store: SelectionStore,
  ) {
    this.sites = run.layers.map((layer) => new Map(layer.callsites.map((site) => [site.id, site])));
    this.categoryOfOp = run.function_categories;
    this.used = run.functions_used;
  }
  mark(change: Partial<Marks>): void {
    this.marks = { ...this.marks, ...change };
    for (const listener of this.markListeners) listener();
  }
  onMarks(listener: () => void): () => void {
    this.markListeners.add(listener);
    return () => this.markListeners.delete(listener);
  }
  point(at: number | null): void {
    if (at === this.pointed) return;
    this.pointed = at;
    for (const listener of this.pointListeners) listener();
  }
  onPoint(listener: () => void): () => void {
    this.pointListeners.add(listener);
    return () => this.pointListeners.delete(listener);
  }
  layer(index: number): Layer {
    return this.run.layers[index] ?? this.run.layers[0]!;
  }
  opName(op: number | null | undefined): string {
    return op === null || op === undefined ? 'unknown call' : (this.run.functions[op] ?? 'unknown call');
  }
  /** `file.c:42`, or the function it is in, or nothing. */
  siteName(id: number | null | undefined): string {
    if (id === null || id === undefined || id === NONE) return '';
    const site = this.site(id);
    if (!site) return '';
    if (site.file) return site.line ? `${baseName(site.file)}:${site.line}` : baseName(site.file);
    return site.function ?? '';
  }
  site(id: number): CallSite | undefined {
    return this.sites[this.store.get().layer]?.get(id);
  }
  /** Whether the page about tasks is open. */
  onTasks(s: Selection): boolean {
    const { tasks, only_tasks } = this.layer(s.layer);
    return only_tasks || (tasks && s.page === 'tasks');
  }
  /** Another layer, at the same times; what was all of one, or its program, becomes all of the other, or its program. */
  switchLayer(layer: number): void {
    const s = this.store.get();
    const old = this.layer(s.layer);
    const whole = s.window.from <= 0 && s.window.to >= old.span_ns;
    const first = isSame(s.window, firstOf(old));
    const { span_ns, ranks, path_shown } = this.layer(layer);
    const same = s.window.from < span_ns ? s.window : wholeOf(span_ns);
    this.store.set({
      layer,
      event: null,
      window: whole ? wholeOf(span_ns) : first && this.layer(layer).work ? firstOf(this.layer(layer)) : same,
      ...(ranks === this.layer(s.layer).ranks ? {} : { ranks: [], row: 0, rowHeight: 0 }),
      ...(path_shown === this.layer(s.layer).path_shown ? {} : { sites: [], tasks: { ...s.tasks, window: null, marks: null, parts: [] } }),
      ...(s.other === layer ? { other: s.layer } : {}),
    });
  }
  /** Calls from one place are chosen, as in the tree; chosen alone, they are let go. */
  chooseSite(site: number | null | undefined): void {
    if (site === null || site === undefined) return;
    const { sites } = this.store.get();
    this.store.set({ sites: sites.length === 1 && sites[0] === site ? [] : [site] });
  }
  /** Shows a stretch without choosing it: what panels are about stays what it was. */
  locate(from: number, to: number): void {
    this.show(from, to, { chosen: scope(this.store.get()) });
  }
  /** Shows a stretch of the run with some of what is around it, and chooses it. */
  show(from: number, to: number, change: Partial<Selection> = {}): void {
    const s = this.store.get();
    const span = this.layer(change.layer ?? s.layer).span_ns;
    const around = Math.max((to - from) * 1.5, 2000);
    const start = Math.max(-span * 0.02, from - around);
    this.store.set({ window: { from: start, to: Math.min(span * 1.02, to + around) }, chosen: { from, to }, ...change });
  }
}

/** The selection, drawn again whenever it changes. */
export function useSelection(model: Model): Selection {
  const [value, set] = useState(model.store.get());
  useEffect(() => {
    set(model.store.get());
    return model.store.subscribe(() => set(model.store.get()));
  }, [model]);
  return value;
}

/** What is drawn besides, drawn again whenever it changes. */
export function useMarks(model: Model): Marks {
  const [value, set] = useState(model.marks);
  useEffect(() => {
    set(model.marks);
    return model.onMarks(() => set(model.marks));
  }, [model]);
  return value;
}

/** The selection, once it has rested: for what asks the server. */
export function useSettledSelection(model: Model, rest = 160): Selection {
  const [value, set] = useState(model.store.get());
  useEffect(() => {
    let timer = 0;
    const stop = model.store.subscribe(() => {
      clearTimeout(timer);
      timer = window.setTimeout(() => set(model.store.get()), rest);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [model, rest]);
  return value;
}

/** `progress` is how far the server is, where it has to work an answer out first. */
export type Answer<T> = { value: T | null; error: unknown; busy: boolean; progress: number | null };

const ASK_AGAIN_MS = 400;

/** Asks when `key` changes; what was there stays (marked busy) until the new answer comes. */
export function useAnswer<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>): Answer<T> {
  const [answer, set] = useState<Answer<T>>({ value: null, error: null, busy: true, progress: null });
  useEffect(() => {
    if (key === null) {
      set({ value: null, error: null, busy: false, progress: null });
      return undefined;
    }
    const abort = new AbortController();
    let timer = 0;
    const once = () => {
      ask(abort.signal).then(
        (value) => !abort.signal.aborted && set({ value, error: null, busy: false, progress: null }),
        (error: unknown) => {
          if (abort.signal.aborted) return;
          if (error instanceof ApiError && error.progress !== null) {
            const { progress } = error;
            set((old) => ({ value: old.value, error: null, busy: true, progress }));
            timer = window.setTimeout(once, ASK_AGAIN_MS);
          } else set((old) => ({ value: old.value, error, busy: false, progress: null }));
        },
      );
    };
    set((old) => ({ ...old, busy: true }));
    once();
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key]);
  return answer;
}
