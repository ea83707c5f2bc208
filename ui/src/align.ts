// How the times of one layer lie on those of another: at the same times, as the same share of the run, or so that a
// phase both have begins and ends together. Always a straight line from one to the other.
import type { Layer, Phase } from './api';
import type { Span } from './selection';

/** How two layers are aligned; nothing chosen: by the program if both have it, else by time. */
export type Align = { by: 'auto' | 'clock' | 'stretch' | 'program' } | { by: 'region'; name: string; instance: number };
export const AUTO: Align = { by: 'auto' };

/** As the address has it. */
export const showAlign = (align: Align): string => (align.by === 'region' ? `region:${align.instance}:${encodeURIComponent(align.name)}` : align.by);
export function parseAlign(text: string | null): Align {
  if (text === 'clock' || text === 'stretch' || text === 'program') return { by: text };
  const region = /^region:(\d{1,6}):(.+)$/s.exec(text ?? '');
  return region ? { by: 'region', instance: Number(region[1]), name: region[2]! } : AUTO;
}

/** The other layer's time is `scale` times the first one's, plus `offset`. */
export interface Line {
  scale: number;
  offset: number;
}
export const SAME: Line = { scale: 1, offset: 0 };
export const along = ({ scale, offset }: Line, { from, to }: Span): Span => ({ from: from * scale + offset, to: to * scale + offset });
export const back = ({ scale, offset }: Line, { from, to }: Span): Span => ({ from: (from - offset) / scale, to: (to - offset) / scale });

/** What two layers can be aligned by. */
export interface Common {
  program: boolean;
  /** Regions both have, with how many visits in them both have. */
  regions: { name: string; visits: number }[];
}
export function common(a: Phase[], b: Phase[]): Common {
  const visits = (phases: Phase[]) => {
    const most = new Map<string, number>();
    for (const phase of phases) if (phase.kind === 'region') most.set(phase.name, Math.max(most.get(phase.name) ?? 0, phase.instance + 1));
    return most;
  };
  const others = visits(b);
  const program = (phases: Phase[]) => phases.some((phase) => phase.kind === 'program');
  return {
    program: program(a) && program(b),
    regions: [...visits(a)].flatMap(([name, count]) => (others.has(name) ? [{ name, visits: Math.min(count, others.get(name)!) }] : [])),
  };
}

/** What is really done: what was asked for, if both layers have it. */
export function settled(align: Align, { program, regions }: Common): Align {
  if (align.by === 'region') {
    const known = regions.find(({ name }) => name === align.name);
    if (known) return { ...align, instance: Math.min(align.instance, known.visits - 1) };
  }
  if (align.by === 'clock' || align.by === 'stretch') return align;
  return { by: program ? 'program' : 'clock' };
}

interface Side {
  layer: Layer;
  phases: Phase[];
}
/** From when to when that is in each; nothing if they lie at the same times. */
export function ends(align: Align, a: Side, b: Side): [Span, Span] | null {
  const [x, y] = [a, b].map(({ layer, phases }): Span | undefined => {
    if (align.by === 'stretch') return { from: 0, to: layer.span_ns };
    if (align.by === 'region') return phases.find((phase) => phase.kind === 'region' && phase.name === align.name && phase.instance === align.instance);
    return align.by === 'program' ? phases.find((phase) => phase.kind === 'program') : undefined;
  });
  return x && y && x.to > x.from && y.to > y.from ? [x, y] : null;
}
export function line(both: [Span, Span] | null): Line {
  if (!both) return SAME;
  const [x, y] = both;
  const scale = (y.to - y.from) / (x.to - x.from);
  return { scale, offset: y.from - x.from * scale };
}
