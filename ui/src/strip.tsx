// What strips below the timeline share: they lie on its time axis, so the pointer's moment is marked in all, and the wheel
// zooms and moves all.
import { useEffect, useRef } from 'preact/hooks';
import type { Model } from './model';
import type { Selection } from './selection';
import { GUTTER } from './timeline/axes';

/** What a strip has the timeline do. */
export interface Moves {
  zoom: (factor: number, x: number) => void;
  pan: (share: number) => void;
}

/** Where the pointer is on a strip's canvas, and the moment there; no moment left of the axis. */
export function pointAt(canvas: HTMLCanvasElement, event: MouseEvent, s: Selection): { x: number; y: number; time: number | null } {
  const box = canvas.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const share = (x - GUTTER) / (canvas.clientWidth - GUTTER);
  return { x, y, time: x >= GUTTER ? s.window.from + share * (s.window.to - s.window.from) : null };
}

/** As on the timeline. */
export function onWheel(canvas: HTMLCanvasElement, event: WheelEvent, { zoom, pan }: Moves): void {
  event.preventDefault();
  const x = event.clientX - canvas.getBoundingClientRect().left - GUTTER;
  const sideways = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((sideways / (canvas.clientWidth - GUTTER)) * 0.8);
  else zoom(Math.exp(event.deltaY * 0.0018), Math.max(0, x));
}

/** Where the pointer is in time, here or on the timeline. Moved by itself, so that nothing is drawn anew. */
export function Cursor({ model, testid }: { model: Model; testid: string }) {
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const move = () => {
      const { window } = model.store.get();
      const share = model.pointed === null ? -1 : (model.pointed - window.from) / (window.to - window.from);
      const { style } = line.current!;
      style.display = share >= 0 && share <= 1 ? 'block' : 'none';
      style.left = `calc(${GUTTER}px + (100% - ${GUTTER}px) * ${share})`;
    };
    move();
    const stops = [model.onPoint(move), model.store.subscribe(move)];
    return () => stops.forEach((stop) => stop());
  }, [model]);
  return <div class="strip-cursor" data-testid={testid} ref={line} />;
}
