// Says of a figure whether it was recorded, corrected, predicted or virtual. Everything that shows figures shows one of these.
import type { LayerKind } from './api';

const WORDS: Record<LayerKind, { word: string; says: string }> = {
  recorded: { word: 'recorded', says: 'As it was measured, tracer included.' },
  undisturbed: { word: 'corrected', says: 'Recorded, with what the tracer took calculated out.' },
  replayed: { word: 'predicted', says: 'Calculated by replaying the recorded run under another setting. Nobody has measured this.' },
  virtual: { word: 'virtual time', says: 'As if there were as many processors as the program can use, and handing out work cost nothing.' },
};

export function KindBadge({ kind }: { kind: LayerKind }) {
  const { word, says } = WORDS[kind] ?? WORDS.recorded;
  return (
    <span class={`badge badge-${kind}`} title={says}>
      {word}
    </span>
  );
}
