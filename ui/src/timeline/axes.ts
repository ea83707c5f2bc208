// The ruler above the rows and the numbers of ranks beside them.
import { duration, moment } from '../format';
import { hasRank, type Selection, type Span } from '../selection';
import { css, type Theme } from '../theme';
import { textWidth } from './text';
import type { Tiles } from './tiles';
import { nsPerPixel, rowsShown, timeAt, xOf, yOf, type Viewport } from './viewport';

/** Left of the drawing, and above it. */
export const GUTTER = 58;
export const RULER = 24;

export interface AxesState {
  selection: Selection;
  hover: { x: number; y: number } | null;
  brush: Span | null;
}

/** Round steps of time about `pixels` apart. */
export function tickStep(view: Viewport, pixels: number): number {
  const rough = nsPerPixel(view) * pixels;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough) ?? 10 * power;
}

export function ruler(g: CanvasRenderingContext2D, view: Viewport, theme: Theme, state: AxesState): void {
  g.fillStyle = theme.background;
  g.fillRect(0, 0, view.width + GUTTER, RULER);
  g.save();
  g.beginPath();
  g.rect(GUTTER, 0, view.width, RULER);
  g.clip();
  const range = state.brush ?? state.selection.chosen;
  if (range) {
    g.fillStyle = theme.accent;
    g.globalAlpha = 0.22;
    g.fillRect(GUTTER + xOf(view, range.from), 0, xOf(view, range.to) - xOf(view, range.from), RULER);
    g.globalAlpha = 1;
  }
  const step = tickStep(view, 96);
  const label = range && rangeLabel(g, view, range);
  g.fillStyle = theme.inkSoft;
  g.strokeStyle = theme.line;
  g.lineWidth = 1;
  for (let tick = Math.ceil(view.from / step) * step; tick <= view.to; tick += step) {
    const x = Math.round(GUTTER + xOf(view, tick)) + 0.5;
    g.beginPath();
    g.moveTo(x, RULER - 6);
    g.lineTo(x, RULER);
    g.stroke();
    const text = moment(tick, step, view.to);
    // One that does not fit is read wrongly.
    if (x + 3 + textWidth(g, text) > GUTTER + view.width) continue;
    if (!label || x + 3 + textWidth(g, text) < label.x - 6 || x > label.x + textWidth(g, label.text) + 6) g.fillText(text, x + 3, RULER / 2 - 1);
  }
  if (label) {
    g.fillStyle = theme.accent;
    g.fillText(label.text, label.x, RULER / 2 - 1);
  }
  if (state.hover && state.hover.x >= GUTTER) {
    const label = moment(timeAt(view, state.hover.x - GUTTER), tickStep(view, 2), view.to);
    const wide = g.measureText(label).width;
    const x = Math.min(state.hover.x + 5, GUTTER + view.width - wide - 6);
    g.fillStyle = theme.ink;
    g.fillRect(x - 4, 3, wide + 8, RULER - 7);
    g.fillRect(Math.round(state.hover.x), 0, 1, RULER);
    g.fillStyle = theme.background;
    g.fillText(label, x, RULER / 2);
  }
  g.restore();
  g.fillStyle = theme.line;
  g.fillRect(GUTTER, RULER - 1, view.width, 1);
  if (state.hover && state.hover.x >= GUTTER && state.hover.y >= RULER) {
    g.fillStyle = css([128, 140, 152], 0.7);
    g.fillRect(Math.round(state.hover.x), RULER, 1, view.height);
  }
}

/** How long the chosen range is, where there is room for it; ticks make way. */
function rangeLabel(g: CanvasRenderingContext2D, view: Viewport, range: Span): { text: string; x: number } | null {
  const text = duration(range.to - range.from);
  const wide = textWidth(g, text);
  const from = Math.max(0, xOf(view, range.from));
  const to = Math.min(view.width, xOf(view, range.to));
  return to - from > wide + 10 ? { text, x: GUTTER + (from + to - wide) / 2 } : null;
}

export function rankAxis(g: CanvasRenderingContext2D, view: Viewport, theme: Theme, tiles: Tiles, state: AxesState): void {
  g.fillStyle = theme.background;
  g.fillRect(0, RULER, GUTTER, view.height);
  g.fillStyle = theme.inkSoft;
  g.textAlign = 'right';
  const last = Math.min(view.ranks - 1, Math.floor(view.row + rowsShown(view)));
  const every = 2 ** Math.max(0, Math.ceil(Math.log2(20 / view.rowHeight)));
  const yOfRow = (row: number) => RULER + yOf(view, row + (view.rowHeight >= 11 ? 0.5 : 0)) - (view.rowHeight >= 20 ? 1.5 : 0);
  const label = (row: number, colour: string) => {
    const [rank, y] = [tiles.rankAt(row), yOfRow(row)];
    g.fillStyle = colour;
    g.fillText(rank === undefined ? '…' : `${rank}`, GUTTER - 9, Math.min(Math.max(y, RULER + 6), RULER + view.height - 6));
    g.fillRect(GUTTER - 5, Math.round(y), 4, 1);
  };
  // A few that were chosen are always told; others make way.
  const { ranks } = state.selection;
  const single = ranks.flatMap(([a, b]) => (a === b ? [tiles.positionOf(a)] : [tiles.positionOf(a), tiles.positionOf(b)]));
  const chosen = single.length > 8 ? [] : single.filter((row) => row !== undefined && row >= Math.floor(view.row) && row <= last) as number[];
  for (const row of chosen) label(row, theme.accent);
  for (let row = Math.ceil(Math.floor(view.row) / every) * every; row <= last; row += every) {
    const y = yOfRow(row);
    if (y < RULER + 5 && row !== Math.floor(view.row)) continue;
    if (chosen.some((other) => Math.abs(yOfRow(other) - y) < 14)) continue;
    const rank = tiles.rankAt(row);
    label(row, rank !== undefined && ranks.length > 0 && hasRank(ranks, rank) ? theme.accent : theme.inkSoft);
  }
  g.textAlign = 'left';
  g.fillStyle = theme.inkSoft;
  g.fillText('rank', 8, RULER / 2 - 1);
  const shown = rowsShown(view);
  if (shown < view.ranks - 0.01) {
    const size = Math.max(24, (shown / view.ranks) * view.height);
    const top = RULER + (view.row / Math.max(1, view.ranks - shown)) * (view.height - size);
    g.fillStyle = theme.line;
    g.fillRect(0, RULER, 5, view.height);
    g.fillStyle = theme.inkSoft;
    g.fillRect(0, top, 5, size);
  }
}
