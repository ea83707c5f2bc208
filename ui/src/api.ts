// The one way to ask the server. The types of its answers are made from the Rust types (`answers.ts`); binary answers
// become typed arrays here, and nothing else in the page knows how they are laid out.

import type {
  BusyLinks,
  Collectives,
  Flow,
  Histogram,
  HistogramCalls,
  MatrixLabels,
  Parallelism,
  Path,
  Phases,
  Run,
  Stops,
  TaskCurves,
  TaskFlow,
  TaskLengths,
  TaskSchedule,
  TaskTree,
  ThreadRows,
  Tree,
  Verdict,
} from './answers';

import type { Prediction } from './prediction';

export type * from './answers';

export interface Shares {
  columns: number;
  rows: number;
  categories: number;
  /** The first rank of each row; 0xffffffff for none. */
  firstRank: Uint32Array;
  /** [row][column][category], 255 is all of the cell. */
  cells: Uint8Array;
}
export interface Calls {
  n: number;
  start: Float64Array;
  end: Float64Array;
  rank: Uint32Array;
  op: Uint16Array;
  site: Uint32Array;
}
export interface Messages {
  n: number;
  sent: Float64Array;
  received: Float64Array;
  from: Uint32Array;
  to: Uint32Array;
  bytes: Float64Array;
}
export interface Matrix {
  n: number;
  bytes: Float64Array;
  messages: Float64Array;
  latency: Float64Array;
  wait: Float64Array;
}

/** An answer that is not what was asked for: what went wrong, and what to do about it. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly next: string,
    readonly count: number | null,
    /** How far the server is with what it still works out; asking again will help. */
    readonly progress: number | null = null,
  ) {
    super(message);
  }
}

const token = new URLSearchParams(location.search).get('token') ?? '';

export type Query = Record<string, string | number | undefined | null>;

async function request(route: string, query: Query, signal?: AbortSignal): Promise<Response> {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') parameters.set(key, String(value));
  }
  let answer: Response;
  try {
    answer = await fetch(`./api/${route}?${parameters}`, { headers: { 'X-Kizami-Token': token }, signal: signal ?? null });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new ApiError(0, 'The server does not answer.', 'Is `kizami view` still running? Start it again and open the address it prints.', null);
  }
  if (answer.ok) return answer;
  let body: { error?: unknown; next?: unknown; count?: unknown; progress?: unknown } = {};
  try {
    body = await answer.json();
  } catch {
    // A body that is no JSON says nothing more than the status does.
  }
  throw new ApiError(
    answer.status,
    typeof body.error === 'string' ? body.error : `The server returned status ${answer.status}.`,
    typeof body.next === 'string' ? body.next : '',
    typeof body.count === 'number' ? body.count : null,
    answer.status === 503 ? (typeof body.progress === 'number' ? body.progress : 0) : null,
  );
}

async function json<T>(route: string, query: Query, signal?: AbortSignal): Promise<T> {
  return (await (await request(route, query, signal)).json()) as T;
}

/** Reads columns one after the other. Copies, because a column need not be aligned where it lies. */
class Columns {
  private at = 0;
  constructor(private readonly buffer: ArrayBuffer) {}
  private take(bytes: number): ArrayBuffer {
    if (this.at + bytes > this.buffer.byteLength) throw new ApiError(0, 'The answer of the server is truncated.', 'Reload the page.', null);
    const part = this.buffer.slice(this.at, this.at + bytes);
    this.at += bytes;
    return part;
  }
  u32(n: number): Uint32Array {
    return new Uint32Array(this.take(n * 4));
  }
  u16(n: number): Uint16Array {
    const column = new Uint16Array(this.take(n * 2));
    this.take((4 - (this.at % 4)) % 4);
    return column;
  }
  f64(n: number): Float64Array {
    return new Float64Array(this.take(n * 8));
  }
  /** What is left, without a copy. */
  bytes(n: number): Uint8Array {
    if (this.at + n > this.buffer.byteLength) throw new ApiError(0, 'The answer of the server is truncated.', 'Reload the page.', null);
    return new Uint8Array(this.buffer, this.at, n);
  }
}

async function columns(route: string, query: Query, signal?: AbortSignal): Promise<Columns> {
  return new Columns(await (await request(route, query, signal)).arrayBuffer());
}

export const api = {
  run: (signal?: AbortSignal) => json<Run>('run', {}, signal),
  async timeline(query: Query, signal?: AbortSignal): Promise<Shares> {
    const answer = await columns('timeline', query, signal);
    const [width = 0, rows = 0, categories = 0] = answer.u32(4);
    const firstRank = answer.u32(rows);
    return { columns: width, rows, categories, firstRank, cells: answer.bytes(width * rows * categories) };
  },
  async calls(query: Query, signal?: AbortSignal): Promise<Calls> {
    const answer = await columns('calls', query, signal);
    const n = answer.u32(1)[0] ?? 0;
    return { n, start: answer.f64(n), end: answer.f64(n), rank: answer.u32(n), op: answer.u16(n), site: answer.u32(n) };
  },
  async messages(query: Query, signal?: AbortSignal): Promise<Messages> {
    const answer = await columns('messages', query, signal);
    const n = answer.u32(1)[0] ?? 0;
    return { n, sent: answer.f64(n), received: answer.f64(n), from: answer.u32(n), to: answer.u32(n), bytes: answer.f64(n) };
  },
  collectives: (query: Query, signal?: AbortSignal) => json<Collectives>('collectives', query, signal),
  parallelism: (query: Query, signal?: AbortSignal) => json<Parallelism>('parallelism', query, signal),
  tree: (query: Query, signal?: AbortSignal) => json<Tree>('tree', query, signal),
  histogram: (query: Query, signal?: AbortSignal) => json<Histogram>('histogram', query, signal),
  histogramCalls: (query: Query, signal?: AbortSignal) => json<HistogramCalls>('histogram/calls', query, signal),
  async matrix(query: Query, signal?: AbortSignal): Promise<Matrix> {
    const answer = await columns('matrix', query, signal);
    const n = answer.u32(1)[0] ?? 0;
    const cells = n * n;
    return { n, bytes: answer.f64(cells), messages: answer.f64(cells), latency: answer.f64(cells), wait: answer.f64(cells) };
  },
  matrixLabels: (query: Query, signal?: AbortSignal) => json<MatrixLabels>('matrix/labels', query, signal),
  links: (query: Query, signal?: AbortSignal) => json<BusyLinks>('links', query, signal),
  threads: (query: Query, signal?: AbortSignal) => json<ThreadRows>('threads', query, signal),
  flow: (query: Query, signal?: AbortSignal) => json<Flow>('flow', query, signal),
  verdict: (query: Query, signal?: AbortSignal) => json<Verdict>('verdict', query, signal),
  phases: (query: Query, signal?: AbortSignal) => json<Phases>('phases', query, signal),
  stops: (query: Query, signal?: AbortSignal) => json<Stops>('stops', query, signal),
  prediction: (query: Query, signal?: AbortSignal) => json<Prediction>('prediction', query, signal),
  taskCurves: (query: Query, signal?: AbortSignal) => json<TaskCurves>('tasks/curves', query, signal),
  taskTree: (query: Query, signal?: AbortSignal) => json<TaskTree>('tasks/tree', query, signal),
  taskFlow: (query: Query, signal?: AbortSignal) => json<TaskFlow>('tasks/flow', query, signal),
  taskLengths: (query: Query, signal?: AbortSignal) => json<TaskLengths>('tasks/lengths', query, signal),
  taskSchedule: (query: Query, signal?: AbortSignal) => json<TaskSchedule>('tasks/schedule', query, signal),
  path: (query: Query, signal?: AbortSignal) => json<Path>('path', query, signal),
};
