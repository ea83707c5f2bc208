// What lies over the shares and boxes: axes, names in boxes, arrows of messages, and what was chosen.
// Drawn on a canvas of its own, text included, so that nothing of a trace is ever markup.
import type { FlowStep, PathSegment } from '../api';
import { duration, moment } from '../format';
import type { Model } from '../model';
import type { Selection } from '../selection';
import { css, inkOn, type Theme } from '../theme';
import type { Chunk, Hit } from './details';
import type { Tiles } from './tiles';
import { nsPerPixel, rowsShown, timeAt, xOf, yOf, type Viewport } from './viewport';

export const GUTTER = 58;
export const RULER = 24;

export interface OverlayState {
  selection: Selection;
  hover: { x: number; y: number } | null;
  hit: Hit | null;
  brush: { from: number; to: number } | null;
  flow: FlowStep[];
  path: PathSegment[];
  arrows: boolean;
}

/** Round steps of time about `pixels` apart. */
export function tickStep(view: Viewport, pixels: number): number {
  const rough = nsPerPixel(view) * pixels;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough) ?? 10 * power;
}

export class Overlay {
  private readonly widths = new Map<string, number>();
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly model: Model,
  ) {}

  draw(view: Viewport, theme: Theme, tiles: Tiles, chunks: Chunk[], state: OverlayState): void {
    const g = this.context;
    g.clearRect(0, 0, view.width + GUTTER, view.height + RULER);
    g.font = `11px ${theme.font}`;
    g.textBaseline = 'middle';
    g.save();
    g.beginPath();
    g.rect(GUTTER, RULER, view.width, view.height);
    g.clip();
    g.translate(GUTTER, RULER);
    this.gaps(view, theme);
    this.dimUnchosen(view, theme, tiles, state.selection);
    this.names(view, theme, tiles, chunks, state);
    if (state.arrows) {
      this.collectives(view, theme, tiles, chunks);
      this.arrows(view, theme, tiles, chunks);
    }
    this.path(view, theme, tiles, state.path);
    this.flow(view, theme, tiles, state.flow);
    this.chosen(view, theme, state.brush ?? state.selection.chosen);
    if (state.hit) this.outline(view, theme, tiles, state.hit);
    g.restore();
    this.ruler(view, theme, state);
    this.rankAxis(view, theme, tiles, state);
  }

  private gaps(view: Viewport, theme: Theme): void {
    if (view.rowHeight < 8) return;
    const g = this.context;
    g.fillStyle = theme.background;
    const gap = view.rowHeight >= 20 ? 3 : 1;
    for (let row = Math.floor(view.row); row <= Math.min(view.ranks - 1, view.row + rowsShown(view)); row++) {
      g.fillRect(0, Math.round(yOf(view, row + 1)) - gap, view.width, gap);
    }
  }

  /** Rows and times that were not chosen step back. */
  private dimUnchosen(view: Viewport, theme: Theme, tiles: Tiles, { ranks }: Selection): void {
    if (ranks.length === 0 || view.rowHeight < 2) return;
    const g = this.context;
    g.fillStyle = theme.background;
    g.globalAlpha = 0.6;
    for (let row = Math.floor(view.row); row <= Math.min(view.ranks - 1, view.row + rowsShown(view)); row++) {
      const rank = tiles.rankAt(row);
      if (rank !== undefined && !ranks.some(([a, b]) => rank >= a && rank <= b)) g.fillRect(0, yOf(view, row), view.width, view.rowHeight);
    }
    g.globalAlpha = 1;
  }

  private width(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      width = this.context.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }

  private names(view: Viewport, theme: Theme, tiles: Tiles, chunks: Chunk[], state: OverlayState): void {
    if (view.rowHeight < 11) return;
    const g = this.context;
    let left = 600;
    for (const { calls, from } of chunks) {
      if (!calls) continue;
      for (let i = 0; i < calls.n && left > 0; i++) {
        // A call in two chunks gets its name once.
        if (calls.start[i]! < from && from > view.from) continue;
        const x0 = Math.max(0, xOf(view, calls.start[i]!));
        const x1 = Math.min(view.width, xOf(view, calls.end[i]!));
        if (x1 - x0 < 26) continue;
        const position = tiles.positionOf(calls.rank[i]!);
        if (position === undefined) continue;
        const y = yOf(view, position);
        if (y + view.rowHeight < 0 || y > view.height) continue;
        const name = this.model.opName(calls.op[i]).replace(/^P?MPI_/, '').slice(0, 60);
        const wide = this.width(name);
        if (wide + 8 > x1 - x0) continue;
        const colour = theme.categories[this.model.categoryOfOp[calls.op[i]!] ?? 6]!;
        const dimmed = state.selection.sites.length > 0 && !state.selection.sites.includes(calls.site[i]!);
        g.fillStyle = dimmed ? theme.inkSoft : inkOn(colour);
        g.fillText(name, (x0 + x1 - wide) / 2, y + (view.rowHeight - 2) / 2);
        left--;
      }
    }
  }

  /** Who came when to a collective, and who left when: a line through each, where they can be told apart. */
  private collectives(view: Viewport, theme: Theme, tiles: Tiles, chunks: Chunk[]): void {
    const shapes = new Map<string, { x0: number; x1: number; y: number }[]>();
    for (const { collectives } of chunks) {
      for (const { comm, op, ranks, start, end } of collectives) {
        const points = ranks
          .map((rank, i) => ({ position: tiles.positionOf(rank), x0: xOf(view, start[i]!), x1: xOf(view, end[i]!) }))
          .filter((point): point is { position: number; x0: number; x1: number } => point.position !== undefined)
          .sort((a, b) => a.position - b.position)
          .map(({ position, x0, x1 }) => ({ x0, x1, y: yOf(view, position + 0.5) }));
        if (points.length < 2 || points.every(({ x0, x1 }) => x1 < 0 || x0 > view.width)) continue;
        shapes.set(`${comm}/${op}/${start[0]}`, points);
      }
    }
    if (shapes.size > view.width / 60) return;
    const g = this.context;
    g.strokeStyle = theme.ink;
    g.lineWidth = 1;
    g.globalAlpha = 0.55;
    for (const points of shapes.values()) {
      for (const side of ['x0', 'x1'] as const) {
        g.setLineDash(side === 'x0' ? [2, 3] : []);
        g.beginPath();
        points.forEach((point, i) => (i ? g.lineTo(point[side], point.y) : g.moveTo(point[side], point.y)));
        g.stroke();
      }
    }
    g.setLineDash([]);
    g.globalAlpha = 1;
  }

  private arrows(view: Viewport, theme: Theme, tiles: Tiles, chunks: Chunk[]): void {
    const g = this.context;
    const drawn = new Set<string>();
    const lines: [number, number, number, number][] = [];
    for (const { messages } of chunks) {
      for (let i = 0; messages && i < messages.n; i++) {
        const x0 = xOf(view, messages.sent[i]!);
        const x1 = xOf(view, messages.received[i]!);
        if (x1 < 0 || x0 > view.width) continue;
        const a = tiles.positionOf(messages.from[i]!);
        const b = tiles.positionOf(messages.to[i]!);
        if (a === undefined || b === undefined) continue;
        const key = `${messages.sent[i]}/${messages.received[i]}/${a}/${b}`;
        if (drawn.has(key)) continue;
        drawn.add(key);
        lines.push([x0, yOf(view, a + 0.5), x1, yOf(view, b + 0.5)]);
      }
    }
    // More than these run into each other: they would only hide what is below.
    if (lines.length > view.width / 24) return;
    g.lineWidth = 1.25;
    g.strokeStyle = theme.ink;
    g.fillStyle = theme.ink;
    g.globalAlpha = 0.75;
    for (const [x0, y0, x1, y1] of lines) {
      g.beginPath();
      g.moveTo(x0, y0);
      g.lineTo(x1, y1);
      g.stroke();
      g.beginPath();
      g.arc(x0, y0, 2, 0, Math.PI * 2);
      g.fill();
      this.head(x0, y0, x1, y1);
    }
    g.globalAlpha = 1;
  }
  private head(x0: number, y0: number, x1: number, y1: number): void {
    const g = this.context;
    const angle = Math.atan2(y1 - y0, x1 - x0);
    g.beginPath();
    g.moveTo(x1, y1);
    g.lineTo(x1 - 7 * Math.cos(angle - 0.4), y1 - 7 * Math.sin(angle - 0.4));
    g.lineTo(x1 - 7 * Math.cos(angle + 0.4), y1 - 7 * Math.sin(angle + 0.4));
    g.fill();
  }

  private path(view: Viewport, theme: Theme, tiles: Tiles, segments: PathSegment[]): void {
    if (segments.length === 0) return;
    const g = this.context;
    for (const [width, colour] of [
      [5, theme.background],
      [2.5, theme.ink],
    ] as const) {
      g.lineWidth = width;
      g.strokeStyle = colour;
      g.beginPath();
      let last: [number, number] | null = null;
      for (const segment of segments) {
        const position = tiles.positionOf(segment.rank);
        if (position === undefined) continue;
        const y = yOf(view, position + 0.5);
        const x0 = Math.max(-10, xOf(view, segment.start_ns));
        const x1 = Math.min(view.width + 10, xOf(view, segment.end_ns));
        if (last) g.lineTo(x0, y);
        else g.moveTo(x0, y);
        g.lineTo(x1, y);
        last = [x1, y];
      }
      g.stroke();
    }
  }

  private flow(view: Viewport, theme: Theme, tiles: Tiles, steps: FlowStep[]): void {
    const g = this.context;
    let previous: [number, number] | null = null;
    for (const step of steps) {
      const position = tiles.positionOf(step.rank);
      if (position === undefined) continue;
      const x0 = xOf(view, step.start_ns);
      const x1 = Math.max(x0 + 2, xOf(view, step.end_ns));
      const y = yOf(view, position);
      g.strokeStyle = theme.accent;
      g.lineWidth = 2.5;
      g.strokeRect(x0, y + 1, x1 - x0, view.rowHeight - 4);
      const here: [number, number] = [Math.min(Math.max((x0 + x1) / 2, 8), view.width - 8), y + view.rowHeight / 2];
      if (previous && Math.abs(previous[1] - here[1]) > 1) {
        g.setLineDash([5, 4]);
        g.beginPath();
        g.moveTo(...previous);
        g.lineTo(...here);
        g.stroke();
        g.setLineDash([]);
      }
      previous = here;
    }
  }

  private chosen(view: Viewport, theme: Theme, range: { from: number; to: number } | null): void {
    if (!range) return;
    const g = this.context;
    const x0 = xOf(view, range.from);
    const x1 = xOf(view, range.to);
    g.fillStyle = theme.background;
    g.globalAlpha = 0.45;
    if (x0 > 0) g.fillRect(0, 0, Math.min(x0, view.width), view.height);
    if (x1 < view.width) g.fillRect(Math.max(x1, 0), 0, view.width - Math.max(x1, 0), view.height);
    g.globalAlpha = 1;
    g.fillStyle = theme.accent;
    g.fillRect(Math.round(x0) - 1, 0, 2, view.height);
    g.fillRect(Math.round(x1) - 1, 0, 2, view.height);
  }

  private outline(view: Viewport, theme: Theme, tiles: Tiles, hit: Hit): void {
    const position = tiles.positionOf(hit.rank);
    if (position === undefined) return;
    const x0 = xOf(view, hit.start);
    this.context.strokeStyle = theme.ink;
    this.context.lineWidth = 2;
    this.context.strokeRect(x0, yOf(view, position) + 1, Math.max(2, xOf(view, hit.end) - x0), view.rowHeight - 4);
  }

  private ruler(view: Viewport, theme: Theme, state: OverlayState): void {
    const g = this.context;
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
    const label = range && this.rangeLabel(view, range);
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
      if (!label || x + 3 + this.width(text) < label.x - 6 || x > label.x + this.width(label.text) + 6) g.fillText(text, x + 3, RULER / 2 - 1);
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
  private rangeLabel(view: Viewport, range: { from: number; to: number }): { text: string; x: number } | null {
    const text = duration(range.to - range.from);
    const wide = this.width(text);
    const from = Math.max(0, xOf(view, range.from));
    const to = Math.min(view.width, xOf(view, range.to));
    return to - from > wide + 10 ? { text, x: GUTTER + (from + to - wide) / 2 } : null;
  }

  private rankAxis(view: Viewport, theme: Theme, tiles: Tiles, state: OverlayState): void {
    const g = this.context;
    g.fillStyle = theme.background;
    g.fillRect(0, RULER, GUTTER, view.height);
    g.fillStyle = theme.inkSoft;
    g.textAlign = 'right';
    const last = Math.min(view.ranks - 1, Math.floor(view.row + rowsShown(view)));
    const every = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096].find((n) => n * view.rowHeight >= 20) ?? 8192;
    for (let row = Math.ceil(Math.floor(view.row) / every) * every; row <= last; row += every) {
      const y = RULER + yOf(view, row + (view.rowHeight >= 11 ? 0.5 : 0)) - (view.rowHeight >= 20 ? 1.5 : 0);
      if (y < RULER + 5 && row !== Math.floor(view.row)) continue;
      const rank = tiles.rankAt(row);
      const chosen = rank !== undefined && state.selection.ranks.some(([a, b]) => rank >= a && rank <= b);
      g.fillStyle = chosen ? theme.accent : theme.inkSoft;
      g.fillText(rank === undefined ? '…' : `${rank}`, GUTTER - 9, Math.max(y, RULER + 6));
      g.fillRect(GUTTER - 5, Math.round(y), 4, 1);
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
}
