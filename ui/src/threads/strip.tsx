// What the threads of ranks do, under the timeline and on its time axis, for a run with parallel regions.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ThreadRows } from '../api';
import { count, duration, moment, percent } from '../format';
import { useSelection, type Model } from '../model';
import { useRedraw } from '../redraw';
import type { Span } from '../selection';
import { Cursor, onWheel, pointAt, type Moves } from '../strip';
import { css, onTheme, theme } from '../theme';
import { Row } from '../tooltip';
import { STATES, stretchAt, useThreadRows, type Stretch } from './answer';
import { colours, draw, placed, type Placed } from './draw';

/** What is under the pointer. */
interface Under {
  x: number;
  y: number;
  place: Placed;
  stretch: Stretch | null;
}
interface Props {
  model: Model;
  /** Ranks in view, from the first on. */
  inView: () => number[];
  moves: Moves;
}

/** Nothing is shown where nothing is known of threads, or their tables cannot be read: the run is whole without. */
export function ThreadsStrip({ model, inView, moves }: Props) {
  // Ranks in view are known once the timeline is there.
  const [, again] = useState(0);
  useEffect(() => again(1), []);
  const { value, error, busy } = useThreadRows(model, true, inView);
  return value && error === null && value.ranks.length > 0 ? <Strip model={model} value={value} busy={busy} moves={moves} /> : null;
}

function Strip({ model, value, busy, moves }: { model: Model; value: ThreadRows; busy: boolean; moves: Moves }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const s = useSelection(model);
  const [under, setUnder] = useState<Under | null>(null);
  // It may be hidden before it is drawn.
  const redraw = () => canvas.current && draw(canvas.current, value, s, under);
  useEffect(() => void redraw(), [value, s.window, s.chosen, s.sites, under]);
  useRedraw(canvas, redraw);
  const rows = value.ranks.reduce((sum, rank) => sum + rank.threads.length, 0);
  const all = value.ranks.reduce((sum, rank) => sum + rank.of, 0);

  const point = (event: MouseEvent) => {
    const { x, y, time } = pointAt(canvas.current!, event, s);
    const place = placed(value, canvas.current!.clientHeight).find(({ top, high }) => y >= top && y < top + high);
    setUnder(place && time !== null ? { x, y, place, stretch: stretchAt(value, place.row, time) } : null);
    model.point(time);
  };
  const leave = () => {
    setUnder(null);
    model.point(null);
  };
  return (
    <div class="strip" data-testid="threads-strip" data-busy={busy} data-rows={rows} data-ranks={value.ranks.map((rank) => rank.rank).join(',')}>
      <div class="strip-head">
        <span class="strip-axis soft" title={value.ranks.length > 1 ? 'rank and thread' : 'thread'}>
          thread
        </span>
        <strong>{title(value)}</strong>
        {rows < all && (
          <span>
            {count(rows)} of {count(all)} threads
          </span>
        )}
        <span class="grow" />
        <Legend value={value} window={s.window} />
      </div>
      <div class="strip-rows">
        <canvas
          ref={canvas}
          class="threads-plot strip-canvas"
          style={{ height: `${plotHeight(rows, value.ranks.length)}px` }}
          aria-label="what each thread does along time"
          onMouseMove={point}
          onMouseLeave={leave}
          onWheel={(event) => onWheel(canvas.current!, event, moves)}
          onClick={() => model.chooseSite(under?.stretch?.subject?.site)}
        />
        <Cursor model={model} testid="threads-cursor" />
        {under?.stretch && <Tooltip model={model} under={under} stretch={under.stretch} wide={canvas.current!.clientWidth} high={canvas.current!.clientHeight} />}
      </div>
    </div>
  );
}

function title({ ranks }: ThreadRows): string {
  const numbers = ranks.map((rank) => count(rank.rank));
  if (numbers.length === 1) return `Threads of rank ${numbers[0]}`;
  const follow = ranks.every((rank, i) => rank.rank === ranks[0]!.rank + i);
  return `Threads of ranks ${follow && numbers.length > 2 ? `${numbers[0]} to ${numbers.at(-1)}` : numbers.join(', ')}`;
}

/** Rows as high as the window lets them be, but a few threads do not become bands. */
const plotHeight = (rows: number, ranks: number): number => Math.min(rows * 16 + (ranks - 1) * 5, Math.max(120, Math.min(480, innerHeight * 0.3)));

/** What the colours mean, of states that are in view. */
function Legend({ value, window }: { value: ThreadRows; window: Span }) {
  const there = new Set<number>();
  for (const { threads } of value.ranks) {
    for (const { bounds, states, shares } of threads) {
      let mixed = 0;
      states.forEach((state, i) => {
        const of = state === null ? shares[mixed++]! : null;
        if (bounds[i + 1]! <= window.from || bounds[i]! >= window.to) return;
        if (state !== null) there.add(state);
        of?.forEach((share, each) => share > 0 && there.add(each));
      });
    }
  }
  return (
    <div class="legend-items">
      {STATES.map(
        ({ name, says }, state) =>
          there.has(state) && (
            <span class="legend-item" title={says} key={state}>
              <StateSwatch state={state} /> {name}
            </span>
          ),
      )}
    </div>
  );
}

function StateSwatch({ state }: { state: number }) {
  const [, again] = useState(0);
  useEffect(() => onTheme(() => again((n) => n + 1)), []);
  const [first, second] = colours(state, theme());
  const background = second ? `repeating-linear-gradient(135deg, ${css(first)} 0 3px, ${css(second)} 3px 5px)` : css(first);
  return <span class="swatch" style={{ background }} />;
}

function Tooltip({ model, under: { x, y, place }, stretch, wide, high }: { model: Model; under: Under; stretch: Stretch; wide: number; high: number }) {
  const { state, shares, subject, from, to } = stretch;
  const call = subject?.op !== null && subject?.op !== undefined;
  const site = placeOf(model, subject?.site);
  const task = placeOf(model, subject?.task);
  const style = { left: `${Math.min(x + 14, wide - 268)}px`, bottom: `${high - y + 12}px` };
  return (
    <div class="tooltip" style={style} data-testid="threads-tooltip" data-state={state ?? ''}>
      <div class="tooltip-head">
        {state !== null && <StateSwatch state={state} />} <strong>{state === null ? 'several stretches' : call ? model.opName(subject.op) : STATES[state]?.name}</strong>
      </div>
      {shares
        ?.map((share, each) => ({ share, each }))
        .filter(({ share }) => share > 0)
        .sort((a, b) => b.share - a.share)
        .map(({ share, each }) => (
          <div class="tooltip-row" key={each}>
            <span>
              <StateSwatch state={each} /> {STATES[each]?.name}
            </span>
            <span>{percent(share / 255)}</span>
          </div>
        ))}
      <Row name="thread" value={`${place.row.thread} of rank ${count(place.rank.rank)}`} />
      {site && <Row name={call ? 'call site' : state === null ? 'mostly in' : 'region'} value={site} />}
      {task && <Row name="task" value={task} />}
      <Row name="start" value={moment(from, 1000)} />
      <Row name="duration" value={duration(to - from)} />
    </div>
  );
}

/** A place with the function it is in. */
function placeOf(model: Model, site: number | null | undefined): string {
  if (site === null || site === undefined) return '';
  const [name, { function: of = '' } = {}] = [model.siteName(site), model.site(site)];
  return of && name !== of ? `${of.slice(0, 120)} ${name}` : name;
}
