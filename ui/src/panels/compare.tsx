// Two layers or runs side by side: the other one's timeline stands below the first, on the same time axis;
// here are the differences, in shares of time and function by function.
import { api, type Layer, type Shares, type TreeNode } from '../api';
import { count, duration, percent } from '../format';
import { KindBadge } from '../kind';
import { useAnswer, useSelection, useSettledSelection, type Model } from '../model';
import { query, type Align } from '../selection';
import { Empty, Outline, Trouble } from '../states';
import { LEGEND } from '../theme';
import { Swatch } from '../timeline/view';
import { Scope } from './scope';

export function ComparePanel({ model }: { model: Model }) {
  const s = useSelection(model);
  const { layers } = model.run;
  return (
    <section class="panel" data-testid="compare">
      <Scope model={model} />
      {layers.length < 2 ? (
        <Empty title="There is only one run here.">
          Give more on the command line to compare them: <code>kizami view run.kz other.kz</code>. What <code>kizami undisturb</code> and <code>kizami replay -o</code> write counts, too.
        </Empty>
      ) : (
        <>
          <div class="controls">
            <label class="check">
              compare with
              <select
                data-testid="compare-other"
                value={s.other === null ? '' : `${s.other}`}
                onChange={(event) => model.store.set({ other: event.currentTarget.value === '' ? null : Number(event.currentTarget.value) })}
              >
                <option value="">nothing</option>
                {layers.map((layer, i) => (i === s.layer ? null : <option value={`${i}`} key={i}>{layer.name.slice(0, 60)}</option>))}
              </select>
            </label>
            <label class="check" title="At the same times, or with the other run stretched so that both begin and end together">
              aligned by
              <select value={s.align} onChange={(event) => model.store.set({ align: event.currentTarget.value as Align })} data-testid="compare-align">
                <option value="clock">time</option>
                <option value="stretch">share of the run</option>
              </select>
            </label>
          </div>
          {s.other === null || s.other === s.layer ? <Empty title="Nothing to compare with yet.">Choose the other run or layer above; its timeline appears below the first.</Empty> : <Differences model={model} other={s.other} />}
        </>
      )}
    </section>
  );
}

async function both<T>(ask: (layer: number) => Promise<T>, a: number, b: number): Promise<[T, T]> {
  return Promise.all([ask(a), ask(b)]);
}

function Differences({ model, other }: { model: Model; other: number }) {
  const s = useSettledSelection(model);
  const a = model.layer(s.layer);
  const b = model.layer(other);
  const asked = query(s);
  const span = (layer: number) => {
    const scale = layer === other && s.align === 'stretch' ? b.span_ns / Math.max(1, a.span_ns) : 1;
    return { from: Math.floor(Number(asked.from) * scale), to: Math.ceil(Number(asked.to) * scale) };
  };
  const { value, error, progress } = useAnswer(JSON.stringify({ ...asked, other, align: s.align }), async (signal) => {
    const [shares, trees] = await Promise.all([
      both((layer) => api.timeline({ ...asked, ...span(layer), layer, ranks: asked.ranks || `0-${model.layer(layer).ranks - 1}`, columns: 1, rows: 1, order: 'rank' }, signal), s.layer, other),
      both((layer) => api.tree({ ...asked, ...span(layer), layer }, signal), s.layer, other),
    ]);
    return { shares, trees };
  });
  if (error !== null) return <Trouble error={error} />;
  if (!value) return <Outline what="Comparing…" lines={8} progress={progress} />;
  return (
    <>
      <Heads a={a} b={b} />
      <ShareTable model={model} shares={value.shares} />
      <FunctionTable a={value.trees[0].nodes} b={value.trees[1].nodes} />
    </>
  );
}

function Heads({ a, b }: { a: Layer; b: Layer }) {
  const difference = b.span_ns - a.span_ns;
  return (
    <div class="pair">
      {[a, b].map((layer, i) => (
        <div key={i}>
          <KindBadge kind={layer.kind} />
          <strong class="block">{layer.name.slice(0, 60)}</strong>
          <span class="soft">
            {duration(layer.span_ns)}, {count(layer.ranks)} ranks
            {i === 1 && `, ${difference >= 0 ? '+' : '−'}${duration(Math.abs(difference))}`}
          </span>
        </div>
      ))}
    </div>
  );
}

const signed = (value: number): string => `${value >= 0 ? '+' : '−'}${Math.abs(value * 100).toFixed(1)}`;

function ShareTable({ model, shares: [a, b] }: { model: Model; shares: [Shares, Shares] }) {
  const share = (shares: Shares, category: number) => (shares.cells[category] ?? 0) / 255;
  const rows = LEGEND.filter((category) => share(a, category) + share(b, category) > 0.003);
  return (
    <table class="grid" data-testid="compare-shares">
      <thead>
        <tr>
          <th>share of time</th>
          <th class="right">first</th>
          <th class="right">other</th>
          <th class="right">points</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((category) => (
          <tr key={category} class="still">
            <td>
              <Swatch category={category} /> {model.run.categories[category]?.name}
            </td>
            <td class="right">{percent(share(a, category))}</td>
            <td class="right">{percent(share(b, category))}</td>
            <td class="right">{signed(share(b, category) - share(a, category))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function FunctionTable({ a, b }: { a: TreeNode[]; b: TreeNode[] }) {
  const sums = new Map<string, [number, number]>();
  for (const [i, nodes] of [a, b].entries()) {
    for (const node of nodes) {
      if (node.kind !== 'function') continue;
      const entry = sums.get(node.name) ?? [0, 0];
      entry[i] = entry[i]! + node.inclusive_ns;
      sums.set(node.name, entry);
    }
  }
  const rows = [...sums].sort((x, y) => Math.abs(y[1][1] - y[1][0]) - Math.abs(x[1][1] - x[1][0])).slice(0, 12);
  if (rows.length === 0) return null;
  return (
    <table class="grid">
      <thead>
        <tr>
          <th>function</th>
          <th class="right">first</th>
          <th class="right">other</th>
          <th class="right">difference</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, [x, y]]) => (
          <tr key={name} class="still">
            <td class="where">{name.slice(0, 80)}</td>
            <td class="right">{duration(x)}</td>
            <td class="right">{duration(y)}</td>
            <td class="right">
              {y >= x ? '+' : '−'}
              {duration(Math.abs(y - x))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
