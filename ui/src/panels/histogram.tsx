// How long calls take: counts in buckets of a tenth of a decade. A bucket lists its calls, and a call leads to the timeline.
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type Bucket, type Histogram } from '../api';
import { count, duration, moment, plural } from '../format';
import { useAnswer, useSettledSelection, type Model } from '../model';
import { query } from '../selection';
import { Empty, Outline, Trouble } from '../states';
import { css, onTheme, theme } from '../theme';
import { Scope } from './scope';

type Measure = 'count' | 'total_ns';

export function HistogramPanel({ model, reveal }: { model: Model; reveal: (rank: number) => void }) {
  const settled = useSettledSelection(model);
  const [op, setOp] = useState('');
  const [measure, setMeasure] = useState<Measure>('count');
  const [bucket, setBucket] = useState<Bucket | null>(null);
  const asked = { ...query(settled), op };
  const key = JSON.stringify(asked);
  const { value, error, busy, progress } = useAnswer<Histogram>(key, (signal) => api.histogram(asked, signal));
  useEffect(() => setBucket(null), [key]);
  return (
    <section class="panel" data-testid="histogram" data-busy={busy}>
      <Scope model={model} />
      <div class="controls">
        <select value={op} onChange={(event) => setOp(event.currentTarget.value)} aria-label="function">
          <option value="">all functions</option>
          {model.used.map((each) => (
            <option value={`${each}`} key={each}>
              {model.opName(each).slice(0, 60)}
            </option>
          ))}
        </select>
        <div class="segments" role="radiogroup" aria-label="bar height">
          {(
            [
              ['count', 'calls'],
              ['total_ns', 'time'],
            ] as const
          ).map(([name, text]) => (
            <button key={name} role="radio" aria-checked={measure === name} onClick={() => setMeasure(name)}>
              {text}
            </button>
          ))}
        </div>
      </div>
      {error !== null && <Trouble error={error} />}
      {!value && error === null && <Outline what="Sorting calls by duration…" lines={5} progress={progress} />}
      {value && value.count === 0 && <Empty title="No calls here.">Select another range or function, or zoom out.</Empty>}
      {value && value.count > 0 && (
        <>
          <p class="figures" data-testid="histogram-total" data-count={value.count} data-total-ns={value.total_ns}>
            <strong>{plural(value.count, 'call')}</strong>, {duration(value.total_ns)} in total, {duration(value.total_ns / value.count)} on average
          </p>
          <Bars histogram={value} measure={measure} chosen={bucket} choose={setBucket} />
          {bucket ? <List model={model} asked={asked} bucket={bucket} reveal={reveal} /> : <p class="hint">Click a bar to list its calls; the last bar has the slowest.</p>}
        </>
      )}
    </section>
  );
}

function Bars({ histogram, measure, chosen, choose }: { histogram: Histogram; measure: Measure; chosen: Bucket | null; choose: (bucket: Bucket) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [over, setOver] = useState<Bucket | null>(null);
  const { buckets } = histogram;
  const low = Math.log10(Math.max(1, buckets[0]!.low_ns));
  const high = Math.log10(Math.max(10, buckets[buckets.length - 1]!.high_ns));
  // A little room on both sides, and at least a decade: one bar alone says nothing about its length.
  const middle = (low + high) / 2;
  const first = Math.max(0, Math.min(low - 0.15, middle - 0.5));
  const last = Math.max(high + 0.15, first + 1);
  const LEFT = 44;
  const BOTTOM = 22;
  const place = (event: MouseEvent): Bucket | null => {
    const box = canvas.current!.getBoundingClientRect();
    const decade = first + ((event.clientX - box.left - LEFT) / (box.width - LEFT - 6)) * (last - first);
    return buckets.find((bucket) => decade >= Math.log10(Math.max(1, bucket.low_ns)) - 1e-9 && decade < Math.log10(bucket.high_ns)) ?? null;
  };
  const draw = () => {
    const element = canvas.current!;
    const ratio = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = element;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    const g = element.getContext('2d')!;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colours = theme();
    g.font = colours.label;
    g.textBaseline = 'middle';
    const most = Math.max(1, ...buckets.map((bucket) => bucket[measure]));
    const x = (decade: number) => LEFT + ((decade - first) / (last - first)) * (width - LEFT - 6);
    const room = height - BOTTOM - 10;
    g.fillStyle = colours.inkSoft;
    g.textAlign = 'right';
    for (const part of [0, 0.5, 1]) {
      const y = Math.round(10 + room * (1 - part)) + 0.5;
      if (measure === 'total_ns' || part !== 0.5 || most > 1) g.fillText(measure === 'count' ? short(most * part) : part ? duration(most * part) : '0', LEFT - 6, y, LEFT - 8);
      g.fillStyle = colours.line;
      g.fillRect(LEFT, y - 0.5, width - LEFT - 6, 1);
      g.fillStyle = colours.inkSoft;
    }
    g.textAlign = 'center';
    for (const decade of ticks(first, last)) {
      g.fillText(duration(10 ** decade).replace(/\.0+(?= )/, ''), Math.min(Math.max(x(decade), LEFT + 14), width - 22), height - 9);
      g.fillRect(Math.round(x(decade)), height - BOTTOM, 1, 4);
    }
    for (const bucket of buckets) {
      const x0 = x(Math.log10(Math.max(1, bucket.low_ns)));
      const x1 = x(Math.log10(bucket.high_ns));
      const high = bucket[measure] > 0 ? Math.max(2, (bucket[measure] / most) * room) : 0;
      g.fillStyle = bucket === chosen ? colours.accent : css(colours.categories[bucket === over ? 6 : 1]!);
      g.fillRect(x0 + 0.5, 10 + room - high, Math.max(1.5, x1 - x0 - 1), high);
    }
  };
  useEffect(draw, [histogram, measure, chosen, over]);
  useEffect(() => onTheme(draw));
  const shown = over ?? chosen;
  return (
    <>
      <canvas
        class="histogram-bars"
        data-testid="histogram-bars"
        ref={canvas}
        aria-label="calls by duration"
        onMouseMove={(event) => setOver(place(event))}
        onMouseLeave={() => setOver(null)}
        onClick={(event) => {
          const bucket = place(event);
          if (bucket) choose(bucket);
        }}
      />
      <p class="hint one-line">
        {shown ? `${duration(shown.low_ns)} to ${duration(shown.high_ns)}: ${plural(shown.count, 'call')}, ${duration(shown.total_ns)} in total` : 'call duration (logarithmic)'}
      </p>
    </>
  );
}
/** Lengths to be named between two powers of ten: powers of ten, and 2 and 5 times those if there is room. */
function ticks(first: number, last: number): number[] {
  const factors = last - first <= 2.6 ? [1, 2, 5] : [1];
  const every = Math.ceil((last - first) / 7);
  const found: number[] = [];
  for (let decade = Math.floor(first); decade <= last; decade += every) found.push(...factors.map((factor) => decade + Math.log10(factor)));
  return found.filter((decade) => decade >= first && decade <= last);
}
const short = (value: number): string => (value >= 1e6 ? `${(value / 1e6).toPrecision(3)} M` : value >= 1e4 ? `${(value / 1e3).toPrecision(3)} k` : count(value));

function List({ model, asked, bucket, reveal }: { model: Model; asked: Record<string, string | number>; bucket: Bucket; reveal: (rank: number) => void }) {
  const query = { ...asked, low: Math.floor(bucket.low_ns), high: Math.ceil(bucket.high_ns), limit: 200 };
  const { value, error, progress } = useAnswer(JSON.stringify(query), (signal) => api.histogramCalls(query, signal));
  if (error !== null) return <Trouble error={error} />;
  if (!value) return <Outline what="Loading calls…" lines={4} progress={progress} />;
  return (
    <>
      <table class="grid" data-testid="histogram-calls">
        <thead>
          <tr>
            <th class="right">duration</th>
            <th>call</th>
            <th class="right">rank</th>
            <th class="right">start</th>
          </tr>
        </thead>
        <tbody>
          {value.calls.map((call) => (
            <tr
              key={`${call.rank}:${call.start_ns}`}
              onClick={() => {
                model.locate(call.start_ns, call.end_ns);
                reveal(call.rank);
                model.mark({ flow: [{ rank: call.rank, start_ns: call.start_ns, end_ns: call.end_ns, name: '', site: null, kind: 'call', wait_ns: 0, why: '' }] });
              }}
            >
              <td class="right">{duration(call.end_ns - call.start_ns)}</td>
              <td class="where">
                {model.opName(call.op)}
                {model.siteName(call.site) && <span class="soft block">{model.siteName(call.site)}</span>}
              </td>
              <td class="right">{count(call.rank)}</td>
              <td class="right">{moment(call.start_ns, 1e5)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {value.count > value.calls.length && <p class="hint">The {count(value.calls.length)} longest of {count(value.count)} calls.</p>}
    </>
  );
}
