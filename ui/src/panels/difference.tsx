// Between two layers, along time: which share of it is spent how, in the other one more than in the first. What is above
// the line is more there, what is below is less; computation is what is left and not drawn.
import { useEffect, useRef, useState } from 'preact/hooks';
import { along } from '../align';
import { api, type Shares } from '../api';
import { moment } from '../format';
import { useAnswer, useMarks, useSelection, useSettledSelection, type Model } from '../model';
import { useRedraw } from '../redraw';
import { showRanks } from '../selection';
import { Trouble } from '../states';
import { CATEGORY, LEGEND, css, theme } from '../theme';
import { GUTTER } from '../timeline/axes';
import { Swatch } from '../timeline/view';

const COLUMNS = 320;
/** Smaller differences than these of 255 parts are rounding. */
const ROUNDING = 2;
const SHOWN = LEGEND.filter((category) => category !== CATEGORY.compute && category !== CATEGORY.none);

interface Compared {
  from: number;
  to: number;
  shares: [Shares, Shares];
}

export function DifferenceStrip({ model, other }: { model: Model; other: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const s = useSelection(model);
  const settled = useSettledSelection(model, 120);
  const { line } = useMarks(model);
  const [over, setOver] = useState<number | null>(null);
  const key = JSON.stringify([settled.layer, other, settled.window, settled.ranks, line]);
  const { value, error, busy } = useAnswer<Compared>(key, async (signal) => {
    const { window, ranks } = settled;
    const ask = (layer: number, { from, to }: { from: number; to: number }) =>
      api.timeline({ layer, from: Math.floor(from), to: Math.ceil(to), columns: COLUMNS, rows: 1, ranks: showRanks(ranks) || `0-${model.layer(layer).ranks - 1}`, order: 'rank' }, signal);
    const shares = await Promise.all([ask(settled.layer, window), ask(other, along(line, window))]);
    return { ...window, shares };
  });
  const redraw = () => draw(canvas.current!, value, s.window, over);
  useEffect(redraw, [value, s.window, over]);
  useRedraw(canvas, redraw);
  const point = (event: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const share = (event.clientX - box.left - GUTTER) / (box.width - GUTTER);
    setOver(share < 0 ? null : s.window.from + share * (s.window.to - s.window.from));
  };
  return (
    <div class="difference" data-testid="difference" data-busy={busy}>
      <div class="strip-head">
        <strong>Difference</strong>
        {value && <Figures model={model} value={value} at={over} />}
        <span class="grow" />
        <span class="soft" title={`Shares of time in ${model.layer(other).name.slice(0, 200)}, minus those in ${model.layer(s.layer).name.slice(0, 200)}`}>
          ▲ more ▼ less in the other run
        </span>
      </div>
      {error !== null && !value && <Trouble error={error} />}
      <canvas ref={canvas} class="difference-plot" aria-label="shares of time, the other layer minus the first, along time" onMouseMove={point} onMouseLeave={() => setOver(null)} />
    </div>
  );
}

/** By how many points of a column a category differs. */
function points([a, b]: [Shares, Shares], column: number, category: number): number {
  const difference = (b.cells[column * b.categories + category] ?? 0) - (a.cells[column * a.categories + category] ?? 0);
  return Math.abs(difference) < ROUNDING ? 0 : (difference / 255) * 100;
}

/** What differs most: at a moment, or on average over what is shown. */
function Figures({ model, value, at }: { model: Model; value: Compared; at: number | null }) {
  const column = at === null ? null : Math.floor(((at - value.from) / (value.to - value.from)) * COLUMNS);
  if (column !== null && (column < 0 || column >= COLUMNS)) return null;
  const columns = column === null ? Array.from({ length: COLUMNS }, (_, i) => i) : [column];
  const sums = SHOWN.map((category) => ({ category, points: columns.reduce((sum, each) => sum + points(value.shares, each, category), 0) / columns.length }))
    .filter((each) => Math.abs(each.points) >= 0.05)
    .sort((a, b) => Math.abs(b.points) - Math.abs(a.points))
    .slice(0, 3);
  return (
    <>
      <span class="soft">{at === null ? 'on average' : `at ${moment(at, (value.to - value.from) / COLUMNS)}`}</span>
      {sums.length === 0 && <span>none</span>}
      {sums.map((each) => (
        <span key={each.category} data-category={each.category}>
          <Swatch category={each.category} /> {model.run.categories[each.category]?.name} {each.points < 0 ? '−' : '+'}
          {Math.abs(each.points).toFixed(1)} points
        </span>
      ))}
    </>
  );
}

function draw(canvas: HTMLCanvasElement, value: Compared | null, window: { from: number; to: number }, over: number | null): void {
  const ratio = devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const g = canvas.getContext('2d')!;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  const colours = theme();
  g.font = colours.label;
  g.textBaseline = 'middle';
  const room = width - GUTTER;
  const x = (ns: number) => GUTTER + ((ns - window.from) / (window.to - window.from)) * room;
  // As high as the largest difference, but not so that a small one looks large.
  let [up, down] = [0, 0];
  for (let column = 0; value && column < COLUMNS; column++) {
    const all = SHOWN.map((category) => points(value.shares, column, category));
    up = Math.max(up, all.reduce((sum, each) => sum + Math.max(0, each), 0));
    down = Math.max(down, all.reduce((sum, each) => sum + Math.max(0, -each), 0));
  }
  const least = Math.max(2, (up + down) * 0.1);
  [up, down] = [Math.max(up, least), Math.max(down, least)];
  const [top, bottom] = [7, height - 7];
  const zero = top + ((bottom - top) * up) / (up + down);
  const scale = (bottom - top) / (up + down);
  g.save();
  g.beginPath();
  g.rect(GUTTER, 0, room, height);
  g.clip();
  for (let column = 0; value && column < COLUMNS; column++) {
    const step = (value.to - value.from) / COLUMNS;
    const [x0, x1] = [x(value.from + column * step), x(value.from + (column + 1) * step)];
    let [above, below] = [zero, zero];
    for (const category of SHOWN) {
      const high = points(value.shares, column, category) * scale;
      g.fillStyle = css(colours.categories[category]!);
      if (high > 0) g.fillRect(x0, (above -= high), x1 - x0 + 0.4, high);
      else if (high < 0) {
        g.fillRect(x0, below, x1 - x0 + 0.4, -high);
        below -= high;
      }
    }
  }
  g.fillStyle = colours.ink;
  g.fillRect(GUTTER, Math.round(zero), room, 1);
  if (over !== null) g.fillRect(Math.round(x(over)), 0, 1, height);
  g.restore();
  g.fillStyle = colours.inkSoft;
  g.textAlign = 'right';
  g.fillText('0', GUTTER - 9, zero);
  if (zero - top > 16) g.fillText(`+${up.toFixed(0)}`, GUTTER - 9, top);
  if (bottom - zero > 16) g.fillText(`−${down.toFixed(0)}`, GUTTER - 9, bottom);
}
