// Single calls and messages, for windows in which they can be told apart. They come in chunks of a power of two
// of nanoseconds by 64 rows, so that moving about asks for little; a chunk with too much in it is not asked for again.
import { ApiError, api, type Calls, type Collective, type Layer, type Messages, type Query } from '../api';
import { rankRanges, showRanks } from '../selection';
import { ROWS, type Tiles } from './tiles';
import { rowsShown, type Viewport } from './viewport';

const CALL_LIMIT = 20_000;
const MESSAGE_LIMIT = 4_000;
const KEPT = 48;

export interface Chunk {
  key: string;
  from: number;
  to: number;
  block: number;
  calls: Calls | null;
  /** Indices of each rank's calls in order of start. */
  byRank: Map<number, Uint32Array>;
  messages: Messages | null;
  collectives: Collective[];
  state: 'asked' | 'there' | 'too-many' | 'failed';
  used: number;
}
export interface Hit {
  rank: number;
  start: number;
  end: number;
  op: number;
  site: number;
}

export class Details {
  private readonly chunks = new Map<string, Chunk>();
  private clock = 0;
  private running = 0;
  constructor(
    private readonly layerIndex: number,
    private readonly layer: Layer,
    private readonly tiles: Tiles,
    private readonly arrived: () => void,
  ) {}

  /** Chunks that lie in the view and are there; asks for others if few enough calls can be expected in them. */
  place(view: Viewport): { chunks: Chunk[]; complete: boolean } {
    this.clock++;
    const window = view.to - view.from;
    const callsPerRow = (this.layer.events / Math.max(1, this.layer.ranks)) * (window / Math.max(1, this.layer.span_ns));
    // Rows too low for boxes, or several calls on each pixel: shares tell more.
    if (view.rowHeight < 5 || callsPerRow > view.width) return { chunks: [], complete: false };
    const length = 2 ** Math.max(8, Math.ceil(Math.log2(window)) - 1);
    const chunks: Chunk[] = [];
    let complete = true;
    const lastBlock = Math.floor(Math.min(view.row + rowsShown(view), this.layer.ranks - 1e-6) / ROWS);
    for (let at = Math.max(0, Math.floor(view.from / length)); at * length < Math.min(view.to, this.layer.span_ns + 1); at++) {
      for (let block = Math.max(0, Math.floor(view.row / ROWS)); block <= lastBlock; block++) {
        const chunk = this.chunk(at, length, block);
        if (!chunk || chunk.state !== 'there') complete = false;
        if (!chunk) continue;
        chunk.used = this.clock;
        if (chunk.state === 'there') chunks.push(chunk);
      }
    }
    this.evict();
    return { chunks, complete };
  }

  /** The call at a moment, or the two it lies between. */
  at(view: Viewport, time: number, rank: number): { call: Hit | null; before: Hit | null; after: Hit | null } | null {
    let known = false;
    let before: Hit | null = null;
    let after: Hit | null = null;
    for (const chunk of this.place(view).chunks) {
      const { calls } = chunk;
      const indices = chunk.byRank.get(rank);
      if (!calls) continue;
      if (chunk.from <= time && time < chunk.to && Math.floor((this.tiles.positionOf(rank) ?? -1) / ROWS) === chunk.block) known = true;
      for (const i of indices ?? []) {
        const hit = { rank, start: calls.start[i]!, end: calls.end[i]!, op: calls.op[i]!, site: calls.site[i]! };
        if (hit.start <= time && time < Math.max(hit.end, hit.start + 1)) return { call: hit, before: null, after: null };
        if (hit.end <= time && (!before || hit.end > before.end)) before = hit;
        if (hit.start > time && (!after || hit.start < after.start)) after = hit;
      }
    }
    return known ? { call: null, before, after } : null;
  }

  private chunk(at: number, length: number, block: number): Chunk | null {
    const key = `${length}/${at}/${block}`;
    const known = this.chunks.get(key);
    if (known) return known;
    if (this.running >= 4) return null;
    const first = block * ROWS;
    const ranks: number[] = [];
    for (let position = first; position < Math.min(first + ROWS, this.layer.ranks); position++) {
      const rank = this.tiles.rankAt(position);
      if (rank === undefined) return null;
      ranks.push(rank);
    }
    const chunk: Chunk = { key, from: at * length, to: (at + 1) * length, block, calls: null, byRank: new Map(), messages: null, collectives: [], state: 'asked', used: this.clock };
    this.chunks.set(key, chunk);
    void this.ask(chunk, showRanks(rankRanges(ranks)));
    return chunk;
  }
  private async ask(chunk: Chunk, ranks: string): Promise<void> {
    this.running++;
    const query = { layer: this.layerIndex, from: chunk.from, to: chunk.to, ranks };
    try {
      chunk.calls = await api.calls({ ...query, limit: CALL_LIMIT });
      index(chunk, chunk.calls);
      chunk.state = 'there';
      this.arrived();
      void this.askMessages(chunk, { ...query, limit: MESSAGE_LIMIT });
    } catch (cause) {
      chunk.state = cause instanceof ApiError && cause.status === 413 ? 'too-many' : 'failed';
      if (chunk.state === 'failed') setTimeout(() => this.chunks.delete(chunk.key), 2000);
    } finally {
      this.running--;
      this.arrived();
    }
  }
  /** Messages may have to be worked out first; calls do not wait for them. */
  private async askMessages(chunk: Chunk, query: Query): Promise<void> {
    try {
      chunk.messages = await api.messages(query);
      this.arrived();
      const { collectives, truncated } = await api.collectives(query);
      // A part of them would look like all of them.
      if (!truncated) chunk.collectives = collectives;
      this.arrived();
    } catch (cause) {
      const pending = cause instanceof ApiError && cause.progress !== null;
      if (pending) setTimeout(() => this.chunks.get(chunk.key) === chunk && void this.askMessages(chunk, query), 1000);
    }
  }
  private evict(): void {
    if (this.chunks.size <= KEPT) return;
    const old = [...this.chunks.values()].filter((chunk) => chunk.used < this.clock && chunk.state !== 'asked').sort((a, b) => a.used - b.used);
    for (const chunk of old.slice(0, this.chunks.size - KEPT)) this.chunks.delete(chunk.key);
  }
}

function index(chunk: Chunk, calls: Calls): void {
  const lists = new Map<number, number[]>();
  for (let i = 0; i < calls.n; i++) {
    const rank = calls.rank[i]!;
    const list = lists.get(rank);
    if (list) list.push(i);
    else lists.set(rank, [i]);
  }
  for (const [rank, list] of lists) chunk.byRank.set(rank, Uint32Array.from(list.sort((a, b) => calls.start[a]! - calls.start[b]!)));
}
