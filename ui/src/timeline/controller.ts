// The timeline at work: takes the selection, draws it, and turns mouse and keys into changes of the selection.
// Draws at most once a frame and only when something changed. Waits for nothing: what is not there comes later.
import { along, back } from '../align';
import type { Stop } from '../api';
import type { Model } from '../model';
import { firstOf, wholeOf, type Selection, type Span } from '../selection';
import { CATEGORY, onTheme, theme } from '../theme';
import { boxesOf } from './boxes';
import { mixedPixels, stackedPixels } from './colours';
import { Details, type Hit } from './details';
import { GUTTER, RULER } from './axes';
import { Overlay } from './overlay';
import { makePainter, type Boxes, type Painter } from './painter';
import { Stops } from './stops';
import { Tiles } from './tiles';
import { MAX_ROW_HEIGHT, boundRow, boundWindow, fittedRowHeight, positionAt, rowsShown, timeAt, xOf, type Viewport } from './viewport';

/** What is under the pointer, for the tooltip. */
export interface Under {
  x: number;
  y: number;
  time: number;
  rank: number;
  call: Hit | null;
  /** Why there is no call here. */
  stop: Stop | null;
  /** Between two calls: the rank computes. */
  between: { before: Hit | null; after: Hit | null } | null;
  /** Shares of a cell, where calls are too many to be told apart. */
  shares: { shares: Uint8Array; ranks: number; ns: number } | null;
}
type Drag = { kind: 'pan' | 'brush' | 'ranks'; x: number; y: number; moved: boolean; window: Span; row: number; anchor: number };

/** From the first sharp picture to a faster painter: time for the rest of the page. */
const QUICKEN_AFTER_MS = 150;

export class TimelineController {
  private readonly overlayCanvas = document.createElement('canvas');
  private readonly overlay: Overlay;
  private painter: Painter;
  private tiles!: Tiles;
  private details!: Details;
  private gaps!: Stops;
  private source = '';
  private width = 0;
  private height = 0;
  private scheduled = 0;
  private quickened = false;
  private hover: { x: number; y: number } | null = null;
  private drag: Drag | null = null;
  private brush: { from: number; to: number } | null = null;
  private readonly stops: (() => void)[] = [];
  private boxes: Boxes = { n: 0, rects: new Float32Array(4096), colours: new Uint8Array(4096) };

  constructor(
    private readonly host: HTMLElement,
    private readonly model: Model,
    /** Which layer to draw: the chosen one, or the one compared with. */
    private readonly layerOf: (s: Selection) => number,
    /** Whether it is the one compared with: its times lie on those of the selection as the model's line says. */
    private readonly compared: boolean,
    private readonly tell: { under: (under: Under | null) => void; error: (error: unknown) => void },
  ) {
    // Plain at first: a browser without a graphics card takes half a second to set WebGL up.
    this.painter = this.startPainter(true);
    this.overlayCanvas.className = 'layer';
    host.append(this.overlayCanvas);
    this.overlay = new Overlay(this.overlayCanvas.getContext('2d')!, model);
    const resized = new ResizeObserver(() => this.resize());
    resized.observe(host);
    this.stops.push(
      () => resized.disconnect(),
      model.store.subscribe(() => this.schedule()),
      model.onMarks(() => this.schedule()),
      model.onPoint(() => this.schedule()),
      onTheme(() => {
        this.painter.forget(null);
        this.schedule();
      }),
    );
    this.listen();
    this.resize();
  }

  stop(): void {
    for (const stop of this.stops) stop();
    cancelAnimationFrame(this.scheduled);
    this.host.replaceChildren();
  }

  private startPainter(plain: boolean): Painter {
    const canvas = document.createElement('canvas');
    canvas.className = 'layer';
    canvas.addEventListener('webglcontextlost', (event) => {
      event.preventDefault();
      canvas.remove();
      this.painter = this.startPainter(true);
      this.resize();
    });
    this.host.prepend(canvas);
    const painter = makePainter(canvas, plain);
    this.host.dataset.painter = painter.name;
    return painter;
  }

  /** Once something can be seen, what comes after is drawn faster. */
  private quicken(): void {
    if (this.quickened || new URLSearchParams(location.search).has('canvas')) return;
    this.quickened = true;
    const timer = setTimeout(() => {
      const plain = this.painter;
      this.painter = this.startPainter(false);
      plain.canvas.remove();
      this.resize();
    }, QUICKEN_AFTER_MS);
    this.stops.push(() => clearTimeout(timer));
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.host;
    const ratio = Math.min(devicePixelRatio || 1, 3);
    this.width = Math.max(50, clientWidth - GUTTER);
    this.height = Math.max(20, clientHeight - RULER);
    this.painter.resize(this.width, this.height, ratio);
    this.overlayCanvas.width = Math.round((this.width + GUTTER) * ratio);
    this.overlayCanvas.height = Math.round((this.height + RULER) * ratio);
    this.overlayCanvas.getContext('2d')!.setTransform(ratio, 0, 0, ratio, 0, 0);
    // Drawn at once: a canvas that was resized is empty until then.
    this.frame();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = requestAnimationFrame(() => {
      this.scheduled = 0;
      this.frame();
    });
  }

  view(): Viewport {
    const s = this.model.store.get();
    const { ranks } = this.model.layer(this.layerOf(s));
    const rowHeight = s.rowHeight || fittedRowHeight(this.height, ranks);
    return { ...this.own(s.window), row: boundRow(s.row, rowHeight, this.height, ranks), rowHeight, width: this.width, height: this.height, ranks };
  }

  /** This timeline's times for those of the selection, and back. */
  private own(span: Span): Span {
    return this.compared ? along(this.model.marks.line, span) : span;
  }
  private shared(span: Span): Span {
    return this.compared ? back(this.model.marks.line, span) : span;
  }

  private sources(s: Selection): void {
    const layer = this.layerOf(s);
    const key = `${layer}/${s.order}`;
    if (key === this.source) return;
    this.source = key;
    this.painter.forget(null);
    const { span_ns, ranks } = this.model.layer(layer);
    const arrived = () => {
      if (this.tiles.error) this.tell.error(this.tiles.error);
      else this.tell.error(null);
      this.schedule();
    };
    this.tiles = new Tiles(layer, span_ns, ranks, s.order, arrived, (tile) => {
      this.painter.forget(`${tile.key}/s`);
      this.painter.forget(`${tile.key}/m`);
    });
    this.details = new Details(layer, this.model.layer(layer), this.tiles, () => this.schedule());
    this.gaps = new Stops(layer, this.model.layer(layer), this.tiles, () => this.schedule());
  }

  private frame(): void {
    const s = this.model.store.get();
    this.sources(s);
    const colours = theme();
    const view = this.view();
    this.painter.begin(colours.background);
    const { placed, sharp } = this.tiles.place(view);
    for (const place of placed) {
      const { shares } = place.tile;
      if (!shares) continue;
      const stacked = this.tiles.stacked(view, place.tile);
      this.painter.picture(`${place.tile.key}/${stacked ? 's' : 'm'}`, () => (stacked ? stackedPixels : mixedPixels)(shares, colours), place);
    }
    const { chunks, complete } = this.details.place(view);
    this.boxes = boxesOf(view, colours, chunks, this.tiles, s.sites, this.model.categoryOfOp, this.boxes);
    this.painter.boxes(this.boxes);
    const under = this.hover && !this.drag ? this.under(view) : null;
    this.overlay.draw(view, colours, this.tiles, chunks, {
      selection: { ...s, chosen: s.chosen && this.own(s.chosen) },
      hover: this.hover ?? this.pointed(view),
      hit: under?.call ?? null,
      brush: this.brush,
      stops: this.gaps.place(view),
      // These are in the times of the chosen layer.
      flow: this.compared ? [] : this.model.marks.flow,
      path: this.compared ? [] : this.model.marks.path,
      arrows: this.model.marks.arrows,
    });
    this.tell.under(under);
    this.host.dataset.from = String(Math.round(view.from));
    this.host.dataset.to = String(Math.round(view.to));
    this.host.dataset.sharp = String(sharp);
    this.host.dataset.drawn = String(placed.length > 0);
    if (placed.length > 0 && sharp) this.quicken();
    this.host.dataset.calls = String(complete ? chunks.reduce((sum, chunk) => sum + (chunk.calls?.n ?? 0), 0) : 0);
  }

  /** Where the pointer is in time, if it is on something else that has this axis. */
  private pointed(view: Viewport): { x: number; y: number } | null {
    const { pointed } = this.model;
    if (pointed === null) return null;
    const x = xOf(view, this.own({ from: pointed, to: pointed }).from);
    return x >= 0 && x <= view.width ? { x: GUTTER + x, y: RULER } : null;
  }

  private under(view: Viewport): Under | null {
    if (!this.hover || this.hover.x < GUTTER || this.hover.y < RULER) return null;
    const time = timeAt(view, this.hover.x - GUTTER);
    const position = positionAt(view, this.hover.y - RULER);
    const rank = this.tiles.rankAt(position);
    if (rank === undefined || time < 0) return null;
    const found = this.details.at(view, time, rank);
    const cell = this.tiles.cellAt(view, time, position);
    const call = found?.call ?? null;
    // Asked for only where the cell says that there is one.
    const held = cell !== null && (cell.shares[CATEGORY.none] ?? 0) + (cell.shares[CATEGORY.tracer] ?? 0) > 0;
    const stop = !call && held ? this.gaps.at(view, time, rank) : null;
    const none = found && !call && (!found.before || !found.after) && (cell?.shares[CATEGORY.none] ?? 0) > 127;
    return {
      ...this.hover,
      time,
      rank,
      call,
      stop,
      between: found && !call && !none && !stop ? { before: found.before, after: found.after } : null,
      shares: call || (found && !none && !stop) ? null : cell,
    };
  }

  // --- changes of the selection ---

  zoom(factor: number, x = this.width / 2): void {
    const view = this.view();
    const fixed = timeAt(view, x);
    this.move(fixed - (fixed - view.from) * factor, fixed + (view.to - fixed) * factor);
  }
  pan(share: number): void {
    const { from, to } = this.view();
    this.move(from + (to - from) * share, to + (to - from) * share);
  }
  /** To a window in this timeline's time. */
  private move(from: number, to: number, more: Partial<Selection> = {}): void {
    const { span_ns } = this.model.layer(this.layerOf(this.model.store.get()));
    this.model.store.set({ window: this.shared(boundWindow(from, to, span_ns)), ...more });
  }
  scroll(rows: number): void {
    const view = this.view();
    this.model.store.set({ row: boundRow(view.row + rows, view.rowHeight, view.height, view.ranks) });
  }
  /** By a page, for arrow keys: an eighth of what is shown. */
  scrollBy(share: number): void {
    this.scroll(Math.max(1, rowsShown(this.view()) * Math.abs(share)) * Math.sign(share));
  }
  zoomRows(factor: number, y = this.height / 2): void {
    const view = this.view();
    const fitted = fittedRowHeight(view.height, view.ranks);
    const rowHeight = Math.max(fitted, Math.min(MAX_ROW_HEIGHT, view.rowHeight * factor));
    const fixed = view.row + y / view.rowHeight;
    const row = boundRow(fixed - y / rowHeight, rowHeight, view.height, view.ranks);
    this.model.store.set({ row, rowHeight: rowHeight === fitted ? 0 : rowHeight });
  }
  /** The whole run, with what starting and ending MPI took. */
  fit(): void {
    this.showAll(wholeOf(this.model.layer(this.layerOf(this.model.store.get())).span_ns));
  }
  /** The program, as it was shown first. */
  fitProgram(): void {
    this.showAll(firstOf(this.model.layer(this.layerOf(this.model.store.get()))));
  }
  private showAll(span: Span): void {
    this.model.store.set({ window: this.shared(span), row: 0, rowHeight: 0 });
  }
  zoomToChosen(): void {
    const { chosen } = this.model.store.get();
    if (!chosen) return;
    const { from, to } = this.own(chosen);
    this.move(from - (to - from) * 0.02, to + (to - from) * 0.02);
  }
  /** The first ranks in view, at most so many. */
  inView(most: number): number[] {
    const view = this.view();
    const first = Math.floor(view.row);
    const last = Math.min(view.ranks - 1, Math.ceil(view.row + rowsShown(view)) - 1, first + most - 1);
    return Array.from({ length: last - first + 1 }, (_, i) => this.tiles.rankAt(first + i)).filter((rank) => rank !== undefined);
  }
  /** Scrolls a rank into view. */
  reveal(rank: number): void {
    const view = this.view();
    const position = this.tiles.positionOf(rank);
    if (position === undefined) return;
    if (position >= view.row && position + 1 <= view.row + rowsShown(view)) return;
    this.model.store.set({ row: boundRow(position - rowsShown(view) / 2, view.rowHeight, view.height, view.ranks) });
  }

  // --- mouse ---

  private listen(): void {
    const { host } = this;
    const on = <K extends keyof HTMLElementEventMap>(type: K, listener: (event: HTMLElementEventMap[K]) => void, options?: AddEventListenerOptions) => {
      host.addEventListener(type, listener, options);
      this.stops.push(() => host.removeEventListener(type, listener));
    };
    on('wheel', (event) => this.wheel(event), { passive: false });
    on('pointerdown', (event) => this.press(event));
    on('pointermove', (event) => this.pointer(event));
    on('pointerup', (event) => this.release(event));
    on('pointercancel', () => this.cancel());
    on('pointerleave', () => {
      if (this.drag) return;
      this.hover = null;
      this.model.point(null);
      this.schedule();
    });
    on('dblclick', (event) => {
      const { x, y } = this.place(event);
      if (x > GUTTER && y > RULER) this.zoom(1 / 3, x - GUTTER);
    });
  }
  private place(event: MouseEvent): { x: number; y: number } {
    const box = this.host.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }
  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const { x, y } = this.place(event);
    this.hover = { x, y };
    const scale = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? this.height : 1;
    const down = event.deltaY * scale;
    if (event.ctrlKey || event.metaKey) this.zoomRows(Math.exp(-down * 0.0025), y - RULER);
    else if (x < GUTTER || event.altKey) this.scroll(down / this.view().rowHeight / 2);
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(((event.shiftKey && !event.deltaX ? down : event.deltaX * scale) / this.width) * 0.8);
    else this.zoom(Math.exp(down * 0.0018), Math.max(0, x - GUTTER));
  }
  private press(event: PointerEvent): void {
    if (event.button !== 0) return;
    const { x, y } = this.place(event);
    const view = this.view();
    const kind = x < GUTTER ? 'ranks' : y < RULER || event.shiftKey ? 'brush' : 'pan';
    const anchor = kind === 'brush' ? timeAt(view, x - GUTTER) : kind === 'ranks' ? positionAt(view, y - RULER) : 0;
    this.drag = { kind, x, y, moved: false, window: { from: view.from, to: view.to }, row: view.row, anchor };
    this.host.setPointerCapture(event.pointerId);
  }
  private pointer(event: PointerEvent): void {
    const { x, y } = this.place(event);
    this.hover = { x, y };
    const at = timeAt(this.view(), x - GUTTER);
    this.model.point(x < GUTTER ? null : this.shared({ from: at, to: at }).from);
    const { drag } = this;
    if (drag) {
      if (Math.abs(x - drag.x) + Math.abs(y - drag.y) > 3) drag.moved = true;
      if (drag.moved) this.dragTo(drag, x, y);
    }
    this.host.dataset.cursor = drag?.moved && drag.kind === 'pan' ? 'pan' : x < GUTTER ? 'ranks' : y < RULER ? 'brush' : '';
    this.schedule();
  }
  private dragTo(drag: Drag, x: number, y: number): void {
    const view = this.view();
    if (drag.kind === 'pan') {
      const shift = ((drag.x - x) / this.width) * (drag.window.to - drag.window.from);
      this.move(drag.window.from + shift, drag.window.to + shift, {
        row: boundRow(drag.row + (drag.y - y) / view.rowHeight, view.rowHeight, view.height, view.ranks),
      });
    } else if (drag.kind === 'brush') {
      const here = timeAt(view, x - GUTTER);
      this.brush = { from: Math.max(0, Math.min(drag.anchor, here)), to: Math.max(drag.anchor, here) };
    } else {
      this.chooseRows(drag.anchor, positionAt(view, y - RULER));
    }
  }
  private chooseRows(a: number, b: number): void {
    const ranks: [number, number][] = [];
    const [low, high] = a < b ? [a, b] : [b, a];
    for (let position = Math.max(0, low); position <= Math.min(high, this.view().ranks - 1); position++) {
      const rank = this.tiles.rankAt(position);
      if (rank === undefined) continue;
      const last = ranks[ranks.length - 1];
      if (last && rank === last[1] + 1) last[1] = rank;
      else ranks.push([rank, rank]);
    }
    if (ranks.length) this.model.store.set({ ranks });
  }
  private release(event: PointerEvent): void {
    const { drag } = this;
    this.drag = null;
    if (!drag) return;
    const s = this.model.store.get();
    if (drag.kind === 'brush' && drag.moved && this.brush) {
      const { from, to } = this.shared(this.brush);
      this.model.store.set({ chosen: { from: Math.round(from), to: Math.round(to) } });
    } else if (drag.kind === 'brush' && !drag.moved) {
      this.model.store.set({ chosen: null });
    } else if (drag.kind === 'ranks' && !drag.moved) {
      const rank = this.tiles.rankAt(drag.anchor);
      const only = rank !== undefined && s.ranks.length === 1 && s.ranks[0]![0] === rank && s.ranks[0]![1] === rank;
      if (only) this.model.store.set({ ranks: [] });
      else this.chooseRows(drag.anchor, drag.anchor);
    } else if (drag.kind === 'pan' && !drag.moved) {
      this.hover = this.place(event);
      const call = this.under(this.view())?.call;
      if (call) this.follow(call, s);
    }
    this.brush = null;
    this.schedule();
  }
  /** To the flow of a call. One of the layer compared with makes that the chosen one. */
  private follow(call: Hit, s: Selection): void {
    const event = { event: `${call.rank}:${call.start}`, panel: 'flow' } as const;
    if (!this.compared) this.model.store.set(event);
    else this.model.store.set({ ...event, layer: this.layerOf(s), other: s.layer, window: this.own(s.window), chosen: s.chosen && this.own(s.chosen), sites: [] });
  }
  private cancel(): void {
    this.drag = null;
    this.brush = null;
    this.schedule();
  }
}
