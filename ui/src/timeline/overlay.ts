// What lies over the shares and boxes: names in boxes, reasons of gaps, overlays, and what was chosen.
// Drawn on a canvas of its own, text included, so that nothing of a trace is ever markup.
import type { FlowStep, PathSegment, Stop } from '../api';
import type { Model } from '../model';
import { hasRank, type Selection, type Span } from '../selection';
import { inkOn, type Theme } from '../theme';
import { GUTTER, RULER, rankAxis, ruler, type AxesState } from './axes';
import type { Chunk, Hit } from './details';
import { arrows, collectives } from './exchange';
import { reasonOf } from './stops';
import { textWidth } from './text';
import type { Tiles } from './tiles';
import { rowsShown, xOf, yOf, type Viewport } from './viewport';

export interface OverlayState extends AxesState {
  hit: Hit | null;
  stops: Stop[];
  flow: FlowStep[];
  path: PathSegment[];
  arrows: boolean;
}

export class Overlay {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly model: Model,
  ) {}

  draw(view: Viewport, theme: Theme, tiles: Tiles, chunks: Chunk[], state: OverlayState): void {
    const g = this.context;
    g.clearRect(0, 0, view.width + GUTTER, view.height + RULER);
    g.font = theme.label;
    g.textBaseline = 'middle';
    g.save();
    g.beginPath();
    g.rect(GUTTER, RULER, view.width, view.height);
    g.clip();
    g.translate(GUTTER, RULER);
    this.stops(view, theme, tiles, state.stops);
    this.gaps(view, theme);
    const chosen = state.brush ?? state.selection.chosen;
    this.dimUnchosen(view, theme, tiles, state.selection, chosen);
    this.names(view, theme, tiles, chunks, state);
    if (state.arrows) {
      collectives(g, view, theme, tiles, chunks);
      arrows(g, view, theme, tiles, chunks, state.selection.ranks);
    }
    this.path(view, theme, tiles, state.path);
    this.flow(view, theme, tiles, state.flow);
    if (chosen) this.edges(view, theme, chosen);
    if (state.hit) this.outline(view, theme, tiles, state.hit);
    g.restore();
    ruler(g, view, theme, state);
    rankAxis(g, view, theme, tiles, state);
  }

  /** Names what is hatched below, and crosses out where calls were lost: of that, nothing but this is known. */
  private stops(view: Viewport, theme: Theme, tiles: Tiles, stops: Stop[]): void {
    const g = this.context;
    for (const stop of stops) {
      const position = tiles.positionOf(stop.rank);
      if (position === undefined) continue;
      const x0 = Math.max(-2, xOf(view, stop.start_ns));
      const x1 = Math.min(view.width + 2, xOf(view, stop.end_ns));
      const y = yOf(view, position);
      if (x1 < 0 || x0 > view.width || y + view.rowHeight < 0 || y > view.height) continue;
      if (stop.reason === 'lost') this.crossOut(theme, x0, y, Math.max(3, x1 - x0), view.rowHeight - 1);
      const { title } = reasonOf(stop);
      const text = stop.lost_calls > 0 ? `${title}: ${stop.lost_calls}` : title;
      const wide = textWidth(g, text);
      if (view.rowHeight < 14 || wide + 14 > x1 - x0) continue;
      const [x, middle] = [(Math.max(0, x0) + Math.min(view.width, x1) - wide) / 2, y + (view.rowHeight - 2) / 2];
      g.fillStyle = theme.background;
      g.fillRect(x - 4, middle - 8, wide + 8, 16);
      g.fillStyle = stop.reason === 'lost' ? theme.lost : theme.inkSoft;
      g.fillText(text, x, middle);
    }
  }
  private crossOut(theme: Theme, x: number, y: number, width: number, height: number): void {
    const g = this.context;
    g.save();
    g.beginPath();
    g.rect(x, y, width, height);
    g.clip();
    g.strokeStyle = theme.lost;
    g.lineWidth = 1;
    g.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    g.beginPath();
    for (let at = x - height; at < x + width; at += 8) {
      g.moveTo(at, y);
      g.lineTo(at + height, y + height);
      g.moveTo(at, y + height);
      g.lineTo(at + height, y);
    }
    g.stroke();
    g.restore();
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

  /** Rows and times that were not chosen step back, each only once. */
  private dimUnchosen(view: Viewport, theme: Theme, tiles: Tiles, { ranks }: Selection, chosen: Span | null): void {
    const g = this.context;
    g.fillStyle = theme.background;
    // Dark colours on a dark ground vanish sooner.
    g.globalAlpha = theme.name === 'light' ? 0.55 : 0.42;
    const bound = (x: number) => Math.max(0, Math.min(view.width, x));
    const [x0, x1] = chosen ? [bound(xOf(view, chosen.from)), bound(xOf(view, chosen.to))] : [0, view.width];
    const beside = (y: number, height: number) => {
      g.fillRect(0, y, x0, height);
      g.fillRect(x1, y, view.width - x1, height);
    };
    // Rows too low to be chosen one by one are dimmed together.
    if (ranks.length === 0 || view.rowHeight < 2) beside(0, view.height);
    else {
      for (let row = Math.floor(view.row); row <= Math.min(view.ranks - 1, view.row + rowsShown(view)); row++) {
        const rank = tiles.rankAt(row);
        if (rank === undefined || hasRank(ranks, rank)) beside(yOf(view, row), view.rowHeight);
        else g.fillRect(0, yOf(view, row), view.width, view.rowHeight);
      }
    }
    g.globalAlpha = 1;
  }

  private names(view: Viewport, theme: Theme, tiles: Tiles, chunks: Chunk[], state: OverlayState): void {
    if (view.rowHeight < 11) return;
    const g = this.context;
    const { ranks, sites, chosen } = state.selection;
    let left = 2000;
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
        const wide = textWidth(g, name);
        if (wide + 8 > x1 - x0) continue;
        const colour = theme.categories[this.model.categoryOfOp[calls.op[i]!] ?? 6]!;
        const x = (x0 + x1 - wide) / 2;
        const outside = chosen && (x + wide < xOf(view, chosen.from) || x > xOf(view, chosen.to));
        const dimmed = outside || !hasRank(ranks, calls.rank[i]!) || (sites.length > 0 && !sites.includes(calls.site[i]!));
        // What was dimmed is nearer to the ground than to its colour.
        g.fillStyle = dimmed ? theme.ink : inkOn(colour);
        g.globalAlpha = dimmed ? 0.7 : 1;
        g.fillText(name, x, y + (view.rowHeight - 2) / 2);
        g.globalAlpha = 1;
        left--;
      }
    }
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

  private edges(view: Viewport, theme: Theme, { from, to }: Span): void {
    this.context.fillStyle = theme.accent;
    for (const ns of [from, to]) this.context.fillRect(Math.round(xOf(view, ns)) - 1, 0, 2, view.height);
  }

  private outline(view: Viewport, theme: Theme, tiles: Tiles, hit: Hit): void {
    const position = tiles.positionOf(hit.rank);
    if (position === undefined) return;
    const x0 = xOf(view, hit.start);
    this.context.strokeStyle = theme.ink;
    this.context.lineWidth = 2;
    this.context.strokeRect(x0, yOf(view, position) + 1, Math.max(2, xOf(view, hit.end) - x0), view.rowHeight - 4);
  }
}
