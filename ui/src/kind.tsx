// Says of a figure whether it was recorded, corrected, predicted or virtual. Everything that shows figures shows one of these.
import type { LayerKind } from './api';

const WORDS: Record<LayerKind, { word: string; says: string }> = {
  recorded: { word: 'recorded', says: 'As measured, including tracer overhead.' },
  undisturbed: { word: 'corrected', says: 'Recorded, with tracer overhead removed by calculation.' },
  replayed: { word: 'predicted', says: 'Calculated by replaying the recorded run under a different setting; not measured.' },
  virtual: { word: 'virtual time', says: 'With as many processors as the program can use, and no scheduling overhead.' },
};

export function KindBadge({ kind }: { kind: LayerKind }) {
  const { word, says } = WORDS[kind] ?? WORDS.recorded;
  return (
    <span class={`badge badge-${kind}`} title={says}>
      {word}
    </span>
  );
}
