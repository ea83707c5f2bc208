// Tasks in virtual time, in four windows that are linked: how many run over time, tasks folded by path, who made whom and
// needed what, and how long tasks of each place take. The markers and the chosen sub-trees act on all of them.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, type TaskCurves } from '../api';
import { useAnswer, useSelection, type Model } from '../model';
import { Outline, Trouble } from '../states';
import { onTheme } from '../theme';
import { CurvesWindow } from './curves';
import { FlowWindow } from './flow';
import { LengthsWindow } from './lengths';
import { marked, toggled, type TaskSelection } from './selection';
import { TreeWindow } from './tree';

export interface Linked {
  model: Model;
  layer: number;
  s: TaskSelection;
  /** The same, once it has rested: for what asks the server. */
  settled: TaskSelection;
  change: (change: Partial<TaskSelection>) => void;
  toggle: (part: string) => void;
  /** Of the run. */
  begin: number;
  end: number;
  units: boolean;
}

/** What was chosen, once it has rested. */
function useSettled(s: TaskSelection): TaskSelection {
  const [settled, set] = useState(s);
  useEffect(() => {
    const timer = setTimeout(() => set(s), 90);
    return () => clearTimeout(timer);
  }, [s]);
  return settled;
}

export function TasksPage({ model }: { model: Model }) {
  const { tasks: s, layer } = useSelection(model);
  const settled = useSettled(s);
  const [, redraw] = useState(0);
  useEffect(() => onTheme(() => redraw((n) => n + 1)), []);
  const { window } = settled;
  const asked = { layer, from: window ? Math.round(window.from) : null, to: window ? Math.round(window.to) : null, columns: 1200, parts: settled.parts.join(','), aligned: `${settled.aligned}`, ...marked(settled) };
  const { value, error, busy, progress } = useAnswer<TaskCurves>(JSON.stringify(asked), (signal) => api.taskCurves(asked, signal));
  const change = (change: Partial<TaskSelection>) => model.store.set({ tasks: { ...model.store.get().tasks, ...change } });
  useKeys(value, s, change);
  if (!value) {
    return (
      <main>
        <div class="stage">
          {error !== null ? <Trouble error={error} /> : <Outline what="Reading tasks…" lines={8} progress={progress} />}
          {error !== null && s.rank !== 0 && (
            <button class="link" onClick={() => change({ rank: 0, window: null, marks: null, parts: [] })}>
              show rank 0
            </button>
          )}
        </div>
      </main>
    );
  }
  const toggle = (part: string) => change({ parts: toggled(model.store.get().tasks.parts, part) });
  const linked: Linked = { model, layer, s, settled, change, toggle, begin: value.begin, end: value.end, units: value.units };
  return (
    <main class="tasks" data-testid="tasks" data-busy={busy}>
      <div class="tasks-column tasks-wide">
        <CurvesWindow linked={linked} value={value} error={error} />
        <FlowWindow linked={linked} />
      </div>
      <div class="tasks-column">
        <TreeWindow linked={linked} />
        <LengthsWindow linked={linked} />
      </div>
    </main>
  );
}

/** Keys that zoom and move the curves, and choose nothing. */
function useKeys(value: TaskCurves | null, s: TaskSelection, change: (change: Partial<TaskSelection>) => void): void {
  useEffect(() => {
    const whole = value ? { from: value.begin, to: Math.max(value.begin + 1, value.end) } : { from: 0, to: 1 };
    const shown = s.window ?? whole;
    const width = shown.to - shown.from;
    const move = (part: number) => change({ window: within({ from: shown.from + part * width, to: shown.to + part * width }, whole) });
    const zoom = (factor: number) => change({ window: within({ from: shown.from + (width * (1 - factor)) / 2, to: shown.to - (width * (1 - factor)) / 2 }, whole) });
    const actions: Record<string, () => void> = {
      w: () => zoom(1 / 1.5),
      '+': () => zoom(1 / 1.5),
      '=': () => zoom(1 / 1.5),
      s: () => zoom(1.5),
      '-': () => zoom(1.5),
      a: () => move(-0.15),
      d: () => move(0.15),
      arrowleft: () => move(-0.15),
      arrowright: () => move(0.15),
      '0': () => change({ window: null }),
      home: () => change({ window: null }),
      z: () => s.marks && change({ window: s.marks }),
      l: () => change({ aligned: !s.aligned }),
      escape: () => change({ marks: null, parts: [] }),
    };
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const target = event.target as HTMLElement;
      if (target.matches('input:not([type=checkbox]), select, textarea') || document.querySelector('.veil')) return;
      const action = actions[event.key.toLowerCase()];
      if (!action) return;
      action();
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}

/** A window that is not outside the run, and not shorter than what can be told apart; all of it is none. */
export function within(window: { from: number; to: number }, whole: { from: number; to: number }): { from: number; to: number } | null {
  const width = Math.min(Math.max(window.to - window.from, 4), whole.to - whole.from);
  const middle = (window.from + window.to) / 2;
  const from = Math.min(Math.max(whole.from, middle - width / 2), whole.to - width);
  return width >= whole.to - whole.from - 0.5 ? null : { from, to: from + width };
}

/** The frame of a window. */
export function Frame({ title, id, busy, head, children, figures }: { title: string; id: string; busy: boolean; head?: ComponentChildren; children: ComponentChildren; figures?: Record<string, string | number> }) {
  return (
    <section class={`window ${id}`} data-testid={id} data-busy={busy} aria-label={title} {...figures}>
      <div class="window-head">
        <h2>{title}</h2>
        {head}
      </div>
      {children}
    </section>
  );
}
