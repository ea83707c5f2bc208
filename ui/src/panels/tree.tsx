// From the program down: regions, functions by the path that leads to a call, and call sites, by the time in calls below
// them. Choosing some narrows every other view to them.
import { useState } from 'preact/hooks';
import { api, type TreeNode } from '../api';
import { count, duration, percent } from '../format';
import { useAnswer, useSelection, useSettledSelection, type Model } from '../model';
import { query } from '../selection';
import { Empty, Outline, Trouble } from '../states';
import { Middle } from '../middle';
import { Scope } from './scope';

export function TreePanel({ model }: { model: Model }) {
  const settled = useSettledSelection(model);
  // The tree is what sites are chosen in: it shows all of them, whatever is chosen.
  const asked = { ...query(settled), sites: '' };
  const { value, error, busy, progress } = useAnswer(JSON.stringify(asked), (signal) => api.tree(asked, signal));
  return (
    <section class="panel" data-testid="tree" data-busy={busy}>
      <Scope model={model} />
      {error !== null && <Trouble error={error} />}
      {!value && error === null && <Outline what="Adding up calls…" lines={8} progress={progress} />}
      {value && value.nodes.length === 0 && <Empty title="No calls here.">Select another range, or zoom out.</Empty>}
      {value && value.nodes.length > 0 && <Rows model={model} nodes={value.nodes} />}
    </section>
  );
}

function Rows({ model, nodes }: { model: Model; nodes: TreeNode[] }) {
  const s = useSelection(model);
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  const children = new Map<number | null, TreeNode[]>();
  const known = new Set(nodes.map((node) => node.id));
  for (const node of nodes) {
    const parent = node.parent !== null && known.has(node.parent) && node.parent !== node.id ? node.parent : null;
    const list = children.get(parent) ?? [];
    list.push(node);
    children.set(parent, list);
  }
  for (const list of children.values()) list.sort((a, b) => b.inclusive_ns - a.inclusive_ns);
  const top = Math.max(1, ...(children.get(null) ?? []).map((node) => node.inclusive_ns));
  const sitesBelow = (node: TreeNode): number[] => [
    ...(typeof node.site === 'number' ? [node.site] : []),
    ...(children.get(node.id) ?? []).flatMap(sitesBelow),
  ];
  const rows: { node: TreeNode; depth: number; open: boolean | null }[] = [];
  const walk = (parent: number | null, depth: number) => {
    for (const node of children.get(parent) ?? []) {
      const inside = children.has(node.id);
      rows.push({ node, depth, open: inside ? !closed.has(node.id) : null });
      if (inside && !closed.has(node.id) && depth < 60) walk(node.id, depth + 1);
    }
  };
  walk(null, 0);
  const choose = (node: TreeNode, more: boolean) => {
    const sites = sitesBelow(node);
    if (sites.length === 0) return;
    const all = sites.every((site) => s.sites.includes(site));
    if (more) model.store.set({ sites: all ? s.sites.filter((site) => !sites.includes(site)) : [...new Set([...s.sites, ...sites])] });
    else model.store.set({ sites: all && s.sites.length === sites.length ? [] : sites });
  };
  return (
    <table class="grid tree" aria-label="time in regions and call sites">
      <thead>
        <tr>
          <th>where</th>
          <th class="right">time</th>
          <th class="right">share</th>
          <th class="right">calls</th>
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, 2000).map(({ node, depth, open }) => {
          const sites = sitesBelow(node);
          const chosen = sites.length > 0 && s.sites.length > 0 && sites.every((site) => s.sites.includes(site));
          return (
            <tr key={node.id} class={chosen ? 'chosen' : ''} onClick={(event) => choose(node, event.ctrlKey || event.metaKey || event.shiftKey)}>
              <td class="where" style={{ paddingLeft: `${6 + Math.min(depth, 20) * 8}px` }} title={node.name.slice(0, 400)}>
                <div class="tree-name">
                  {open !== null ? (
                    <button
                      class="twist"
                      aria-label={open ? 'collapse' : 'expand'}
                      onClick={(event) => {
                        event.stopPropagation();
                        const next = new Set(closed);
                        if (open) next.add(node.id);
                        else next.delete(node.id);
                        setClosed(next);
                      }}
                    >
                      {open ? '▾' : '▸'}
                    </button>
                  ) : (
                    <span class="twist" />
                  )}
                  <span class={`node node-${node.kind}`}>
                    <Middle text={node.name.slice(0, 200)} />
                  </span>
                </div>
              </td>
              <td class="right">{duration(node.inclusive_ns)}</td>
              <td class="right share">
                <span class="share-bar" style={{ width: `${Math.min(100, (node.inclusive_ns / top) * 100)}%` }} />
                <span>{percent(node.inclusive_ns / top)}</span>
              </td>
              <td class="right">{count(node.calls)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
