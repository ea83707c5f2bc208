// What is shown when there is nothing to show: trouble with what to do about it, emptiness with its reason,
// and outlines of what is on its way. Never a bare spinner.
import type { ComponentChildren } from 'preact';
import { ApiError } from './api';

export function Trouble({ error, over = false }: { error: unknown; over?: boolean }) {
  const message = error instanceof Error ? error.message : String(error);
  const next = error instanceof ApiError ? error.next : 'Reload the page; if the error persists, report it as a bug of the viewer.';
  const pending = error instanceof ApiError && error.progress !== null;
  if (pending) {
    return (
      <div class={over ? 'over' : ''}>
        <p>{message}</p>
        <progress max={1} value={error.progress ?? 0} aria-label={message} />
      </div>
    );
  }
  // Nothing is wrong: this layer has no such thing.
  if (!over && error instanceof ApiError && error.status === 404) return <Empty title={message}>{next}</Empty>;
  return (
    <div class={over ? 'over trouble' : 'trouble'} role="alert">
      <p>
        <strong>{message}</strong>
      </p>
      {next && <p>{next}</p>}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children && <p>{children}</p>}
    </div>
  );
}

/** The shape of what is coming. */
export function Outline({ lines = 5, what, progress = null }: { lines?: number; what: string; progress?: number | null }) {
  return (
    <div class="outline" aria-busy="true">
      <p class="soft">
        {what}
        {progress !== null && ` ${Math.round(progress * 100)} %`}
      </p>
      {progress !== null && <progress max={1} value={progress} aria-label={what} />}
      {Array.from({ length: lines }, (_, i) => (
        <div class="outline-line" key={i} />
      ))}
    </div>
  );
}
