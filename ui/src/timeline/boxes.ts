// Single calls as boxes for the painter. Calls whose place was not chosen step back; wide ones get a left edge, so that
// two of a kind that follow each other are told apart.
import { CATEGORY, type Rgb, type Theme } from '../theme';
import type { Chunk } from './details';
import type { Boxes } from './painter';
import type { Tiles } from './tiles';
import { xOf, yOf, type Viewport } from './viewport';

/** What is narrower than this is told better by the shares below. */
const NARROW = 0.9;
const WIDE = 6;

/** The boxes of a view. The arrays of `old` are used again if they are large enough. */
export function boxesOf(view: Viewport, theme: Theme, chunks: Chunk[], tiles: Tiles, sites: number[], categoryOfOp: number[], old: Boxes): Boxes {
  const total = chunks.reduce((sum, chunk) => sum + (chunk.calls?.n ?? 0), 0);
  // For each call a box and its edge.
  const room = total * 8;
  const boxes = old.rects.length < room ? { n: 0, rects: new Float32Array(room), colours: new Uint8Array(room) } : { ...old, n: 0 };
  const add = (x0: number, y: number, x1: number, height: number, colour: Rgb, alpha: number) => {
    const at = boxes.n++ * 4;
    const { rects, colours } = boxes;
    rects[at] = x0;
    rects[at + 1] = y;
    rects[at + 2] = x1;
    rects[at + 3] = y + height;
    colours[at] = colour[0];
    colours[at + 1] = colour[1];
    colours[at + 2] = colour[2];
    colours[at + 3] = alpha;
  };
  const chosen = new Set(sites);
  const height = view.rowHeight - (view.rowHeight >= 20 ? 3 : view.rowHeight >= 8 ? 1 : 0);
  const ground = theme.categories[CATEGORY.none]!;
  for (const { calls, from, to } of chunks) {
    for (let i = 0; calls && i < calls.n; i++) {
      const position = tiles.positionOf(calls.rank[i]!);
      if (position === undefined) continue;
      // Clipped to the chunk, so that a call in two of them is not drawn twice.
      const x0 = xOf(view, Math.max(calls.start[i]!, from));
      const x1 = xOf(view, Math.min(calls.end[i]!, to));
      if (x1 < 0 || x0 > view.width || x1 - x0 < NARROW) continue;
      const y = yOf(view, position);
      if (y + view.rowHeight < 0 || y > view.height) continue;
      const faded = chosen.size > 0 && !chosen.has(calls.site[i]!);
      const colour = faded ? ground : (theme.categories[categoryOfOp[calls.op[i]!] ?? CATEGORY.other] ?? ground);
      add(x0, y, x1, height, colour, faded ? 215 : 255);
      if (x1 - x0 >= WIDE && calls.start[i]! >= from) add(x0, y, x0 + 1, height, ground, 190);
    }
  }
  return boxes;
}
