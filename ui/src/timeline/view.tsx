// The timeline as a component: the canvas, its tooltip, and the legend.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Trouble } from '../states';
import { count, duration, moment, percent } from '../format';
import { useSelection, type Model } from '../model';
import type { Order, Selection } from '../selection';
import { CATEGORY, LEGEND, css, onTheme, theme } from '../theme';
import { KindBadge } from '../kind';
import { Row } from '../tooltip';
import type { Stop } from '../api';
import { TimelineController, type Under } from './controller';
import { reasonOf } from './stops';

export function Timeline({ model, layerOf, compared = false, title, control }: { model: Model; layerOf: (s: Selection) => number; compared?: boolean; title?: string; control?: (c: TimelineController | null) => void }) {
  const host = useRef<HTMLDivElement>(null);
  const [under, setUnder] = useState<Under | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const controller = new TimelineController(host.current!, model, layerOf, compared, { under: setUnder, error: setError });
    control?.(controller);
    return () => {
      control?.(null);
      controller.stop();
    };
  }, [model]);
  const s = useSelection(model);
  const layer = model.layer(layerOf(s));
  const empty = layer.events === 0 || layer.ranks === 0;
  return (
    <div class="timeline" role="application" aria-label={title ?? 'timeline: ranks over time'}>
      {title && (
        <div class="timeline-title">
          <span>{title}</span> <KindBadge kind={layer.kind} />
        </div>
      )}
      <div class="timeline-canvas" ref={host} data-testid={title ? 'timeline-other' : 'timeline'} />
      {empty && (
        <div class="over">
          <p>
            <strong>No calls were recorded.</strong>
          </p>
          <p>The trace is valid but empty. Check that the program reaches MPI_Init; `kizami doctor` checks whether recording works on this machine.</p>
        </div>
      )}
      {error !== null && <Trouble error={error} over />}
      {under && !error && <Tooltip model={model} under={under} host={host.current!} />}
    </div>
  );
}

function Tooltip({ model, under, host }: { model: Model; under: Under; host: HTMLElement }) {
  const left = Math.min(under.x + 14, host.clientWidth - 268);
  const below = under.y < host.clientHeight - 150;
  const style = below ? { left: `${left}px`, top: `${under.y + host.offsetTop + 16}px` } : { left: `${left}px`, bottom: `${host.clientHeight - under.y + 10}px` };
  const { call, stop, between, shares } = under;
  if (!call && !stop && !between && !shares) return null;
  return (
    <div class="tooltip" style={style} data-testid="tooltip">
      {call && (
        <>
          <div class="tooltip-head">
            <Swatch category={model.categoryOfOp[call.op] ?? CATEGORY.other} /> <strong>{model.opName(call.op)}</strong>
          </div>
          <Row name="duration" value={duration(call.end - call.start)} />
          <Row name="start" value={moment(call.start, 1000)} />
          <Row name="rank" value={`${call.rank}`} />
          {model.siteName(call.site) && <Row name="call site" value={model.siteName(call.site)} />}
          <p class="hint">click to show what it waited for</p>
        </>
      )}
      {stop && <StopRows stop={stop} />}
      {between && (
        <>
          <div class="tooltip-head">
            <Swatch category={CATEGORY.compute} /> <strong>computation</strong>
          </div>
          {between.before && between.after && <Row name="duration" value={duration(between.after.start - between.before.end)} />}
          <Row name="rank" value={`${under.rank}`} />
          {between.before && <Row name="after" value={`${model.opName(between.before.op)} ${model.siteName(between.before.site)}`} />}
          {between.after && <Row name="before" value={`${model.opName(between.after.op)} ${model.siteName(between.after.site)}`} />}
        </>
      )}
      {shares && (!stop || shares.ranks > 1) && (
        <>
          <div class="tooltip-head">
            <strong>{shares.ranks > 1 ? `${count(shares.ranks)} ranks from ${count(under.rank)}` : `rank ${count(under.rank)}`}</strong>
            <span class="soft"> {duration(shares.ns)} here</span>
          </div>
          {[...shares.shares]
            .map((share, category) => ({ share, category }))
            .filter(({ share }) => share > 2)
            .sort((a, b) => b.share - a.share)
            .slice(0, 4)
            .map(({ share, category }) => (
              <div class="tooltip-row" key={category}>
                <span>
                  <Swatch category={category} /> {model.run.categories[category]?.name ?? 'other'}
                </span>
                <span>{percent(share / 255)}</span>
              </div>
            ))}
        </>
      )}
    </div>
  );
}
function StopRows({ stop }: { stop: Stop }) {
  const { title, says, held } = reasonOf(stop);
  return (
    <div data-testid="stop" data-reason={stop.reason}>
      <div class="tooltip-head">
        {stop.reason === 'lost' ? <LostSwatch /> : <Swatch category={held ? CATEGORY.tracer : CATEGORY.none} />} <strong>{title}</strong>
      </div>
      <Row name="duration" value={duration(stop.end_ns - stop.start_ns)} />
      <Row name="start" value={moment(stop.start_ns, 1000)} />
      <Row name="rank" value={`${stop.rank}`} />
      {stop.lost_calls > 0 && <Row name="calls lost" value={count(stop.lost_calls)} />}
      <p class="hint">{says}</p>
    </div>
  );
}
export function Swatch({ category }: { category: number }) {
  const [, again] = useState(0);
  useEffect(() => onTheme(() => again((n) => n + 1)), []);
  const colours = theme();
  const second = category === CATEGORY.none ? colours.hatchNone : category === CATEGORY.tracer ? colours.hatchTracer : null;
  const first = colours.categories[category] ?? colours.categories[CATEGORY.other]!;
  const background = second ? `repeating-linear-gradient(135deg, ${css(first)} 0 3px, ${css(second)} 3px 5px)` : css(first);
  return <span class="swatch" style={{ background }} />;
}

export const LostSwatch = () => <span class="swatch swatch-lost" />;

const ORDERS: [Order, string][] = [
  ['rank', 'by rank'],
  ['wait', 'by blocking time'],
  ['cluster', 'by similarity'],
];

interface LegendProps {
  model: Model;
  /** Null where there are none to show. */
  threadsOn: boolean | null;
  toggleThreads: () => void;
  pathOn: boolean | null;
  togglePath: () => void;
}
/** Below the timeline: what the colours mean, and how rows are ordered. */
export function Legend({ model, threadsOn, toggleThreads, pathOn, togglePath }: LegendProps) {
  const s = useSelection(model);
  const [arrows, setArrows] = useState(model.marks.arrows);
  const used = new Set<number>([CATEGORY.compute, CATEGORY.receive, CATEGORY.collective, CATEGORY.send, CATEGORY.tracer, CATEGORY.none, ...model.used.map((op) => model.categoryOfOp[op] ?? CATEGORY.other)]);
  return (
    <div class="legend">
      <div class="legend-items">
        {LEGEND.filter((category) => used.has(category)).map((category) => (
          <span class="legend-item" key={category}>
            <Swatch category={category} /> {model.run.categories[category]?.name}
          </span>
        ))}
        {model.layer(s.layer).lost_calls > 0 && (
          <span class="legend-item">
            <LostSwatch /> lost
          </span>
        )}
      </div>
      <div class="legend-controls">
      <label class="check" title="Messages between ranks, and when ranks enter and leave collectives (dashed); shown when zoomed in far enough">
        <input
          type="checkbox"
          checked={arrows}
          onChange={() => {
            model.mark({ arrows: !arrows });
            setArrows(!arrows);
          }}
        />
        messages
      </label>
      {threadsOn !== null && (
        <label class="check" title="What each thread of the selected ranks, or of the first ranks in view, does">
          <input type="checkbox" checked={threadsOn} onChange={toggleThreads} />
          threads
        </label>
      )}
      {pathOn !== null && (
        <label class="check" title="The chain of computation and calls that determines the run time">
          <input type="checkbox" checked={pathOn} onChange={togglePath} />
          critical path
        </label>
      )}
        <select aria-label="order of rows" title="Row order: by rank, by time in receives, completions and collectives (longest first), or by similar behaviour" value={s.order} onChange={(event) => model.store.set({ order: event.currentTarget.value as Order, row: 0 })}>
          {ORDERS.map(([order, name]) => (
            <option value={order} key={order}>
              {name}
            </option>
          ))}
        </select>
      </div>
    </div>
  );
}
