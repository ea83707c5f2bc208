// How wide labels are. Measured once for each font: the same few names come again in every frame.

const widths = new Map<string, Map<string, number>>();

export function textWidth(g: CanvasRenderingContext2D, text: string): number {
  let known = widths.get(g.font);
  if (!known) widths.set(g.font, (known = new Map()));
  let width = known.get(text);
  if (width === undefined) {
    // Times of day go by and are never seen again.
    if (known.size > 5000) known.clear();
    known.set(text, (width = g.measureText(text).width));
  }
  return width;
}
