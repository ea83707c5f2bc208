// The whole run as one strip above the timeline: the mean over all ranks, and which part of it is shown below.
import { useEffect, useRef } from 'preact/hooks';
import { api, type Shares } from '../api';
import { useAnswer, useSelection, type Model } from '../model';
import { useRedraw } from '../redraw';
import { STACK, css, theme } from '../theme';
import { GUTTER } from './axes';
import { boundWindow } from './viewport';

const COLUMNS = 512;

export function Overview({ model }: { model: Model }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const s = useSelection(model);
  const { span_ns } = model.layer(s.layer);
  const answer = useAnswer<Shares>(model.layer(s.layer).ranks > 0 ? `${s.layer}` : null, (signal) =>
    api.timeline({ layer: s.layer, from: 0, to: span_ns, columns: COLUMNS, rows: 1, ranks: `0-${model.layer(s.layer).ranks - 1}`, order: 'rank' }, signal),
  );
  const redraw = () => draw(canvas.current!, answer.value, s.window, s.chosen, span_ns);
  useEffect(redraw, [answer.value, s.window, s.chosen]);
  useRedraw(canvas, redraw);
  const centre = (event: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const at = ((event.clientX - box.left - GUTTER) / (box.width - GUTTER)) * span_ns;
    const half = (s.window.to - s.window.from) / 2;
    model.store.set({ window: boundWindow(at - half, at + half, span_ns) });
  };
  return (
    <canvas
      class="overview"
      ref={canvas}
      aria-label="the whole run; drag to move the visible range"
      onPointerDown={(event) => {
        canvas.current!.setPointerCapture(event.pointerId);
        centre(event);
      }}
      onPointerMove={(event) => event.buttons & 1 && centre(event)}
    />
  );
}

function draw(canvas: HTMLCanvasElement, shares: Shares | null, window: { from: number; to: number }, chosen: { from: number; to: number } | null, span: number): void {
  const ratio = devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const g = canvas.getContext('2d')!;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  const colours = theme();
  g.clearRect(0, 0, width, height);
  g.font = colours.label;
  g.textBaseline = 'middle';
  g.fillStyle = colours.inkSoft;
  g.fillText('run', 8, height / 2);
  const room = width - GUTTER;
  const x = (ns: number) => GUTTER + (ns / Math.max(1, span)) * room;
  g.fillStyle = css(colours.categories[8]!);
  g.fillRect(GUTTER, 0, room, height);
  for (let column = 0; shares && column < shares.columns; column++) {
    let y = height;
    for (const category of STACK) {
      const share = (shares.cells[column * shares.categories + category] ?? 0) / 255;
      if (!share) continue;
      g.fillStyle = css(colours.categories[category]!);
      const high = share * height;
      g.fillRect(GUTTER + (column / shares.columns) * room, y - high, room / shares.columns + 0.6, high);
      y -= high;
    }
  }
  const from = Math.max(GUTTER, x(window.from));
  const to = Math.min(width, x(window.to));
  g.fillStyle = colours.background;
  g.globalAlpha = 0.68;
  g.fillRect(GUTTER, 0, from - GUTTER, height);
  g.fillRect(to, 0, width - to, height);
  g.globalAlpha = 1;
  if (chosen) {
    g.fillStyle = colours.accent;
    g.fillRect(x(chosen.from), height - 3, Math.max(2, x(chosen.to) - x(chosen.from)), 3);
  }
  g.strokeStyle = colours.ink;
  g.lineWidth = 1.5;
  g.strokeRect(from + 0.75, 0.75, Math.max(3, to - from - 1.5), height - 1.5);
}
