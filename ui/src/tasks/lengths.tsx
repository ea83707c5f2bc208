// Tasks of each place in the range: how many, their work, and how long they are. A row chooses all tasks of its place.
import { useState } from 'preact/hooks';
import { api, type TaskLengths, type TaskPlace } from '../api';
import { count, plural } from '../format';
import { useAnswer } from '../model';
import { Empty, Outline, Trouble } from '../states';
import { Frame, type Linked } from './page';
import { colourOf, length, shortLine, taskLine, taskName } from './names';
import { marked } from './selection';

type Measure = 'counts' | 'works';

export function LengthsWindow({ linked }: { linked: Linked }) {
  const { settled, units } = linked;
  const [measure, setMeasure] = useState<Measure>('counts');
  const asked = { layer: linked.layer, parts: settled.parts.join(','), aligned: `${settled.aligned}`, ...marked(settled) };
  const { value, error, busy } = useAnswer<TaskLengths>(JSON.stringify(asked), (signal) => api.taskLengths(asked, signal));
  const head = (
    <>
      {value && (
        <span class="soft">
          {plural(value.tasks, 'task')}, {length(value.work, units)} of work
        </span>
      )}
      <span class="grow" />
      <div class="segments" role="radiogroup" aria-label="bar height">
        {(
          [
            ['counts', 'tasks'],
            ['works', 'work'],
          ] as const
        ).map(([name, text]) => (
          <button key={name} role="radio" aria-checked={measure === name} onClick={() => setMeasure(name)}>
            {text}
          </button>
        ))}
      </div>
    </>
  );
  return (
    <Frame title="Histogram" id="task-lengths" busy={busy} head={head} figures={{ 'data-tasks': value?.tasks ?? '', 'data-work': value?.work ?? '' }}>
      {error !== null && <Trouble error={error} />}
      {!value && error === null && <Outline what="Sorting tasks by duration…" lines={5} />}
      {value && value.tasks === 0 && <Empty title="No tasks here.">Move the markers, or select other sub-trees.</Empty>}
      {value && value.tasks > 0 && <Rows linked={linked} value={value} measure={measure} />}
    </Frame>
  );
}

function Rows({ linked, value, measure }: { linked: Linked; value: TaskLengths; measure: Measure }) {
  const { model, s, toggle, units } = linked;
  const { borders } = value;
  const shortest = borders[0] ?? 0;
  const longest = Math.max(...value.places.map((place) => place.longest));
  return (
    <div class="window-body">
      <table class="grid" aria-label="tasks by source line and duration">
        <thead>
          <tr>
            <th>source line</th>
            <th class="right">tasks</th>
            <th class="right">work</th>
            <th class="by-length">
              <span>{length(shortest, units)}</span>
              <span>duration</span>
              <span>{length(longest, units)}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {value.places.map((place) => {
            const part = `p${place.place}`;
            return (
              <tr
                key={part}
                class={s.parts.includes(part) ? 'chosen' : place.place === null ? 'still' : ''}
                data-testid="lengths-row"
                data-place={place.place ?? ''}
                onClick={() => place.place !== null && toggle(part)}
              >
                <td class="where" title={`${taskName(model, place.place)} ${taskLine(model, place.place)}`}>
                  <button class="plain" aria-pressed={s.parts.includes(part)} disabled={place.place === null}>
                    {taskName(model, place.place)}
                  </button>{' '}
                  <span class="soft small">{shortLine(model, place.place)}</span>
                </td>
                <td class="right">{count(place.tasks)}</td>
                <td class="right">{length(place.work, units)}</td>
                <td>
                  <Bars place={place} measure={measure} borders={borders} units={units} colour={colourOf(s.parts, part)} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {value.of > value.places.length && <p class="hint">{`The ${count(value.places.length)} source lines with the most work, of ${count(value.of)}.`}</p>}
    </div>
  );
}

/** A bar for each bucket, as high as its share of the place's highest. */
function Bars({ place, measure, borders, units, colour }: { place: TaskPlace; measure: Measure; borders: number[]; units: boolean; colour: string }) {
  const values = place[measure];
  const most = Math.max(1, ...values);
  const between = (i: number) => {
    const [low, high] = [borders[i]!, borders[i + 1]! - 1];
    return low >= high ? length(low, units) : `${length(low, units)} to ${length(high, units)}`;
  };
  return (
    <svg class="bars" viewBox={`0 0 ${values.length} 16`} preserveAspectRatio="none" role="img" aria-label="tasks by duration">
      <rect class="bars-ground" x={0} y={15.4} width={values.length} height={0.6} />
      {values.map((value, i) => {
        if (place.counts[i] === 0) return null;
        const height = Math.max(1.5, (value / most) * 15);
        return (
          <rect key={i} x={i + 0.06} y={16 - height} width={0.88} height={height} fill={colour}>
            <title>{`duration ${between(i)}: ${plural(place.counts[i]!, 'task')}, ${length(place.works[i]!, units)} of work`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
