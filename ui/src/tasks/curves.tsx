// How many tasks run over virtual time: of the whole run, and of chosen sub-trees. The area below a curve is its work. Dragging
// sets the markers. So many processors are a line: what lies above it has to wait.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { api, type TaskCurve, type TaskCurves } from '../api';
import { count, percent, plural } from '../format';
import { useAnswer } from '../model';
import { Trouble } from '../states';
import { onTheme, theme } from '../theme';
import { Frame, within, type Linked } from './page';
import { at, colourOf, length, partName, partTitle } from './names';
import { LISTED, STRATEGIES, taskScope, type Strategy } from './selection';

/** Room for numbers left of the curves. */
const LEFT = 52;

export function CurvesWindow({ linked, value, error }: { linked: Linked; value: TaskCurves; error: unknown }) {
  const { s, change } = linked;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  // What is drawn when the curves are drawn again must be what is chosen then.
  const latest = useRef(linked);
  latest.current = linked;
  useEffect(() => {
    const build = () => {
      plot.current?.destroy();
      plot.current = draw(host.current!, value, latest);
    };
    build();
    const stop = onTheme(build);
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: host.current!.clientWidth, height: host.current!.clientHeight }));
    resized.observe(host.current!);
    return () => {
      stop();
      resized.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [value, s.processors]);
  useEffect(() => plot.current?.redraw(false), [s.marks]);
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const box = host.current!.getBoundingClientRect();
    const whole = { from: value.begin, to: Math.max(value.begin + 1, value.end) };
    const shown = s.window ?? whole;
    const part = Math.min(1, Math.max(0, (event.clientX - box.left - LEFT) / (box.width - LEFT)));
    const middle = shown.from + part * (shown.to - shown.from);
    const factor = event.deltaY > 0 ? 1.25 : 0.8;
    change({ window: within({ from: middle - (middle - shown.from) * factor, to: middle + (shown.to - middle) * factor }, whole) });
  };
  const all = value.curves[0]!;
  const area = all.columns.reduce((sum, height) => sum + height, 0) * ((value.to - value.from) / Math.max(1, all.columns.length));
  return (
    <Frame
      title="Parallelism"
      id="task-curves"
      busy={false}
      head={
        <>
          <RankChoice linked={linked} ranks={value.ranks} />
          <Marks linked={linked} value={value} />
        </>
      }
      figures={{ 'data-curves': value.curves.length, 'data-area': area, 'data-work': all.work, 'data-span': value.end - value.begin, 'data-peak': all.peak, 'data-tasks': all.tasks }}
    >
      {error !== null && <Trouble error={error} />}
      <Figures linked={linked} value={value} />
      <div class="curves-plot" ref={host} onWheel={wheel} role="img" aria-label="tasks that run, over virtual time" />
      <Processors linked={linked} curve={all} followsRuntime={value.follows_runtime} />
    </Frame>
  );
}

/** The two markers, as numbers, and what can be done with them. */
function Marks({ linked, value }: { linked: Linked; value: TaskCurves }) {
  const { s, change } = linked;
  const set = (which: 'from' | 'to', text: string) => {
    const time = Number(text);
    const marks = { from: value.begin, to: value.end, ...s.marks, [which]: time };
    if (text !== '' && Number.isFinite(time) && marks.to > marks.from) change({ marks });
  };
  const input = (which: 'from' | 'to') => (
    <input type="number" value={s.marks ? Math.round(s.marks[which]) : ''} placeholder={which === 'from' ? 'from' : 'to'} aria-label={`marker: ${which}`} data-testid={`mark-${which}`} onChange={(event) => set(which, event.currentTarget.value)} />
  );
  return (
    <>
      <span class="check">
        markers {input('from')} – {input('to')} {!value.units && 'ns'}
      </span>
      {s.marks && (
        <button class="link" title="Z" onClick={() => change({ window: s.marks })}>
          zoom to markers
        </button>
      )}
      {(s.marks || s.parts.length > 0) && (
        <button class="link" title="Esc" onClick={() => change({ marks: null, parts: [] })}>
          clear
        </button>
      )}
      {s.window && (
        <button class="link" title="0" onClick={() => change({ window: null })}>
          whole run
        </button>
      )}
      <span class="grow" />
      <label class="check" title="Start all sub-trees at 0, for comparison (L)">
        <input type="checkbox" checked={s.aligned} data-testid="align" onChange={(event) => change({ aligned: event.currentTarget.checked })} /> align
      </label>
    </>
  );
}

/** What each curve adds up to, in all and in the range. */
function Figures({ linked, value }: { linked: Linked; value: TaskCurves }) {
  const { model, s, settled, toggle, units } = linked;
  const scope = taskScope(settled);
  const width = scope ? scope.to - scope.from : value.end - value.begin;
  return (
    <table class="grid curves-figures">
      <thead>
        <tr>
          <th>curve</th>
          <th class="right">tasks</th>
          <th class="right">work</th>
          <th class="right">from – to</th>
          <th class="right">peak</th>
          {scope && <th class="right">{settled.marks ? 'between markers' : 'shown'}</th>}
          <th class="right" title={scope ? 'Work divided by time, in this range' : 'Work divided by time'}>
            parallelism
          </th>
          <th />
        </tr>
      </thead>
      <tbody>
        {value.curves.map((curve) => (
          <tr key={curve.part} class="still" data-testid="curve" data-part={curve.part} data-work={curve.work} data-marked={curve.marked_work}>
            <td class="where" title={partTitle(curve.part)}>
              <i class="curve-key" style={{ background: colourOf(s.parts, curve.part) }} /> {partName(model, curve.part, curve.place)}
            </td>
            <td class="right">{count(curve.tasks)}</td>
            <td class="right">{length(curve.work, units)}</td>
            <td class="right">
              {at(curve.begin, units, (value.end - value.begin) / 1000)} – {at(curve.end, units, (value.end - value.begin) / 1000)}
            </td>
            <td class="right">{count(curve.peak)}</td>
            {scope && <td class="right">{length(curve.marked_work, units)}</td>}
            <td class="right">{(curve.marked_work / Math.max(1, width)).toFixed(2)}</td>
            <td class="right">
              {curve.part !== 'all' && (
                <button class="link" aria-label={`remove ${partName(model, curve.part, curve.place)}`} onClick={() => toggle(curve.part)}>
                  ✕
                </button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Which task is taken, in words. */
const NAMES: Record<Strategy, string> = { '': 'as the recorded runtime', gnu: "as GNU's runtime", llvm: "as LLVM's runtime", oldest: 'oldest task first', newest: 'newest task first', longest: 'longest chain first' };

/** Whose tasks are shown, where there are several ranks. */
function RankChoice({ linked, ranks }: { linked: Linked; ranks: number }) {
  if (ranks < 2) return null;
  return (
    <label class="check">
      rank{' '}
      <input
        type="number"
        min={0}
        max={ranks - 1}
        value={linked.s.rank}
        data-testid="task-rank"
        onChange={(event) => {
          const { value } = event.currentTarget;
          const rank = Number(value);
          // Parts, markers and what is shown are those of another rank.
          if (value !== '' && Number.isInteger(rank) && rank >= 0 && rank < ranks) linked.change({ rank, window: null, marks: null, parts: [] });
        }}
      />{' '}
      of {ranks}
    </label>
  );
}

/** What so many processors would do. */
function Processors({ linked, curve, followsRuntime }: { linked: Linked; curve: TaskCurve; followsRuntime: boolean }) {
  const { s, settled, change, layer, units } = linked;
  const [again, setAgain] = useState(0);
  const asked = { layer, rank: settled.rank, processors: settled.processors, strategy: settled.strategy };
  const { value, error } = useAnswer(`${JSON.stringify(asked)}/${again}`, (signal) => api.taskSchedule(asked, signal));
  useEffect(() => {
    if (!value || value.simulated !== null) return undefined;
    const timer = setTimeout(() => setAgain((n) => n + 1), 300);
    return () => clearTimeout(timer);
  }, [value]);
  return (
    <div class="processors" data-testid="processors" data-simulated={value?.simulated ?? ''} data-at-least={value?.at_least ?? ''} data-at-most={value?.at_most ?? ''} data-strategy={value?.strategy ?? ''}>
      <label class="check">
        <input
          type="number"
          min={1}
          max={1000000}
          value={s.processors}
          data-testid="processor-count"
          onInput={(event) => {
            const processors = Number(event.currentTarget.value);
            if (Number.isInteger(processors) && processors >= 1 && processors <= 1e6) change({ processors });
          }}
        />{' '}
        {s.processors === 1 ? 'processor' : 'processors'}
      </label>
      <label class="check">
        scheduling
        <select value={s.strategy} aria-label="scheduling strategy" data-testid="strategy" onChange={(event) => change({ strategy: event.currentTarget.value as Strategy })}>
          {(followsRuntime ? STRATEGIES : (['', ...LISTED] as const)).map((strategy) => (
            <option key={strategy} value={strategy}>
              {NAMES[strategy]}
            </option>
          ))}
        </select>
      </label>
      {error !== null && <Trouble error={error} />}
      {value && (
        <span>
          at least <strong>{length(value.at_least, units)}</strong>, at most {length(value.at_most, units)};{' '}
          {value.simulated === null ? (
            <span class="soft">simulating…</span>
          ) : (
            <>
              simulated <strong>{length(value.simulated, units)}</strong>
              {value.low !== null && value.high !== null && value.high > value.low && (
                <span data-testid="simulated-range">
                  {' '}
                  ({length(value.low, units)} to {length(value.high, units)})
                </span>
              )}
              <span class="soft">
                {' '}
                (speed-up {(curve.work / Math.max(1, value.simulated)).toFixed(2)}, {percent(curve.work / Math.max(1, value.simulated * settled.processors))} busy)
              </span>
            </>
          )}
        </span>
      )}
    </div>
  );
}

function draw(host: HTMLElement, value: TaskCurves, latest: { readonly current: Linked }): uPlot {
  const colours = theme();
  const { units, s } = latest.current;
  const n = value.curves[0]!.columns.length;
  const step = (value.to - value.from) / Math.max(1, n);
  const times = Array.from({ length: n + 1 }, (_, i) => value.from + i * step);
  const heights = value.curves.map((curve) => [...curve.columns, curve.columns[n - 1] ?? 0]);
  const peak = heights.reduce((most, curve) => curve.reduce((a, b) => Math.max(a, b), most), 1);
  // A line far above all curves would press them flat.
  const most = s.processors <= 2 * peak ? Math.max(peak, s.processors) : peak;
  const stepped = uPlot.paths.stepped!({ align: 1 });
  const axis = { font: colours.label, stroke: colours.inkSoft, grid: { stroke: colours.line, width: 1 }, ticks: { stroke: colours.line, width: 1, size: 4 } };
  const options: uPlot.Options = {
    width: host.clientWidth,
    height: host.clientHeight,
    padding: [8, 14, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: false, range: [value.from, Math.max(value.from + 1, value.to)] }, y: { range: [0, most * 1.06] } },
    axes: [
      { ...axis, size: 24, gap: 3, values: (_, splits) => splits.map((split) => (Number.isInteger(split) || !units ? at(split, units, splits.length > 1 ? splits[1]! - splits[0]! : 1) : '')) },
      { ...axis, size: LEFT, gap: 4, values: (_, splits) => splits.map((split) => (Number.isInteger(split) ? count(split) : split.toFixed(1))) },
    ],
    series: [
      {},
      ...value.curves.map((curve, i): uPlot.Series => {
        const stroke = colourOf(s.parts, curve.part);
        return { stroke, width: i === 0 ? 1 : 1.5, paths: stepped, points: { show: false }, ...(i === 0 ? { fill: stroke.replace(')', ' / 0.16)') } : { fill: stroke.replace(')', ' / 0.1)') }) };
      }),
    ],
    hooks: {
      setSelect: [
        (plot) => {
          if (plot.select.width < 3) return;
          const from = Math.round(plot.posToVal(plot.select.left, 'x'));
          const to = Math.round(plot.posToVal(plot.select.left + plot.select.width, 'x'));
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          if (to > from) latest.current.change({ marks: { from, to } });
        },
      ],
      draw: [(plot) => over(plot, latest.current, most)],
    },
  };
  return new uPlot(options, [times, ...heights] as uPlot.AlignedData, host);
}

/** Markers, and the line of processors. */
function over(plot: uPlot, { s }: Linked, most: number): void {
  const colours = theme();
  const { left, top, width, height } = plot.bbox;
  const g = plot.ctx;
  const ratio = devicePixelRatio || 1;
  g.save();
  if (s.marks) {
    const x = (time: number) => Math.min(left + width, Math.max(left, plot.valToPos(time, 'x', true)));
    const [from, to] = [x(s.marks.from), x(s.marks.to)];
    g.fillStyle = colours.accent;
    g.globalAlpha = 0.09;
    g.fillRect(from, top, to - from, height);
    g.globalAlpha = 1;
    for (const each of [from, to]) g.fillRect(Math.round(each - ratio), top, 2 * ratio, height);
  }
  if (s.processors <= most) {
    const y = Math.round(plot.valToPos(s.processors, 'y', true)) + 0.5;
    g.strokeStyle = colours.lost;
    g.fillStyle = colours.lost;
    g.lineWidth = ratio;
    g.setLineDash([6 * ratio, 4 * ratio]);
    g.beginPath();
    g.moveTo(left, y);
    g.lineTo(left + width, y);
    g.stroke();
    g.font = colours.label.replace(/^([\d.]+)px/, (_, size) => `${Number(size) * ratio}px`);
    g.textAlign = 'right';
    g.textBaseline = y - top > 16 * ratio ? 'bottom' : 'top';
    g.fillText(plural(s.processors, 'processor'), left + width - 4 * ratio, y + (y - top > 16 * ratio ? -2 : 3) * ratio);
  }
  g.restore();
}
