// The overview as tiles: 256 columns of a power of two of nanoseconds by 64 rows of a power of two of ranks.
// A tile is asked for once and kept while it is of use. What is not there yet is drawn from the next coarser tile
// that is, so that there is always a picture; the coarsest one is asked for first and never dropped.
import { ApiError, api, type Shares } from '../api';
import type { Order } from '../selection';
import { STACKED_ROW, nsPerPixel, rowsShown, type Viewport } from './viewport';

export const COLUMNS = 256;
export const ROWS = 64;
const KEPT = 160;
const AT_ONCE = 6;

export interface Tile {
  key: string;
  level: number;
  column: number;
  rankLevel: number;
  block: number;
  shares: Shares | null;
  failed: boolean;
  used: number;
}
/** A part of a tile and where it goes, in pixels of the drawing. */
export interface Placed {
  tile: Tile;
  /** In columns and rows of the tile. */
  source: { x0: number; y0: number; x1: number; y1: number };
  target: { x0: number; y0: number; x1: number; y1: number };
}

export class Tiles {
  private readonly tiles = new Map<string, Tile>();
  private waiting: Tile[] = [];
  private running = 0;
  private clock = 0;
  private readonly topLevel: number;
  private readonly topRankLevel: number;
  private readonly rankAtPosition = new Map<number, number>();
  private readonly positionOfRank = new Map<number, number>();
  error: unknown = null;

  constructor(
    private readonly layer: number,
    span: number,
    private readonly ranks: number,
    readonly order: Order,
    private readonly arrived: () => void,
    private readonly dropped: (tile: Tile) => void,
  ) {
    this.topLevel = Math.max(0, Math.ceil(Math.log2(Math.max(1, span) / COLUMNS)));
    this.topRankLevel = Math.max(0, Math.ceil(Math.log2(Math.max(1, ranks) / ROWS)));
    if (ranks > 0) void this.ask(this.tile(this.topLevel, 0, this.topRankLevel, 0));
  }

  /** The rank at a position, if the order is known there. */
  rankAt(position: number): number | undefined {
    if (position < 0 || position >= this.ranks) return undefined;
    return this.order === 'rank' ? position : this.rankAtPosition.get(position);
  }
  positionOf(rank: number): number | undefined {
    return this.order === 'rank' ? rank : this.positionOfRank.get(rank);
  }

  /** What to draw now for a view, coarse where nothing better is there; asks for what is missing. */
  place(view: Viewport): { placed: Placed[]; sharp: boolean } {
    this.clock++;
    const { level, rankLevel } = this.levels(view);
    const tileNs = COLUMNS * 2 ** level;
    const tileRanks = ROWS * 2 ** rankLevel;
    const placed: Placed[] = [];
    const wanted: Tile[] = [];
    let sharp = true;
    const lastColumn = Math.floor(Math.min(view.to, 2 ** this.topLevel * COLUMNS - 1) / tileNs);
    const lastBlock = Math.floor(Math.min(view.row + rowsShown(view), this.ranks - 1e-6) / tileRanks);
    for (let column = Math.max(0, Math.floor(view.from / tileNs)); column <= lastColumn; column++) {
      for (let block = Math.max(0, Math.floor(view.row / tileRanks)); block <= lastBlock; block++) {
        const tile = this.tile(level, column, rankLevel, block);
        if (!tile.shares && !tile.failed) wanted.push(tile);
        const best = this.best(tile);
        if (best !== tile) sharp = false;
        if (best) placed.push(this.cut(view, tile, best));
      }
    }
    this.waiting = wanted;
    this.pump();
    this.evict();
    return { placed, sharp };
  }

  /** The shares of the sharpest loaded cell at a time and position. */
  cellAt(view: Viewport, time: number, position: number): { shares: Uint8Array; ranks: number; ns: number } | null {
    const { level, rankLevel } = this.levels(view);
    const column = Math.floor(time / (COLUMNS * 2 ** level));
    const block = Math.floor(position / (ROWS * 2 ** rankLevel));
    if (column < 0 || block < 0 || position >= this.ranks) return null;
    const best = this.best(this.tile(level, column, rankLevel, block));
    if (!best?.shares) return null;
    const { columns, rows, categories, cells } = best.shares;
    const ns = 2 ** best.level;
    const perRow = this.ranksPerRow(best);
    const x = Math.floor((time - best.column * COLUMNS * ns) / ns);
    const y = Math.floor((position - best.block * ROWS * 2 ** best.rankLevel) / perRow);
    if (x < 0 || x >= columns || y < 0 || y >= rows) return null;
    const at = (y * columns + x) * categories;
    return { shares: cells.subarray(at, at + categories), ranks: perRow, ns };
  }

  /** Whether a tile's rows are high enough to be stacks. */
  stacked(view: Viewport, tile: Tile): boolean {
    return view.rowHeight * this.ranksPerRow(tile) >= STACKED_ROW;
  }

  private levels(view: Viewport): { level: number; rankLevel: number } {
    const level = Math.round(Math.log2(nsPerPixel(view)));
    const rankLevel = view.rowHeight >= 1 ? 0 : Math.ceil(Math.log2(1 / view.rowHeight));
    return { level: Math.max(0, Math.min(level, this.topLevel)), rankLevel: Math.min(rankLevel, this.topRankLevel) };
  }
  private tile(level: number, column: number, rankLevel: number, block: number): Tile {
    const key = `${level}/${column}/${rankLevel}/${block}`;
    let tile = this.tiles.get(key);
    if (!tile) {
      tile = { key, level, column, rankLevel, block, shares: null, failed: false, used: this.clock };
      this.tiles.set(key, tile);
    }
    tile.used = this.clock;
    return tile;
  }
  private best(tile: Tile): Tile | null {
    for (let rankLevel = tile.rankLevel; rankLevel <= this.topRankLevel; rankLevel++) {
      for (let level = tile.level; level <= this.topLevel; level++) {
        const column = Math.floor(tile.column / 2 ** (level - tile.level));
        const block = Math.floor(tile.block / 2 ** (rankLevel - tile.rankLevel));
        const found = this.tiles.get(`${level}/${column}/${rankLevel}/${block}`);
        if (found?.shares) {
          found.used = this.clock;
          return found;
        }
      }
    }
    return null;
  }
  /** Ranks a tile covers, and how many share a row of it. */
  private ranksIn(tile: Tile): number {
    return Math.min(ROWS * 2 ** tile.rankLevel, this.ranks - tile.block * ROWS * 2 ** tile.rankLevel);
  }
  private ranksPerRow(tile: Tile): number {
    const ranks = this.ranksIn(tile);
    return Math.ceil(ranks / Math.ceil(ranks / 2 ** tile.rankLevel));
  }

  private cut(view: Viewport, wanted: Tile, best: Tile): Placed {
    const ns = COLUMNS * 2 ** wanted.level;
    const t0 = Math.max(wanted.column * ns, view.from);
    const t1 = Math.min((wanted.column + 1) * ns, view.to);
    const first = wanted.block * ROWS * 2 ** wanted.rankLevel;
    const r0 = Math.max(first, view.row);
    const r1 = Math.min(first + this.ranksIn(wanted), view.row + rowsShown(view));
    const bestNs = 2 ** best.level;
    const bestStart = best.column * COLUMNS * bestNs;
    const perRow = this.ranksPerRow(best);
    const bestFirst = best.block * ROWS * 2 ** best.rankLevel;
    const scale = nsPerPixel(view);
    return {
      tile: best,
      source: { x0: (t0 - bestStart) / bestNs, x1: (t1 - bestStart) / bestNs, y0: (r0 - bestFirst) / perRow, y1: (r1 - bestFirst) / perRow },
      target: {
        x0: (t0 - view.from) / scale,
        x1: (t1 - view.from) / scale,
        y0: (r0 - view.row) * view.rowHeight,
        y1: (r1 - view.row) * view.rowHeight,
      },
    };
  }

  private pump(): void {
    while (this.running < AT_ONCE) {
      const tile = this.waiting.shift();
      if (!tile) return;
      if (!tile.shares && !this.asked.has(tile)) void this.ask(tile);
    }
  }
  private readonly asked = new Set<Tile>();
  private async ask(tile: Tile): Promise<void> {
    this.asked.add(tile);
    this.running++;
    const ns = 2 ** tile.level;
    const first = tile.block * ROWS * 2 ** tile.rankLevel;
    const ranks = this.ranksIn(tile);
    try {
      tile.shares = await api.timeline({
        layer: this.layer,
        from: tile.column * COLUMNS * ns,
        to: (tile.column + 1) * COLUMNS * ns,
        columns: COLUMNS,
        rows: Math.ceil(ranks / 2 ** tile.rankLevel),
        ranks: `${first}-${first + ranks - 1}`,
        order: this.order,
      });
      if (this.order !== 'rank') {
        // A row that stands for several tells where the first of them is.
        const perRow = this.ranksPerRow(tile);
        tile.shares.firstRank.forEach((rank, i) => {
          this.rankAtPosition.set(first + i * perRow, rank);
          this.positionOfRank.set(rank, first + i * perRow);
        });
      }
      this.error = null;
    } catch (cause) {
      this.error = cause;
      tile.failed = true;
      // Asked for again when it is next drawn, but not in a tight loop.
      const pending = cause instanceof ApiError && cause.progress !== null;
      setTimeout(
        () => {
          tile.failed = false;
          this.arrived();
        },
        pending ? 500 : 2000,
      );
    } finally {
      this.asked.delete(tile);
      this.running--;
      this.arrived();
      this.pump();
    }
  }
  private evict(): void {
    if (this.tiles.size <= KEPT) return;
    const old = [...this.tiles.values()]
      .filter((tile) => !(tile.level === this.topLevel && tile.rankLevel === this.topRankLevel) && tile.used < this.clock && !this.asked.has(tile))
      .sort((a, b) => a.used - b.used);
    for (const tile of old.slice(0, this.tiles.size - KEPT)) {
      this.tiles.delete(tile.key);
      this.dropped(tile);
    }
  }
}
