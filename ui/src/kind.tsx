// Says of a figure whether it was recorded, corrected or predicted. Everything that shows figures shows one of these.
import type { LayerKind } from './api';

const WORDS: Record<LayerKind, { word: string; says: string }> = {
  recorded: { word: 'recorded', says: 'As it was measured, tracer included.' },
  undisturbed: { word: 'corrected', says: 'Recorded, with what the tracer took calculated out.' },
  replayed: { word: 'predicted', says: 'Calculated by replaying the recorded run under another setting. Nobody has measured this.' },
};

export function KindBadge({ kind }: { kind: LayerKind }) {
  const { word, says } = WORDS[kind] ?? WORDS.recorded;
  return (
    <span class={`badge badge-${kind}`} title={says}>
      {word}
    </span>
  );
}
