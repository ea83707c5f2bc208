// Draws what threads do: a row for each, time from left to right as on the timeline. Where stretches are too short to be
// told apart, a column is a stack of their shares: computation at the bottom, lost time on top.
import type { RankRows, ThreadRow, ThreadRows } from '../api';
import type { Selection } from '../selection';
import { CATEGORY, css, theme, type Rgb, type Theme } from '../theme';
import { GUTTER } from '../timeline/axes';
import { STATE, type Stretch } from './answer';

/** Between the threads of one rank and those of the next. */
const GAP = 5;
/** From the bottom of a column upwards. */
const STACK = [STATE.computing, STATE.serial, STATE.call, STATE.region, STATE.waiting, STATE.idle, STATE.none];

/** The row of a thread on the screen. */
export interface Placed {
  rank: RankRows;
  row: ThreadRow;
  top: number;
  high: number;
}

export function placed({ ranks }: ThreadRows, height: number): Placed[] {
  const rows = ranks.reduce((sum, rank) => sum + rank.threads.length, 0);
  const high = (height - GAP * Math.max(0, ranks.length - 1)) / Math.max(1, rows);
  let top = 0;
  return ranks.flatMap((rank, i) => {
    if (i > 0) top += GAP;
    return rank.threads.map((row) => {
      const place = { rank, row, top, high };
      top += high;
      return place;
    });
  });
}

/** How a thread is called beside its row. */
export const nameOf = (value: ThreadRows, rank: RankRows, row: ThreadRow): string => (value.ranks.length > 1 ? `${rank.rank}:${row.thread}` : `${row.thread}`);

/** The colours of a state; what has a second is hatched. */
export function colours(state: number, { name, categories, hatchNone }: Theme): [Rgb, Rgb | null] {
  const light = name === 'light';
  const none = categories[CATEGORY.none]!;
  const all: [Rgb, Rgb | null][] = [
    [categories[CATEGORY.compute]!, null],
    [categories[CATEGORY.receive]!, null],
    [light ? [124, 150, 172] : [108, 139, 168], null],
    [categories[CATEGORY.send]!, null],
    [light ? [239, 242, 244] : [32, 39, 46], null],
    [categories[CATEGORY.compute]!, categories[CATEGORY.receive]!],
    [none, hatchNone],
  ];
  return all[state] ?? [none, null];
}

/** What fills a state: a colour, or a hatch of two. */
function fills(g: CanvasRenderingContext2D, theme: Theme): (string | CanvasPattern)[] {
  return STACK.map((_, state) => {
    const [first, second] = colours(state, theme);
    if (!second) return css(first);
    const tile = document.createElement('canvas');
    tile.width = tile.height = 8;
    const t = tile.getContext('2d')!;
    t.fillStyle = css(first);
    t.fillRect(0, 0, 8, 8);
    t.fillStyle = css(second);
    for (let y = 0; y < 8; y++) for (let x = 0; x < 8; x++) if (((x + y) & 7) < 2) t.fillRect(x, y, 1, 1);
    return g.createPattern(tile, 'repeat')!;
  });
}

/** What is under the pointer is outlined. */
export function draw(canvas: HTMLCanvasElement, value: ThreadRows, s: Selection, over: { place: Placed; stretch: Stretch | null } | null): void {
  const ratio = devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const g = canvas.getContext('2d')!;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  const colours = theme();
  const rows = placed(value, height);
  const x = (ns: number) => GUTTER + ((ns - s.window.from) / (s.window.to - s.window.from)) * (width - GUTTER);
  g.save();
  g.beginPath();
  g.rect(GUTTER, 0, width - GUTTER, height);
  g.clip();
  const fill = fills(g, colours);
  const chosen = new Set(s.sites);
  for (const place of rows) stretches(g, value, place, fill, chosen, x, width);
  if (over?.stretch) {
    const { top, high } = over.place;
    const [left, right] = [Math.max(GUTTER, x(over.stretch.from)), Math.min(width, x(over.stretch.to))];
    g.strokeStyle = colours.ink;
    g.lineWidth = 1.5;
    if (right - left > 3) g.strokeRect(left + 0.75, Math.round(top) + 0.75, right - left - 1.5, Math.max(2, Math.round(top + high) - 1 - Math.round(top) - 1.5));
  }
  if (s.chosen) {
    g.fillStyle = colours.accent;
    for (const ns of [s.chosen.from, s.chosen.to]) g.fillRect(Math.round(x(ns)) - 1, 0, 2, height);
  }
  g.restore();
  g.font = colours.label;
  g.textBaseline = 'middle';
  g.textAlign = 'right';
  // Where rows are low, not all of them have room for a name.
  const every = Math.ceil(11 / Math.max(1, rows[0]?.high ?? 11));
  for (const place of rows) {
    const strong = over?.place.row === place.row;
    if (!strong && place.rank.threads.indexOf(place.row) % every !== 0) continue;
    g.fillStyle = strong ? colours.accent : colours.inkSoft;
    g.fillText(nameOf(value, place.rank, place.row), GUTTER - 9, Math.max(6, place.top + place.high / 2));
  }
}

function stretches(g: CanvasRenderingContext2D, value: ThreadRows, { row, top, high }: Placed, fill: (string | CanvasPattern)[], chosen: Set<number>, x: (ns: number) => number, width: number): void {
  const [upper, lower] = [Math.round(top), Math.max(Math.round(top) + 1, Math.round(top + high) - 1)];
  let mixed = 0;
  let right = Math.round(x(row.bounds[0] ?? 0));
  for (let i = 0; i < row.states.length; i++) {
    const state = row.states[i]!;
    const shares = state === null ? row.shares[mixed++] : null;
    // To whole pixels: neighbours neither overlap nor leave a seam.
    const left = right;
    right = Math.round(x(row.bounds[i + 1]!));
    if (right <= left || right < GUTTER || left > width) continue;
    const site = value.subjects[row.subjects[i] ?? -1]?.site;
    g.globalAlpha = chosen.size === 0 || (site !== null && site !== undefined && chosen.has(site)) ? 1 : 0.22;
    if (shares) {
      let [sum, bottom] = [0, lower];
      for (const each of STACK) {
        sum += shares[each]!;
        const until = sum >= 253 ? upper : Math.round(lower - (sum / 255) * (lower - upper));
        if (until < bottom) {
          g.fillStyle = fill[each]!;
          g.fillRect(left, until, right - left, bottom - until);
          bottom = until;
        }
      }
    } else {
      g.fillStyle = fill[state!]!;
      g.fillRect(left, upper, right - left, lower - upper);
    }
  }
  g.globalAlpha = 1;
}
