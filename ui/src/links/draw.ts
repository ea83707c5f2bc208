// Draws the load of links: a row for each, time from left to right as on the timeline, the darker (or on a dark page the
// lighter) the busier. Names lie over the rows, because there is no room for them beside, and make way for the pointer.
import type { BusyLinks } from '../api';
import { percent } from '../format';
import { cellColour } from '../ramp';
import type { Selection } from '../selection';
import { CATEGORY, css, theme, type Theme } from '../theme';
import { GUTTER } from '../timeline/axes';

/** Names that are wider than this part of the drawing are cut. */
const WIDEST = 0.3;

/** What tells names apart: without the words that all of them begin with. */
export function tellingNames(names: string[]): string[] {
  const words = names.map((name) => name.match(/[^_\-.]+[_\-.]*|^[_\-.]+/g) ?? [name]);
  let same = 0;
  while (names.length > 1 && words.every((each) => each.length > same + 1 && each[same] === words[0]![same])) same++;
  return words.map((each) => (same > 0 ? `…${each.slice(same).join('')}` : each.join('')));
}

/** Gives how far to the right names reach. */
export function draw(canvas: HTMLCanvasElement, value: BusyLinks | null, s: Selection, over: string | null, named: boolean): number {
  const ratio = devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const g = canvas.getContext('2d')!;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (!value || value.links.length === 0) return 0;
  const colours = theme();
  g.font = colours.label;
  g.textBaseline = 'middle';
  const high = height / value.links.length;
  const x = (ns: number) => GUTTER + ((ns - s.window.from) / (s.window.to - s.window.from)) * (width - GUTTER);
  cells(g, value, s, x, width, high);
  value.links.forEach((link, row) => {
    const middle = (row + 0.5) * high;
    const strong = link.name === over;
    g.textAlign = 'right';
    g.fillStyle = strong ? colours.accent : colours.inkSoft;
    g.fillText(percent(link.mean), GUTTER - 7, middle);
    g.textAlign = 'left';
    if (strong) {
      g.strokeStyle = colours.accent;
      g.lineWidth = 2;
      g.strokeRect(GUTTER + 1, row * high, width - GUTTER - 2, high - 1);
    }
  });
  if (s.chosen) {
    g.fillStyle = colours.accent;
    for (const ns of [s.chosen.from, s.chosen.to]) if (x(ns) >= GUTTER) g.fillRect(Math.round(x(ns)) - 1, 0, 2, height);
  }
  return labels(g, colours, value, high, WIDEST * (width - GUTTER), named);
}

/** What each link carried. Where that was mostly for calls that are not chosen, it steps back. */
function cells(g: CanvasRenderingContext2D, value: BusyLinks, s: Selection, x: (ns: number) => number, width: number, high: number): void {
  const colours = theme();
  const chosen = new Set(s.sites);
  g.save();
  g.beginPath();
  g.rect(GUTTER, 0, width - GUTTER, high * value.links.length);
  g.clip();
  value.links.forEach((link, row) => {
    const [top, bottom] = [Math.round(row * high), Math.round((row + 1) * high) - 1];
    g.fillStyle = css(colours.categories[CATEGORY.none]!);
    g.fillRect(GUTTER, top, width - GUTTER, bottom - top);
    for (let i = 0; i < link.starts.length; i++) {
      const [x0, x1] = [x(link.starts[i]!), x(link.ends[i]!)];
      if (x1 < GUTTER || x0 > width) continue;
      const call = value.calls[link.stretch_calls[i] ?? -1];
      g.globalAlpha = chosen.size === 0 || (call?.site !== null && call !== undefined && chosen.has(call.site)) ? 1 : 0.22;
      g.fillStyle = css(cellColour(link.shares[i]!));
      // To whole pixels: neighbours neither overlap nor leave a seam.
      const [left, right] = [Math.round(x0), Math.round(x1)];
      g.fillRect(left, top, Math.max(1, right - left), bottom - top);
    }
    g.globalAlpha = 1;
  });
  g.restore();
}

/** Names, on plates so that they are read on any colour. */
function labels(g: CanvasRenderingContext2D, colours: Theme, { links }: BusyLinks, high: number, widest: number, named: boolean): number {
  const names = tellingNames(links.map((link) => link.name)).map((name) => fitted(g, name, widest));
  const widths = names.map((name) => g.measureText(name).width);
  if (named) {
    g.globalAlpha = 0.86;
    g.fillStyle = colours.background;
    widths.forEach((width, row) => g.fillRect(GUTTER, row * high, width + 10, high - 1));
    g.globalAlpha = 1;
    g.fillStyle = colours.ink;
    names.forEach((name, row) => g.fillText(name, GUTTER + 5, (row + 0.5) * high));
  }
  return GUTTER + Math.max(...widths) + 10;
}

/** The end of a name says more than its middle. */
function fitted(g: CanvasRenderingContext2D, name: string, widest: number): string {
  if (g.measureText(name).width <= widest) return name;
  let letters = Math.min(name.length, 200);
  const cut = () => `${name.slice(0, Math.ceil(letters / 2))}…${name.slice(-Math.floor(letters / 2))}`;
  while (letters > 4 && g.measureText(cut()).width > widest) letters--;
  return cut();
}
