// Tasks folded by path: whoever made them, with how many there are, their work, and a small curve. A row draws its curve among the
// large ones, and narrows the other windows to it.
import { useState } from 'preact/hooks';
import { api, type TaskNode, type TaskTree } from '../api';
import { count, percent } from '../format';
import { useAnswer } from '../model';
import { Empty, Outline, Trouble } from '../states';
import { Frame, type Linked } from './page';
import { colourOf, length, shortLine, taskLine, taskName } from './names';
import { marked, taskScope } from './selection';

export function TreeWindow({ linked }: { linked: Linked }) {
  const asked = { layer: linked.layer, ...marked(linked.settled) };
  const { value, error, busy } = useAnswer<TaskTree>(JSON.stringify(asked), (signal) => api.taskTree(asked, signal));
  return (
    <Frame title="Tree" id="task-tree" busy={busy} head={<span class="soft">tasks by creator; recursion is folded</span>}>
      {error !== null && <Trouble error={error} />}
      {!value && error === null && <Outline what="Folding tasks…" lines={6} />}
      {value && value.nodes.length === 0 && <Empty title="No tasks here.">Move the markers, or clear them.</Empty>}
      {value && value.nodes.length > 0 && <Rows linked={linked} tree={value} />}
    </Frame>
  );
}

function Rows({ linked, tree }: { linked: Linked; tree: TaskTree }) {
  const { model, s, settled, toggle, units } = linked;
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  const children = new Map<number | null, TaskNode[]>();
  for (const node of tree.nodes) children.set(node.parent, [...(children.get(node.parent) ?? []), node]);
  for (const list of children.values()) list.sort((a, b) => b.work - a.work || a.node - b.node);
  const rows: { node: TaskNode; depth: number }[] = [];
  const walk = (parent: number | null, depth: number) => {
    for (const node of children.get(parent) ?? []) {
      rows.push({ node, depth });
      if (!closed.has(node.node) && depth < 60) walk(node.node, depth + 1);
    }
  };
  walk(null, 0);
  const scope = taskScope(settled);
  const span = Math.max(1, scope ? scope.to - scope.from : linked.end - linked.begin);
  const turn = (node: number) => {
    const next = new Set(closed);
    if (!next.delete(node)) next.add(node);
    setClosed(next);
  };
  return (
    <div class="window-body">
      <table class="grid tree" aria-label="tasks by creator">
        <thead>
          <tr>
            <th>task</th>
            <th class="right">tasks</th>
            <th class="right">work</th>
            <th class="right" title="Share of the critical path">
              of span
            </th>
            <th>over time</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ node, depth }) => {
            const part = `n${node.node}`;
            const chosen = s.parts.includes(part);
            return (
              <tr key={node.node} class={chosen ? 'chosen' : ''} data-testid="tree-row" data-part={part} onClick={() => toggle(part)}>
                <td class="where" style={{ paddingLeft: `${4 + Math.min(depth, 10) * 12}px` }} title={`${taskName(model, node.place)} ${taskLine(model, node.place)}`}>
                  {children.has(node.node) ? (
                    <button
                      class="twist"
                      aria-label={closed.has(node.node) ? 'expand' : 'collapse'}
                      aria-expanded={!closed.has(node.node)}
                      onClick={(event) => {
                        event.stopPropagation();
                        turn(node.node);
                      }}
                    >
                      {closed.has(node.node) ? '▸' : '▾'}
                    </button>
                  ) : (
                    <span class="twist" />
                  )}
                  <button class="plain" aria-pressed={chosen}>
                    {taskName(model, node.place)}
                  </button>{' '}
                  <span class="soft small">{shortLine(model, node.place)}</span>
                </td>
                <td class="right">{count(node.tasks)}</td>
                <td class="right">{length(node.work, units)}</td>
                <td class="right share">
                  <span class="share-bar" style={{ width: `${Math.min(100, (node.on_path / span) * 100)}%` }} />
                  <span>{percent(node.on_path / span)}</span>
                </td>
                <td>
                  <Small columns={node.columns} colour={colourOf(s.parts, part)} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {tree.of > tree.nodes.length && <p class="hint">{`${count(tree.nodes.length)} of ${count(tree.of)} paths with work in the range, most work first.`}</p>}
    </div>
  );
}

/** A curve as large as a word. */
function Small({ columns, colour }: { columns: number[]; colour: string }) {
  const most = Math.max(1e-9, ...columns);
  const corners = columns.flatMap((height, i) => [`${i},${(14 * (1 - height / most)).toFixed(1)}`, `${i + 1},${(14 * (1 - height / most)).toFixed(1)}`]);
  return (
    <svg class="small-curve" viewBox={`0 0 ${columns.length} 14`} preserveAspectRatio="none" aria-hidden="true">
      <polygon points={`0,14 ${corners.join(' ')} ${columns.length},14`} fill={colour} />
    </svg>
  );
}
