// Where times and ranks lie on the screen. Plain arithmetic; everything that draws or is clicked on uses this.

export interface Viewport {
  /** Times at the left and right edge of the drawing. */
  from: number;
  to: number;
  /** The position (rank, unless sorted) at the upper edge; may be a fraction while scrolling. */
  row: number;
  /** Pixels for a rank; below 1 several share a pixel. */
  rowHeight: number;
  width: number;
  height: number;
  ranks: number;
}

export const MIN_SPAN_NS = 200;
export const MAX_ROW_HEIGHT = 400;
/** Rows this high show their shares as a stack and have room for a gap. */
export const STACKED_ROW = 6;

export const nsPerPixel = (v: Viewport): number => (v.to - v.from) / Math.max(1, v.width);
export const xOf = (v: Viewport, ns: number): number => (ns - v.from) / nsPerPixel(v);
export const timeAt = (v: Viewport, x: number): number => v.from + x * nsPerPixel(v);
export const yOf = (v: Viewport, position: number): number => (position - v.row) * v.rowHeight;
export const positionAt = (v: Viewport, y: number): number => Math.floor(v.row + y / v.rowHeight);
export const rowsShown = (v: Viewport): number => v.height / v.rowHeight;

/** The height at which all ranks fit, but a few ranks do not become bands. */
export const fittedRowHeight = (height: number, ranks: number): number => Math.min(Math.max(160, height / 5), height / Math.max(1, ranks));

/** Keeps a window within the run (with a margin) and above the smallest span. */
export function boundWindow(from: number, to: number, span: number): { from: number; to: number } {
  const margin = span * 0.02;
  let length = Math.max(MIN_SPAN_NS, to - from);
  length = Math.min(length, span + 2 * margin);
  let start = from;
  if (to - from < length) start = (from + to - length) / 2;
  start = Math.max(-margin, Math.min(start, span + margin - length));
  return { from: start, to: start + length };
}
export function boundRow(row: number, rowHeight: number, height: number, ranks: number): number {
  return Math.max(0, Math.min(row, ranks - height / rowHeight));
}
