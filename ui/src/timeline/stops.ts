// Why there are no calls: stretches in which the tracer held a rank, looked away or lost calls, and those before the
// first call and behind the last. Asked for by 64 rows and a power of two of nanoseconds, the longest first, so that
// whatever can be seen is there; never waited for.
import { api, type Layer, type Stop } from '../api';
import { rankRanges, showRanks } from '../selection';
import { ROWS, type Tiles } from './tiles';
import { rowsShown, type Viewport } from './viewport';

const LIMIT = 2_000;
const KEPT = 64;
/** Rows this high show their stops. */
const SHOWN_ROW = 8;

/** What is said about a stop. `held` ones stand still because of the tracer; the program ran on in others. */
export const REASONS: Record<string, { title: string; says: string; held: boolean }> = {
  'chunk-wait': { title: 'buffer full', says: 'The tracer blocked the rank until buffer space was free.', held: true },
  suspended: { title: 'suspended', says: 'The tracer stopped all ranks together to write out their buffers.', held: true },
  'clock-round': { title: 'clock synchronisation', says: 'The tracer compared the clocks of the hosts.', held: true },
  settling: { title: 'settling', says: 'The ranks agreed that no stop was needed.', held: true },
  rehearsal: { title: 'calibration', says: 'The tracer measured the overhead of recording a call.', held: true },
  drawing: { title: 'sampling', says: 'The tracer sampled from the calls it had collected.', held: true },
  paused: { title: 'paused', says: 'The program switched recording off.', held: false },
  lost: { title: 'lost', says: 'Calls made here could not be stored.', held: false },
  'before-first-call': { title: 'before the first call', says: 'The rank had not called MPI yet.', held: false },
  'after-last-call': { title: 'after the last call', says: 'The rank made no more MPI calls.', held: false },
  'never-seen': { title: 'no record', says: 'The rank left no record.', held: false },
};
export const reasonOf = (stop: Stop) => REASONS[stop.reason] ?? { title: stop.reason.slice(0, 40), says: '', held: false };

interface Part {
  /** By rank. */
  stops: Map<number, Stop[]>;
  asked: boolean;
  used: number;
}

export class Stops {
  private readonly parts = new Map<string, Part>();
  private clock = 0;
  constructor(
    private readonly layerIndex: number,
    private readonly layer: Layer,
    private readonly tiles: Tiles,
    private readonly arrived: () => void,
  ) {}

  /** Those that are known in the view, if its rows are high enough to show them. */
  place(view: Viewport): Stop[] {
    this.clock++;
    if (view.rowHeight < SHOWN_ROW) return [];
    const found = new Set<Stop>();
    const last = Math.floor(Math.min(view.row + rowsShown(view), this.layer.ranks - 1e-6) / ROWS);
    for (let block = Math.max(0, Math.floor(view.row / ROWS)); block <= last; block++) {
      for (const part of this.around(view, block)) for (const stops of part.stops.values()) for (const stop of stops) found.add(stop);
    }
    return [...found];
  }

  /** The one at a moment of a rank. */
  at(view: Viewport, time: number, rank: number): Stop | null {
    const position = this.tiles.positionOf(rank);
    if (position === undefined) return null;
    for (const part of this.around(view, Math.floor(position / ROWS))) {
      // A pixel either way: a short one can still be pointed at.
      const near = (view.to - view.from) / Math.max(1, view.width);
      const here = (part.stops.get(rank) ?? []).filter((stop) => stop.start_ns - near <= time && time <= stop.end_ns + near);
      const shortest = here.sort((a, b) => a.end_ns - a.start_ns - (b.end_ns - b.start_ns))[0];
      if (shortest) return shortest;
    }
    return null;
  }

  /** The parts a view lies in: one or two, since they are as long as it is. */
  private around(view: Viewport, block: number): Part[] {
    const length = 2 ** Math.ceil(Math.log2(Math.max(256, view.to - view.from)));
    const parts: Part[] = [];
    for (let at = Math.max(0, Math.floor(view.from / length)); at * length < Math.min(view.to, this.layer.span_ns + 1); at++) parts.push(this.part(at, length, block));
    return parts;
  }
  private part(at: number, length: number, block: number): Part {
    const key = `${length}/${at}/${block}`;
    let part = this.parts.get(key);
    if (!part) {
      part = { stops: new Map(), asked: false, used: this.clock };
      this.parts.set(key, part);
      this.evict();
    }
    part.used = this.clock;
    const ranks = part.asked ? null : this.ranksOf(block);
    if (ranks) {
      part.asked = true;
      void this.ask(part, { layer: this.layerIndex, from: at * length, to: (at + 1) * length, ranks, limit: LIMIT });
    }
    return part;
  }
  private ranksOf(block: number): string | null {
    const ranks: number[] = [];
    for (let position = block * ROWS; position < Math.min((block + 1) * ROWS, this.layer.ranks); position++) {
      const rank = this.tiles.rankAt(position);
      if (rank === undefined) return null;
      ranks.push(rank);
    }
    return showRanks(rankRanges(ranks));
  }
  private async ask(part: Part, query: Parameters<typeof api.stops>[0]): Promise<void> {
    try {
      const { stops } = await api.stops(query);
      for (const stop of stops) {
        const list = part.stops.get(stop.rank);
        if (list) list.push(stop);
        else part.stops.set(stop.rank, [stop]);
      }
      if (stops.length > 0) this.arrived();
    } catch {
      // Reasons are an extra: the picture is right without them, and the tiles tell of a server that is gone.
      setTimeout(() => (part.asked = false), 2000);
    }
  }
  private evict(): void {
    if (this.parts.size <= KEPT) return;
    const oldest = [...this.parts].sort(([, a], [, b]) => a.used - b.used).slice(0, this.parts.size - KEPT);
    for (const [key] of oldest) this.parts.delete(key);
  }
}
