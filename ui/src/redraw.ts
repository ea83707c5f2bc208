// A canvas that is drawn anew when its size or the theme changes.
import { useEffect } from 'preact/hooks';
import { onTheme } from './theme';

export function useRedraw(canvas: { readonly current: HTMLCanvasElement | null }, redraw: () => void): void {
  useEffect(() => {
    const resized = new ResizeObserver(redraw);
    resized.observe(canvas.current!);
    const stop = onTheme(redraw);
    return () => {
      resized.disconnect();
      stop();
    };
  });
}
