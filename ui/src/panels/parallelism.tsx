// How many ranks compute at each moment, under the timeline and on its time axis: as recorded, and on an ideal network.
// The area below a curve is work. Dragging chooses a range; the two markers are its ends.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { api, type Parallelism } from '../api';
import { count, duration } from '../format';
import { useAnswer, useSelection, useSettledSelection, type Model } from '../model';
import { showRanks } from '../selection';
import { Trouble } from '../states';
import { css, onTheme, theme } from '../theme';
import { GUTTER } from '../timeline/axes';
import { KindBadge } from '../kind';

export function ParallelismStrip({ model, zoomToChosen }: { model: Model; zoomToChosen: () => void }) {
  const host = useRef<HTMLDivElement>(null);
  const s = useSelection(model);
  const settled = useSettledSelection(model, 120);
  const asked = {
    layer: settled.layer,
    from: Math.max(0, Math.floor(settled.window.from)),
    to: Math.ceil(settled.window.to),
    columns: 480,
    ranks: showRanks(settled.ranks),
    sites: settled.sites.join(','),
  };
  const [again, setAgain] = useState(0);
  const { value, error, busy } = useAnswer<Parallelism>(`${JSON.stringify(asked)}/${again}`, (signal) => api.parallelism(asked, signal));
  // The ideal run may have to be worked out first.
  useEffect(() => {
    if (!value || value.ideal || !value.note) return undefined;
    const timer = setTimeout(() => setAgain((n) => n + 1), 1000);
    return () => clearTimeout(timer);
  }, [value]);
  const plot = useRef<uPlot | null>(null);
  const layer = model.layer(s.layer);

  useEffect(() => {
    const build = () => {
      plot.current?.destroy();
      plot.current = value ? draw(host.current!, value, model) : null;
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
  }, [value]);
  useEffect(() => {
    plot.current?.setScale('x', { min: s.window.from, max: s.window.to });
  }, [s.window, value]);
  useEffect(() => plot.current?.redraw(false), [s.chosen]);

  // Of what was chosen, the part that is shown: only that is known here.
  const wanted = s.chosen ?? s.window;
  const range = { from: Math.max(0, s.window.from, wanted.from), to: Math.min(layer.span_ns, s.window.to, wanted.to) };
  const mean = value ? work(value.recorded, value, range) : null;
  const ideal = value?.ideal ? work(value.ideal, value, range) : null;
  const length = Math.max(1, range.to - range.from);
  return (
    <div class="parallelism" data-testid="parallelism" data-busy={busy} data-columns={value?.recorded.length ?? 0}>
      <div class="strip-head">
        <strong>Ranks computing</strong>
        {mean !== null && (
          <span>
            <span class="key key-recorded" /> {ranksText(mean / length)} of {s.ranks.length ? count(s.ranks.reduce((n, [a, b]) => n + b - a + 1, 0)) : count(layer.ranks)} on average, {duration(mean)} of work{' '}
            <KindBadge kind={layer.kind} />
          </span>
        )}
        {ideal !== null && (
          <span>
            <span class="key key-ideal" /> on an ideal network {ranksText(ideal / length)} <KindBadge kind="replayed" />
          </span>
        )}
        {value && !value.ideal && value.note && <span class="soft">{value.note.slice(0, 120)}</span>}
        <span class="grow" />
        {s.chosen && (
          <button class="link" onClick={zoomToChosen} title="Z">
            zoom to markers
          </button>
        )}
      </div>
      {error !== null && !value && <Trouble error={error} />}
      <div class="strip-plot" ref={host} />
    </div>
  );
}

const ranksText = (ranks: number): string => (ranks >= 100 ? count(ranks) : ranks.toFixed(2));

/** The area under a curve within a range, in rank-nanoseconds. */
function work(curve: number[], { from, to }: Parallelism, range: { from: number; to: number }): number {
  const step = (to - from) / Math.max(1, curve.length);
  return curve.reduce((sum, ranks, i) => {
    const overlap = Math.min(from + (i + 1) * step, range.to) - Math.max(from + i * step, range.from);
    return overlap > 0 ? sum + ranks * overlap : sum;
  }, 0);
}

function draw(host: HTMLElement, value: Parallelism, model: Model): uPlot {
  const colours = theme();
  const n = value.recorded.length;
  const step = (value.to - value.from) / Math.max(1, n);
  const times = Array.from({ length: n }, (_, i) => value.from + (i + 0.5) * step);
  const s = model.store.get();
  const stroke = css(colours.categories[1]!);
  const most = Math.ceil(Math.max(1, ...value.recorded, ...(value.ideal ?? [])) - 0.02);
  const options: uPlot.Options = {
    width: host.clientWidth,
    height: host.clientHeight,
    padding: [6, 0, 4, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    select: { show: true, left: 0, top: 0, width: 0, height: 0 },
    scales: { x: { time: false, range: (_, low, high) => [low, high] }, y: { range: [0, most * 1.05] } },
    axes: [
      { show: false },
      {
        size: GUTTER,
        gap: 4,
        font: colours.label,
        stroke: colours.inkSoft,
        grid: { stroke: colours.line, width: 1 },
        ticks: { show: false },
        splits: () => [0, most / 2, most],
        values: (_, splits) => splits.map((split) => (split >= 10 || Number.isInteger(split) ? `${Math.round(split)}` : split.toFixed(1))),
      },
    ],
    series: [
      {},
      { stroke, fill: css(colours.categories[0]!, 0.7), width: 1.5, points: { show: false } },
      ...(value.ideal ? [{ stroke: colours.accent, width: 1.5, dash: [5, 4], points: { show: false } } satisfies uPlot.Series] : []),
    ],
    hooks: {
      setSelect: [
        (plot) => {
          if (plot.select.width < 3) return;
          const from = plot.posToVal(plot.select.left, 'x');
          const to = plot.posToVal(plot.select.left + plot.select.width, 'x');
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          model.store.set({ chosen: { from: Math.max(0, Math.round(from)), to: Math.round(to) } });
        },
      ],
      draw: [(plot) => markers(plot, model, colours.accent)],
    },
  };
  const plot = new uPlot(options, [times, value.recorded, ...(value.ideal ? [value.ideal] : [])], host);
  plot.setScale('x', { min: s.window.from, max: s.window.to });
  return plot;
}

function markers(plot: uPlot, model: Model, colour: string): void {
  const { chosen } = model.store.get();
  if (!chosen) return;
  const g = plot.ctx;
  g.save();
  g.fillStyle = colour;
  for (const ns of [chosen.from, chosen.to]) {
    const x = plot.valToPos(ns, 'x', true);
    if (x >= plot.bbox.left && x <= plot.bbox.left + plot.bbox.width) g.fillRect(x - 1, plot.bbox.top, 2, plot.bbox.height);
  }
  g.restore();
}
