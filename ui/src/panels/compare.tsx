// Two layers or runs side by side: the other one's timeline stands below the first, aligned by a phase both have;
// here are the differences, in shares of time and function by function.
import { useEffect } from 'preact/hooks';
import { along, common, ends, line, settled, type Align, type Common } from '../align';
import { api, type Layer, type Shares, type TreeNode } from '../api';
import { count, duration, percent, plural, signedDuration, signedPercent } from '../format';
import { KindBadge } from '../kind';
import { useAnswer, useMarks, useSelection, useSettledSelection, type Model } from '../model';
import { query } from '../selection';
import { Empty, Outline, Trouble } from '../states';
import { LEGEND } from '../theme';
import { Swatch } from '../timeline/view';
import { Scope } from './scope';

export function ComparePanel({ model }: { model: Model }) {
  const s = useSelection(model);
  const { layers } = model.run;
  const other = s.other === s.layer ? null : s.other;
  return (
    <section class="panel" data-testid="compare">
      <Scope model={model} />
      {layers.length < 2 ? (
        <Empty title="Only one run is loaded.">
          Pass several runs to compare them: <code>kizami view run.kz other.kz</code>. Runs written by <code>kizami undisturb</code> or <code>kizami replay -o</code> work as well.
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
                <option value="">none</option>
                {layers.map((layer, i) => (i === s.layer ? null : <option value={`${i}`} key={i}>{layer.name.slice(0, 60)}</option>))}
              </select>
            </label>
            {other !== null && <AlignControl model={model} other={other} />}
          </div>
          {other === null ? <Empty title="No run selected for comparison.">Select the other run or layer above; its timeline appears below the first.</Empty> : <Differences model={model} other={other} />}
        </>
      )}
    </section>
  );
}

/** What the two are aligned by: a phase both have, time, or the share of the run. Settles how the timelines lie. */
function AlignControl({ model, other }: { model: Model; other: number }) {
  const s = useSelection(model);
  const { value } = useAnswer(`${s.layer}/${other}`, (signal) => both((layer) => api.phases({ layer }, signal), s.layer, other));
  const [a, b] = value ? [value[0].phases, value[1].phases] : [[], []];
  const shared = common(a, b);
  const align = settled(s.align, shared);
  const found = ends(align, { layer: model.layer(s.layer), phases: a }, { layer: model.layer(other), phases: b });
  useEffect(() => {
    if (value) model.mark({ line: line(found) });
  }, [value, s.align]);
  const visits = align.by === 'region' ? shared.regions.find(({ name }) => name === align.name)!.visits : 0;
  return (
    <>
      <label class="check" title="The phase that starts and ends together in both runs">
        aligned by
        <select value={optionOf(align)} onChange={(event) => model.store.set({ align: alignOf(event.currentTarget.value, shared) })} data-testid="compare-align">
          {shared.program && <option value="program">MPI_Init to MPI_Finalize</option>}
          <option value="clock">time</option>
          <option value="stretch">share of the run</option>
          {shared.regions.map(({ name }, i) => (
            <option value={`region/${name}`} key={i}>
              region {name.slice(0, 60)}
            </option>
          ))}
        </select>
      </label>
      {align.by === 'region' && visits > 1 && (
        <label class="check" title="Which visit of the region">
          visit
          <input
            type="number"
            min={1}
            max={visits}
            value={align.instance + 1}
            data-testid="compare-visit"
            onInput={(event) => {
              const visit = Math.round(Number(event.currentTarget.value));
              if (visit >= 1 && visit <= visits) model.store.set({ align: { ...align, instance: visit - 1 } });
            }}
          />
          of {count(visits)}
        </label>
      )}
      {found && <Lengths a={found[0].to - found[0].from} b={found[1].to - found[1].from} />}
    </>
  );
}
/** How long the phase takes in both. */
const Lengths = ({ a, b }: { a: number; b: number }) => (
  <span class="figures" data-testid="compare-lengths">
    {duration(a)} in the first, <strong>{duration(b)}</strong> in the other ({signedPercent(b / a - 1)})
  </span>
);
const optionOf = (align: Align): string => (align.by === 'region' ? `region/${align.name}` : align.by);
function alignOf(option: string, { regions }: Common): Align {
  const region = regions.find(({ name }) => option === `region/${name}`);
  if (region) return { by: 'region', name: region.name, instance: 0 };
  return { by: option === 'clock' || option === 'stretch' ? option : 'program' };
}

async function both<T>(ask: (layer: number) => Promise<T>, a: number, b: number): Promise<[T, T]> {
  return Promise.all([ask(a), ask(b)]);
}

function Differences({ model, other }: { model: Model; other: number }) {
  const s = useSettledSelection(model);
  const a = model.layer(s.layer);
  const b = model.layer(other);
  const { line } = useMarks(model);
  const asked = query(s);
  const span = (layer: number) => {
    const own = { from: Number(asked.from), to: Number(asked.to) };
    const { from, to } = layer === other ? along(line, own) : own;
    return { from: Math.max(0, Math.floor(from)), to: Math.max(0, Math.ceil(to)) };
  };
  const { value, error, progress } = useAnswer(JSON.stringify({ ...asked, other, line }), async (signal) => {
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
  return (
    <div class="pair">
      {[a, b].map((layer, i) => (
        <div key={i}>
          <KindBadge kind={layer.kind} />
          <strong class="block" title={layer.path_shown.slice(0, 400)}>
            {layer.name.slice(0, 120)}
          </strong>
          <span class="soft block">
            {duration(layer.span_ns)}, {plural(layer.ranks, 'rank')}
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
            <td class="right">{signedDuration(y - x)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
