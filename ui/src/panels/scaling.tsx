// How the program would run with other numbers of ranks, beside the run that is looked at: time with its interval,
// efficiency, and where the time of all ranks goes. Rings are recorded runs, the filled one is as large as this run.
import { api } from '../api';
import { count, duration, percent, signedPercent } from '../format';
import { KindBadge } from '../kind';
import { useAnswer, useSelection, type Model } from '../model';
import { placeText, type PredictedPoint, type Prediction } from '../prediction';
import { Outline, Trouble } from '../states';

const WIDTH = 360;
const HEIGHT = 150;
const LEFT = 52;
const RIGHT = 12;
const TOP = 8;
const BELOW = 18;
const SECOND = 1e9;

export function ScalingPanel({ model }: { model: Model }) {
  const s = useSelection(model);
  const { value, error } = useAnswer<Prediction>('prediction', (signal) => api.prediction({}, signal));
  if (error !== null && !value) return <Trouble error={error} />;
  if (!value) return <Outline what="Loading the prediction…" />;
  return <Scaling prediction={value} ranks={model.layer(s.layer).ranks} />;
}

function Scaling({ prediction, ranks }: { prediction: Prediction; ranks: number }) {
  const { points, from, check } = prediction;
  const x = logarithmic([...points.map((point) => point.ranks), ...from.map((run) => run.ranks), ranks], LEFT, WIDTH - RIGHT);
  const last = points[points.length - 1];
  return (
    <div class="scaling" data-testid="scaling" data-points={points.length}>
      <div class="scope">
        <KindBadge kind="replayed" />
        <span>
          {prediction.program.slice(0, 60)}
          {prediction.machine && ` on ${prediction.machine.slice(0, 60)}`}
        </span>
      </div>
      <Lines x={x} prediction={prediction} ranks={ranks} byTime />
      <RecordedNote prediction={prediction} ranks={ranks} />
      <Lines x={x} prediction={prediction} ranks={ranks} byTime={false} />
      <Areas x={x} points={points} />
      <table>
        <thead>
          <tr>
            <th class="n">ranks</th>
            <th class="n">time</th>
            <th class="n">90 % interval</th>
            <th class="n">efficiency</th>
          </tr>
        </thead>
        <tbody>
          {points.map((point) => (
            <tr key={point.ranks} class={point.ranks === ranks ? 'chosen' : ''}>
              <td class="n">{count(point.ranks)}</td>
              <td class="n">{duration(point.time_s * SECOND)}</td>
              <td class="n">
                {duration(point.low_s * SECOND)} .. {duration(point.high_s * SECOND)}
              </td>
              <td class="n">{percent(point.efficiency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {check && (
        <p class="soft">
          Check: the run with {count(check.foretold.ranks)} ranks, predicted from the smaller ones, has an error of {signedPercent(check.error_share)}.
        </p>
      )}
      {last?.limited_by[0] && (
        <p class="soft">
          At {count(last.ranks)} ranks, the largest share of time is {last.limited_by[0].what} at {placeText(last.limited_by[0].place).slice(0, 120)}.
        </p>
      )}
    </div>
  );
}

/** A line with the band of its interval, and rings for recorded runs. */
function Lines({ x, prediction, ranks, byTime }: { x: Axis; prediction: Prediction; ranks: number; byTime: boolean }) {
  const { points, from } = prediction;
  const y = byTime
    ? logarithmic([...points.flatMap((point) => [point.low_s, point.high_s]), ...from.map((run) => run.time_s)], TOP + HEIGHT, TOP)
    : linear(TOP + HEIGHT, TOP);
  const value = (point: PredictedPoint) => (byTime ? point.time_s : point.efficiency);
  const low = (point: PredictedPoint) => (byTime ? point.low_s : Math.min(1, (point.efficiency * point.time_s) / point.high_s));
  const high = (point: PredictedPoint) => (byTime ? point.high_s : Math.min(1, (point.efficiency * point.time_s) / point.low_s));
  const band = [...points.map((point) => `${x.at(point.ranks)},${y.at(high(point))}`), ...[...points].reverse().map((point) => `${x.at(point.ranks)},${y.at(low(point))}`)];
  const text = (number: number) => (byTime ? duration(number * SECOND) : percent(number));
  return (
    <figure>
      <figcaption>{byTime ? 'time with 90 % interval; rings: recorded runs' : 'efficiency: computation as a share of the time of all ranks'}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${TOP + HEIGHT + BELOW}`} role="img" aria-label={byTime ? 'time over ranks' : 'efficiency over ranks'}>
        <Frame x={x} ticks={byTime ? y.ticks : [0, 0.5, 1]} y={y} text={text} points={points} />
        <polygon class="scaling-band" points={band.join(' ')} />
        <polyline class="scaling-line" points={points.map((point) => `${x.at(point.ranks)},${y.at(value(point))}`).join(' ')} />
        {points.map((point) => (
          <circle key={point.ranks} class="scaling-point" cx={x.at(point.ranks)} cy={y.at(value(point))} r={2.5}>
            <title>{`${count(point.ranks)} ranks: ${text(value(point))} (${text(low(point))} .. ${text(high(point))})`}</title>
          </circle>
        ))}
        {from.map((run) => (
          <circle
            key={run.ranks}
            class={run.ranks === ranks ? 'scaling-run scaling-this' : 'scaling-run'}
            cx={x.at(run.ranks)}
            cy={y.at(byTime ? run.time_s : run.efficiency)}
            r={5}
          >
            <title>{`${count(run.ranks)} ranks, recorded: ${text(byTime ? run.time_s : run.efficiency)}`}</title>
          </circle>
        ))}
      </svg>
    </figure>
  );
}

function RecordedNote({ prediction, ranks }: { prediction: Prediction; ranks: number }) {
  const own = prediction.from.find((run) => run.ranks === ranks);
  const sizes = prediction.from.map((run) => count(run.ranks)).join(', ');
  return (
    <p class="soft">
      Predicted from runs with {sizes} ranks{own ? '; the filled ring has the size of this run.' : `; this run has ${count(ranks)}.`}
    </p>
  );
}

/** Shares on top of each other: computation, and waiting and transfer of the calls that take most. */
function Areas({ x, points }: { x: Axis; points: PredictedPoint[] }) {
  const y = linear(TOP + HEIGHT, TOP);
  const layers = [
    { name: 'computation', of: (point: PredictedPoint) => point.shares.computation },
    { name: 'waiting', of: (point: PredictedPoint) => point.shares.waiting },
    { name: 'transfer', of: (point: PredictedPoint) => point.shares.transfer },
  ];
  const below = points.map(() => 0);
  // One number of ranks is a column.
  const at = points.length === 1 ? [x.at(points[0]!.ranks) - 16, x.at(points[0]!.ranks) + 16] : points.map((point) => x.at(point.ranks));
  const spread = (heights: number[]) => (heights.length === 1 ? [heights[0]!, heights[0]!] : heights);
  return (
    <figure>
      <figcaption>
        {layers.map((layer) => (
          <span key={layer.name}>
            <i class={`scaling-key scaling-${layer.name}`} /> {layer.name}{' '}
          </span>
        ))}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${TOP + HEIGHT + BELOW}`} role="img" aria-label="shares over ranks">
        <Frame x={x} ticks={[0, 0.5, 1]} y={y} text={percent} points={points} />
        {layers.map((layer) => {
          const from = spread([...below]);
          points.forEach((point, i) => (below[i] = below[i]! + layer.of(point)));
          const to = spread([...below]);
          const corners = [...at.map((left, i) => `${left},${y.at(to[i]!)}`), ...at.map((left, i) => `${left},${y.at(from[i]!)}`).reverse()];
          const most = Math.max(...points.map(layer.of));
          return (
            <polygon key={layer.name} class={`scaling-${layer.name}`} points={corners.join(' ')}>
              <title>{`${layer.name}, up to ${percent(most)}`}</title>
            </polygon>
          );
        })}
      </svg>
      <ul class="scaling-calls">
        {(points[points.length - 1]?.shares.calls ?? []).slice(0, 4).map((call) => (
          <li key={`${call.function} ${placeText(call.place)}`}>
            {call.function} at {placeText(call.place).slice(0, 80)}: waiting {percent(call.waiting)}, transfer {percent(call.transfer)}
            <span class="soft"> with {count(points[points.length - 1]!.ranks)} ranks</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

function Frame({ x, y, ticks, text, points }: { x: Axis; y: Axis; ticks: number[]; text: (value: number) => string; points: PredictedPoint[] }) {
  let last = -Infinity;
  return (
    <>
      {ticks.map((tick) => (
        <g key={tick}>
          <line class="scaling-grid" x1={LEFT} x2={WIDTH - RIGHT} y1={y.at(tick)} y2={y.at(tick)} />
          <text x={LEFT - 4} y={y.at(tick) + 4} text-anchor="end">
            {text(tick)}
          </text>
        </g>
      ))}
      {points.map((point) => {
        const left = x.at(point.ranks);
        if (left - last < 40) return null;
        last = left;
        return (
          <text key={point.ranks} x={left} y={TOP + HEIGHT + 13} text-anchor="middle">
            {count(point.ranks)}
          </text>
        );
      })}
    </>
  );
}

interface Axis {
  at: (value: number) => number;
  ticks: number[];
}

/** An axis by powers that holds all values; a single one is in its middle. */
function logarithmic(values: number[], from: number, to: number): Axis {
  const known = values.filter((value) => value > 0);
  let [low, high] = [Math.min(...known), Math.max(...known)];
  if (!(low < high)) [low, high] = [low / 2, low * 2];
  const at = (value: number) => from + (Math.log(Math.max(value, low) / low) / Math.log(high / low)) * (to - from);
  return { at, ticks: [low, Math.sqrt(low * high), high] };
}

/** Shares from 0 to 1. */
const linear = (from: number, to: number): Axis => ({ at: (share) => from + Math.min(1, Math.max(0, share)) * (to - from), ticks: [0, 0.5, 1] });
