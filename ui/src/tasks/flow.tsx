// Tasks one by one over virtual time: boxes, an arrow from who made a task to its start, dotted ones from what it needed. The critical
// path is on top. Pointing at a task names it; clicking it chooses it with all that descend from it.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { api, type FlowTask, type TaskFlow } from '../api';
import { count, plural } from '../format';
import { useAnswer } from '../model';
import { Empty, Outline, Trouble } from '../states';
import { lay } from './layout';
import { Frame, type Linked } from './page';
import { at, colourOf, length, taskLine, taskName } from './names';
import { marked, taskScope } from './selection';

const LEAST_LANE = 7;
const MOST_LANE = 24;
const RULER = 18;
/** As far left as the numbers of the curves above. */
const LEFT = 52;
const RIGHT = 14;
/** Up to so many tasks, arrows have heads: those of more hide the tasks. */
const HEADS = 150;

export function FlowWindow({ linked }: { linked: Linked }) {
  const { settled, s, model, units } = linked;
  const asked = { layer: linked.layer, parts: settled.parts.join(','), aligned: `${settled.aligned}`, ...marked(settled) };
  const { value, error, busy } = useAnswer<TaskFlow>(JSON.stringify(asked), (signal) => api.taskFlow(asked, signal));
  const [over, setOver] = useState<FlowTask | null>(null);
  const shown = over && value?.tasks.includes(over) ? over : null;
  const head = (
    <>
      {shown ? (
        <span class="flow-over" data-testid="flow-over">
          <strong>{taskName(model, shown.place)}</strong> {taskLine(model, shown.place)}, task {count(shown.task + 1)}: {at(shown.start, units, 1)} – {at(shown.end, units, 1)}
          {shown.start > shown.created && <span class="soft">, started {length(shown.start - shown.created, units)} after creation</span>}
          {shown.on_path && <span class="on-path"> on the critical path</span>}
        </span>
      ) : (
        <>
          <span class="flow-key">
            <i class="flow-key-path" /> critical path
          </span>
          <span class="flow-key">
            <i class="flow-key-made" /> creation
          </span>
          <span class="flow-key">
            <i class="flow-key-need" /> dependency
          </span>
          {value && (
            <span class="soft">
              {value.of > value.tasks.length ? `${count(value.tasks.length)} of ${plural(value.of, 'task')}, critical path first; set markers to see others` : plural(value.of, 'task')}
            </span>
          )}
        </>
      )}
    </>
  );
  return (
    <Frame title="Flow" id="task-flow" busy={busy} head={head} figures={{ 'data-tasks': value?.tasks.length ?? '', 'data-needs': value?.needs.length ?? '', 'data-of': value?.of ?? '' }}>
      {error !== null && <Trouble error={error} />}
      {!value && error === null && <Outline what="Loading tasks…" lines={5} />}
      {value && value.tasks.length === 0 && <Empty title="No tasks here.">Move the markers, or select other sub-trees.</Empty>}
      {value && value.tasks.length > 0 && <Drawing linked={{ ...linked, s }} flow={value} over={shown} setOver={setOver} />}
    </Frame>
  );
}

interface DrawingProps {
  linked: Linked;
  flow: TaskFlow;
  over: FlowTask | null;
  setOver: (task: FlowTask | null) => void;
}

function Drawing({ linked, flow, over, setOver }: DrawingProps) {
  const host = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 800, height: 300 });
  useEffect(() => {
    const element = host.current!;
    const resized = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  const scope = taskScope(linked.settled) ?? { from: linked.begin, to: Math.max(linked.begin + 1, linked.end) };
  const perPixel = (scope.to - scope.from) / Math.max(1, size.width - LEFT - RIGHT);
  const x = (time: number) => LEFT + (time - scope.from) / perPixel;
  const laid = useMemo(() => lay(flow.tasks, 3 * perPixel), [flow, perPixel]);
  const lane = Math.min(MOST_LANE, Math.max(LEAST_LANE, (size.height - RULER - 4) / Math.max(1, laid.lanes)));
  const y = (task: number) => RULER + ((laid.lane.get(task) ?? 0) + 0.5) * lane;
  const sorted = useMemo(() => [...flow.tasks].sort((a, b) => a.start - b.start || a.task - b.task), [flow]);
  const choose = (task: FlowTask) => linked.toggle(`t${task.task}`);
  const press = (event: KeyboardEvent) => {
    const now = over ? sorted.indexOf(over) : -1;
    if (event.key === 'ArrowRight') setOver(sorted[Math.min(sorted.length - 1, now + 1)]!);
    else if (event.key === 'ArrowLeft') setOver(sorted[Math.max(0, now - 1)]!);
    else if ((event.key === 'Enter' || event.key === ' ') && over) choose(over);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const height = Math.max(size.height - 2, RULER + laid.lanes * lane + 4);
  return (
    <div class="window-body flow-body" ref={host} tabIndex={0} role="group" aria-label="single tasks; arrow keys move between them, Enter selects" onKeyDown={press}>
      <svg width={size.width} height={height} onMouseLeave={() => setOver(null)}>
        <defs>
          <marker id="made" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="5" markerHeight="5" orient="auto">
            <path class="flow-head" d="M0 0 L6 3 L0 6 Z" />
          </marker>
        </defs>
        <Ruler linked={linked} from={scope.from} to={scope.to} x={x} height={height} />
        {flow.tasks.map((task) => (
          <Box key={task.task} linked={linked} task={task} over={over === task} x={x} y={y(task.task)} lane={lane} right={size.width - RIGHT} setOver={setOver} choose={choose} />
        ))}
        <Arrows flow={flow} over={over} x={x} y={y} room={{ left: LEFT, right: size.width - RIGHT }} heads={flow.tasks.length <= HEADS} />
      </svg>
    </div>
  );
}

type Place = (of: number) => number;

function Ruler({ linked, from, to, x, height }: { linked: Linked; from: number; to: number; x: Place; height: number }) {
  const rough = (to - from) / 8;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? 10 * power);
  const ticks: number[] = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) ticks.push(tick);
  return (
    <g class="flow-ruler">
      {ticks.map((tick) => (
        <g key={tick}>
          <line x1={x(tick)} x2={x(tick)} y1={RULER - 3} y2={height} />
          <text x={x(tick)} y={RULER - 6} text-anchor="middle">
            {at(tick, linked.units, step)}
          </text>
        </g>
      ))}
    </g>
  );
}

/** Who made whom, and dotted what was needed. What a task that is pointed at is tied to stands out. */
function Arrows({ flow, over, x, y, room, heads }: { flow: TaskFlow; over: FlowTask | null; x: Place; y: Place; room: { left: number; right: number }; heads: boolean }) {
  const shown = useMemo(() => new Map(flow.tasks.map((task) => [task.task, task])), [flow]);
  const clip = (left: number) => Math.min(room.right, Math.max(room.left, left));
  const line = (from: number, fromTime: number, to: FlowTask) => {
    const [x0, y0, x1, y1] = [clip(x(fromTime)), y(from), clip(x(to.start)), y(to.task)];
    const bend = Math.min(40, Math.max(6, (x1 - x0) / 2));
    return `M${x0.toFixed(1)} ${y0.toFixed(1)} C${(x0 + bend).toFixed(1)} ${y0.toFixed(1)} ${(x1 - bend).toFixed(1)} ${y1.toFixed(1)} ${x1.toFixed(1)} ${y1.toFixed(1)}`;
  };
  const isTied = (a: number, b: number) => over !== null && (over.task === a || over.task === b);
  const look = (a: number, b: number) => (isTied(a, b) ? ' strong' : over ? ' faint' : '');
  const head = (a: number, b: number) => (heads || isTied(a, b) ? { 'marker-end': 'url(#made)' } : {});
  return (
    <g fill="none" class={heads ? '' : 'many'}>
      {flow.needs.map((need, i) => {
        const task = shown.get(need.task)!;
        const path = task.on_path && shown.get(need.of)!.on_path && need.at === task.start;
        return <path key={`n${i}`} class={`flow-need${path ? ' on-path' : ''}${look(need.of, need.task)}`} d={line(need.of, need.at, task)} {...head(need.of, need.task)} />;
      })}
      {flow.tasks.map((task) => {
        if (task.parent === null || !shown.has(task.parent)) return null;
        const path = task.on_path && shown.get(task.parent)!.on_path && task.created === task.start;
        return <path key={task.task} class={`flow-made${path ? ' on-path' : ''}${look(task.parent, task.task)}`} d={line(task.parent, task.created, task)} {...head(task.parent, task.task)} />;
      })}
    </g>
  );
}

interface BoxProps {
  linked: Linked;
  task: FlowTask;
  over: boolean;
  x: Place;
  y: number;
  lane: number;
  right: number;
  setOver: (task: FlowTask) => void;
  choose: (task: FlowTask) => void;
}

function Box({ linked, task, over, x, y, lane, right, setOver, choose }: BoxProps) {
  const { s, model } = linked;
  const left = Math.max(LEFT, x(task.start));
  const width = Math.max(2.5, Math.min(right, x(task.end)) - left);
  const high = Math.max(4, lane - Math.max(2, lane * 0.3));
  const name = taskName(model, task.place);
  const part = `t${task.task}`;
  const fits = lane >= 13 && width > 12 + name.length * 6.2;
  return (
    <g class={`flow-task${task.on_path ? ' on-path' : ''}${over ? ' pointed' : ''}`} data-testid="flow-task" data-task={task.task} onMouseEnter={() => setOver(task)} onClick={() => choose(task)}>
      <rect x={left} y={y - high / 2} width={width} height={high} rx={Math.min(3, high / 3)} {...(s.parts.includes(part) ? { style: { fill: colourOf(s.parts, part) }, class: 'chosen' } : {})} />
      {fits && (
        <text x={left + 5} y={y + 4}>
          {name}
        </text>
      )}
    </g>
  );
}
