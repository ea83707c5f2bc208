// Colours of amounts, from quiet to loud, and their legend.
import { useEffect, useState } from 'preact/hooks';
import { css, onTheme, theme, type Rgb } from './theme';

/** The same for all colour vision: lightness does the telling. */
export function ramp(share: number): Rgb {
  const stops: Rgb[] = theme().name === 'light' ? [[226, 236, 244], [86, 180, 233], [0, 114, 178], [9, 44, 84]] : [[31, 45, 58], [22, 88, 138], [63, 159, 220], [214, 238, 255]];
  const at = Math.max(0, Math.min(0.9999, share)) * (stops.length - 1);
  const i = Math.floor(at);
  const part = at - i;
  const [a, b] = [stops[i]!, stops[i + 1]!];
  return [0, 1, 2].map((k) => Math.round(a[k]! + (b[k]! - a[k]!) * part)) as unknown as Rgb;
}

/** The colour of a cell: whatever is not nothing is told from nothing. */
export const cellColour = (share: number): Rgb => ramp(0.12 + 0.88 * share);

/** What the colours of cells mean. */
export function Scale({ most, none = 'none' }: { most: string; none?: string }) {
  const [, again] = useState(0);
  useEffect(() => onTheme(() => again((n) => n + 1)), []);
  const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => css(cellColour(share)));
  return (
    <div class="scale soft">
      {none} <span class="scale-none" /> 0 <span class="scale-bar" style={{ background: `linear-gradient(90deg, ${stops.join(', ')})` }} /> {most}
    </div>
  );
}
