// The border between timeline and panel: dragged, or moved by arrow keys, it makes the panel wider; a double click gives it
// back its own width. The width is kept for the next run.
import { useState } from 'preact/hooks';

const KEY = 'kizami-panel-width';
const LEAST = 280;
/** What the timeline keeps. */
const STAGE = 360;
/** By which one key moves it. */
const STEP = 40;

export function Divider() {
  const [dragged, setDragged] = useState(false);
  const width = () => document.querySelector('aside')!.getBoundingClientRect().width;
  return (
    <div
      class="divider"
      role="separator"
      aria-orientation="vertical"
      aria-label="width of the panel"
      title="Drag to widen the panel; double-click to reset"
      tabIndex={0}
      data-dragged={dragged}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        event.preventDefault();
        setDragged(true);
      }}
      onPointerMove={(event) => {
        if (dragged) setPanelWidth(document.querySelector('aside')!.getBoundingClientRect().right - event.clientX);
      }}
      onPointerUp={() => setDragged(false)}
      onPointerCancel={() => setDragged(false)}
      onDblClick={() => setPanelWidth(null)}
      onKeyDown={(event) => {
        const step = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
        if (step === undefined) return;
        event.stopPropagation();
        event.preventDefault();
        setPanelWidth(width() + step);
      }}
    />
  );
}

function setPanelWidth(wanted: number | null): void {
  const width = wanted === null ? null : Math.round(Math.max(LEAST, Math.min(innerWidth - STAGE, wanted)));
  if (width === null) document.documentElement.style.removeProperty('--panel-width');
  else document.documentElement.style.setProperty('--panel-width', `${width}px`);
  try {
    if (width === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, `${width}`);
  } catch {
    // A browser that keeps nothing: the width lasts as long as the page.
  }
}

/** As wide as it was left. */
export function restorePanelWidth(): void {
  try {
    const kept = Number(localStorage.getItem(KEY));
    if (kept > 0) setPanelWidth(kept);
  } catch {
    // As above.
  }
}
