// What passes between ranks: arrows of messages, and lines through those who come to a collective and leave it.
// Only where they can be told apart; else nothing, since a part of them would look like all.
import { hasRank, type Selection } from '../selection';
import type { Theme } from '../theme';
import type { Chunk } from './details';
import type { Tiles } from './tiles';
import { xOf, yOf, type Viewport } from './viewport';

/** Who came when to a collective, and who left when: a line through each, where they can be told apart. */
export function collectives(g: CanvasRenderingContext2D, view: Viewport, theme: Theme, tiles: Tiles, chunks: Chunk[]): void {
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
  g.strokeStyle = theme.ink;
  g.lineWidth = 1;
  g.globalAlpha = 0.35;
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

/** If ranks were chosen, only what passes between them. */
export function arrows(g: CanvasRenderingContext2D, view: Viewport, theme: Theme, tiles: Tiles, chunks: Chunk[], ranks: Selection['ranks']): void {
  const drawn = new Set<string>();
  const lines: [number, number, number, number][] = [];
  for (const { messages } of chunks) {
    for (let i = 0; messages && i < messages.n; i++) {
      const x0 = xOf(view, messages.sent[i]!);
      const x1 = xOf(view, messages.received[i]!);
      if (x1 < 0 || x0 > view.width || !hasRank(ranks, messages.from[i]!) || !hasRank(ranks, messages.to[i]!)) continue;
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
  for (const line of lines) arrow(g, line, view.rowHeight);
  g.globalAlpha = 1;
}

/** From the edge of the sender's row to that of the receiver's. Steep ones bend, the more the farther they go: those that
 * begin together would else lie on each other. */
function arrow(g: CanvasRenderingContext2D, [x0, row0, x1, row1]: [number, number, number, number], rowHeight: number): void {
  const inside = Math.sign(row1 - row0) * Math.min(rowHeight * 0.28, 30);
  const [y0, y1] = [row0 + inside, row1 - inside];
  const rows = Math.abs(row1 - row0) / rowHeight;
  const steep = Math.abs(x1 - x0) < Math.abs(y1 - y0) * 0.35;
  const bend = steep && rows > 1.5 ? Math.min(12 * (rows - 1), 70) : 0;
  const [xm, ym] = [(x0 + x1) / 2 + bend, (y0 + y1) / 2];
  g.beginPath();
  g.moveTo(x0, y0);
  g.quadraticCurveTo(xm, ym, x1, y1);
  g.stroke();
  g.beginPath();
  g.arc(x0, y0, 2, 0, Math.PI * 2);
  g.fill();
  const angle = Math.atan2(y1 - ym, x1 - xm);
  g.beginPath();
  g.moveTo(x1, y1);
  g.lineTo(x1 - 7 * Math.cos(angle - 0.4), y1 - 7 * Math.sin(angle - 0.4));
  g.lineTo(x1 - 7 * Math.cos(angle + 0.4), y1 - 7 * Math.sin(angle + 0.4));
  g.fill();
}
