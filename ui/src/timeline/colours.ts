// Shares of time as pixels. High rows become little stacks, so that shares can be read off; low ones become one
// mixed colour. Both painters use the result as it is.
import type { Shares } from '../api';
import { CATEGORY, STACK, type Theme } from '../theme';

export interface Pixels {
  width: number;
  height: number;
  /** Texels for each row of the tile. */
  perRow: number;
  data: Uint8ClampedArray<ArrayBuffer>;
}

/** How finely a stack is divided: as fine as is seen, without large textures. */
export const stackSteps = (rows: number): number => (rows <= 8 ? 48 : rows <= 32 ? 16 : 8);

export function stackedPixels(shares: Shares, theme: Theme): Pixels {
  const { columns, rows, categories, cells } = shares;
  const steps = stackSteps(rows);
  const data = new Uint8ClampedArray(columns * rows * steps * 4);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const cell = (row * columns + column) * categories;
      let at = 0;
      let sum = 0;
      for (const category of STACK) {
        sum += cells[cell + category] ?? 0;
        // From the bottom of the row upwards; a cell's shares add up to 255, but for rounding.
        const until = category === CATEGORY.none || sum >= 253 ? Math.round((sum / 255) * steps + 0.01) : Math.round((sum / 255) * steps);
        for (; at < until && at < steps; at++) paint(data, theme, category, column, row * steps + (steps - 1 - at), columns);
      }
      for (; at < steps; at++) paint(data, theme, CATEGORY.none, column, row * steps + (steps - 1 - at), columns);
    }
  }
  return { width: columns, height: rows * steps, perRow: steps, data };
}

function paint(data: Uint8ClampedArray, theme: Theme, category: number, x: number, y: number, width: number): void {
  let colour = theme.categories[category] ?? theme.categories[CATEGORY.other]!;
  if (category === CATEGORY.none && ((x + y) & 7) < 2) colour = theme.hatchNone;
  if (category === CATEGORY.tracer && ((x - y) & 3) < 2) colour = theme.hatchTracer;
  const at = (y * width + x) * 4;
  data[at] = colour[0];
  data[at + 1] = colour[1];
  data[at + 2] = colour[2];
  data[at + 3] = 255;
}

export function mixedPixels(shares: Shares, theme: Theme): Pixels {
  const { columns, rows, categories, cells } = shares;
  const data = new Uint8ClampedArray(columns * rows * 4);
  // Light adds up in squares, nearly: a mean of the bytes themselves would be too dark.
  const squares = theme.categories.map((colour) => colour.map((byte) => byte * byte));
  for (let i = 0; i < columns * rows; i++) {
    let red = 0;
    let green = 0;
    let blue = 0;
    let sum = 0;
    for (let category = 0; category < categories; category++) {
      const share = cells[i * categories + category]!;
      if (!share) continue;
      const colour = squares[category] ?? squares[CATEGORY.other]!;
      red += share * colour[0]!;
      green += share * colour[1]!;
      blue += share * colour[2]!;
      sum += share;
    }
    const none = theme.categories[CATEGORY.none]!;
    data[i * 4] = sum ? Math.sqrt(red / sum) : none[0];
    data[i * 4 + 1] = sum ? Math.sqrt(green / sum) : none[1];
    data[i * 4 + 2] = sum ? Math.sqrt(blue / sum) : none[2];
    data[i * 4 + 3] = 255;
  }
  return { width: columns, height: rows, perRow: 1, data };
}
