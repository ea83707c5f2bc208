// Who sends to whom: bytes, messages, latency or waiting for each pair of ranks (or hosts), for the selection.
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type Matrix } from '../api';
import { bytes, count, duration, plural } from '../format';
import { useAnswer, useSettledSelection, type Model } from '../model';
import { Scale, cellColour } from '../ramp';
import { query, rankRanges } from '../selection';
import { Empty, Outline, Trouble } from '../states';
import { css, onTheme, theme } from '../theme';
import { Scope } from './scope';

type Measure = 'bytes' | 'messages' | 'latency' | 'wait';
const MEASURES: [Measure, string, (value: number) => string][] = [
  ['bytes', 'bytes', bytes],
  ['messages', 'messages', (value) => count(value)],
  ['latency', 'latency', duration],
  ['wait', 'waiting', duration],
];
const EDGE = 40;

export function MatrixPanel({ model }: { model: Model }) {
  const settled = useSettledSelection(model);
  const [by, setBy] = useState<'rank' | 'host'>('rank');
  const [measure, setMeasure] = useState<Measure>('bytes');
  const asked = { ...query(settled), by };
  const { value, error, busy, progress } = useAnswer(JSON.stringify(asked), async (signal) => {
    const [matrix, labels] = await Promise.all([api.matrix(asked, signal), api.matrixLabels(asked, signal)]);
    return { matrix, ...labels };
  });
  const [cell, setCell] = useState<{ from: number; to: number } | null>(null);
  const format = MEASURES.find(([name]) => name === measure)![2];
  const total = value ? value.matrix.messages.reduce((sum, n) => sum + n, 0) : 0;
  return (
    <section class="panel" data-testid="matrix" data-busy={busy}>
      <Scope model={model} />
      <div class="controls">
        <div class="segments" role="radiogroup" aria-label="measure">
          {MEASURES.map(([name, text]) => (
            <button key={name} role="radio" aria-checked={measure === name} onClick={() => setMeasure(name)}>
              {text}
            </button>
          ))}
        </div>
        <select value={by} onChange={(event) => setBy(event.currentTarget.value as 'rank' | 'host')} aria-label="by rank or by host">
          <option value="rank">by rank</option>
          <option value="host">by host</option>
        </select>
      </div>
      {error !== null && <Trouble error={error} />}
      {!value && error === null && <Outline what="Counting messages…" lines={7} progress={progress} />}
      {value && total === 0 && <Empty title="No messages here.">Only point-to-point messages are counted, not the traffic of collectives. Select another range, or zoom out.</Empty>}
      {value && total > 0 && (
        <>
          <p class="figures" data-testid="matrix-total">
            <strong>{plural(total, 'message')}</strong>, {bytes(value.matrix.bytes.reduce((sum, n) => sum + n, 0))}
          </p>
          <Cells matrix={value.matrix} labels={value.labels} measure={measure} over={setCell} choose={({ from, to }) => by === 'rank' && value.matrix.n === model.layer(settled.layer).ranks && model.store.set({ ranks: rankRanges([from, to]) })} />
          <Scale most={format(Math.max(...value.matrix[measure]))} />
          <CellFigures cell={cell} matrix={value.matrix} labels={value.labels} />
          <Pairs matrix={value.matrix} labels={value.labels} measure={measure} format={format} />
        </>
      )}
    </section>
  );
}

function Cells({ matrix, labels, measure, over, choose }: { matrix: Matrix; labels: string[]; measure: Measure; over: (cell: { from: number; to: number } | null) => void; choose: (cell: { from: number; to: number }) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { n } = matrix;
  const draw = () => {
    const element = canvas.current!;
    const ratio = devicePixelRatio || 1;
    const size = element.clientWidth;
    element.width = element.height = Math.round(size * ratio);
    const g = element.getContext('2d')!;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colours = theme();
    g.font = colours.label;
    const room = size - EDGE - 2;
    const step = room / n;
    const values = matrix[measure];
    const most = Math.max(...values, 1e-9);
    g.fillStyle = css(colours.categories[8]!);
    g.fillRect(EDGE, EDGE, room, room);
    const gap = step > 6 ? 1 : 0;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        if (!matrix.messages[i * n + j]) continue;
        g.fillStyle = css(cellColour((values[i * n + j] ?? 0) / most));
        g.fillRect(EDGE + j * step, EDGE + i * step, Math.max(1, step - gap), Math.max(1, step - gap));
      }
    }
    g.fillStyle = colours.inkSoft;
    g.textBaseline = 'middle';
    const every = [1, 2, 4, 8, 16, 32, 64, 128].find((k) => k * step >= 26) ?? 256;
    for (let i = 0; i < n; i += every) {
      g.textAlign = 'right';
      g.fillText((labels[i] ?? '').slice(0, 6), EDGE - 5, EDGE + (i + 0.5) * step);
      g.textAlign = 'center';
      g.fillText((labels[i] ?? '').slice(0, 6), EDGE + (i + 0.5) * step, EDGE - 8);
    }
    g.textAlign = 'left';
    g.fillText('to →', EDGE, 8);
    g.save();
    g.translate(8, EDGE + 30);
    g.rotate(-Math.PI / 2);
    g.fillText('← from', 0, 0);
    g.restore();
  };
  useEffect(draw, [matrix, labels, measure]);
  useEffect(() => {
    const resized = new ResizeObserver(draw);
    resized.observe(canvas.current!);
    const stop = onTheme(draw);
    return () => {
      resized.disconnect();
      stop();
    };
  });
  const place = (event: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const step = (box.width - EDGE - 2) / n;
    const to = Math.floor((event.clientX - box.left - EDGE) / step);
    const from = Math.floor((event.clientY - box.top - EDGE) / step);
    return from >= 0 && from < n && to >= 0 && to < n ? { from, to } : null;
  };
  return (
    <canvas
      class="matrix-cells"
      data-testid="matrix-cells"
      data-n={n}
      ref={canvas}
      aria-label="messages by sender (down) and receiver (across)"
      onMouseMove={(event) => over(place(event))}
      onMouseLeave={() => over(null)}
      onClick={(event) => {
        const cell = place(event);
        if (cell) choose(cell);
      }}
    />
  );
}

function CellFigures({ cell, matrix, labels }: { cell: { from: number; to: number } | null; matrix: Matrix; labels: string[] }) {
  if (!cell) return <p class="hint one-line">Point at a cell to show its values; click to select its two ranks.</p>;
  const at = cell.from * matrix.n + cell.to;
  return (
    <p class="figures one-line" data-testid="matrix-cell">
      <strong>
        {labels[cell.from]} → {labels[cell.to]}
      </strong>{' '}
      {matrix.messages[at] ? `${plural(matrix.messages[at]!, 'message')}, ${bytes(matrix.bytes[at]!)}, mean latency ${duration(matrix.latency[at]!)}, waiting ${duration(matrix.wait[at]!)}` : 'no messages'}
    </p>
  );
}

function Pairs({ matrix, labels, measure, format }: { matrix: Matrix; labels: string[]; measure: Measure; format: (value: number) => string }) {
  const values = matrix[measure];
  const best = Array.from(matrix.messages, (messages, at) => ({ messages, at }))
    .filter(({ messages }) => messages > 0)
    .sort((a, b) => values[b.at]! - values[a.at]!)
    .slice(0, 8);
  return (
    <table class="grid">
      <thead>
        <tr>
          <th class="right">from</th>
          <th class="right">to</th>
          <th class="right">{MEASURES.find(([name]) => name === measure)![1]}</th>
          <th class="right">messages</th>
        </tr>
      </thead>
      <tbody>
        {best.map(({ at, messages }) => (
          <tr key={at} class="still">
            <td class="right">{labels[Math.floor(at / matrix.n)]}</td>
            <td class="right">{labels[at % matrix.n]}</td>
            <td class="right">{format(values[at]!)}</td>
            <td class="right">{count(messages)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
