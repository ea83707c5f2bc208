// The busiest links under the timeline and on its time axis, for a run on a simulated network.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { BusyLink, BusyLinks } from '../api';
import { bytes, count, duration, moment, percent } from '../format';
import { useSelection, type Answer, type Model } from '../model';
import { Scale } from '../ramp';
import { useRedraw } from '../redraw';
import { Trouble } from '../states';
import { Cursor, onWheel, pointAt, type Moves } from '../strip';
import { Row } from '../tooltip';
import { callOf, stretchAt } from './answer';
import { draw } from './draw';

/** What is under the pointer. */
interface Under {
  x: number;
  y: number;
  time: number;
  link: BusyLink;
}
interface Props {
  model: Model;
  answer: Answer<BusyLinks>;
  /** The link that is pointed at, here or in the panel. */
  over: string | null;
  setOver: (link: string | null) => void;
  moves: Moves;
}

export function LinksStrip({ model, answer: { value, error, busy }, over, setOver, moves }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const s = useSelection(model);
  const [under, setUnder] = useState<Under | null>(null);
  /** Names reach so far to the right; whoever points there wants to see what is below. */
  const reach = useRef(0);
  const named = !under || under.x > reach.current;
  const redraw = () => void (reach.current = draw(canvas.current!, value, s, over, named));
  useEffect(redraw, [value, s.window, s.chosen, s.sites, over, named]);
  useRedraw(canvas, redraw);

  const point = (event: MouseEvent) => {
    const { x, y, time } = pointAt(canvas.current!, event, s);
    const link = value?.links[Math.floor((y / canvas.current!.clientHeight) * value.links.length)];
    setUnder(link && time !== null ? { x, y, time, link } : null);
    setOver(link?.name ?? null);
    model.point(time);
  };
  const leave = () => {
    setUnder(null);
    setOver(null);
    model.point(null);
  };
  const choose = () => {
    const stretch = under && stretchAt(under.link, under.time);
    if (value && under && stretch !== null) model.chooseSite(callOf(model, value, under.link.stretch_calls[stretch])?.site);
  };
  return (
    <div class="strip" data-testid="links-strip" data-busy={busy} data-rows={value?.links.length ?? 0}>
      <div class="strip-head">
        <span class="strip-axis soft" title="mean load over the range, as a share of the bandwidth">
          load
        </span>
        <strong>Link load</strong>
        {value && (
          <span>
            the {count(value.links.length)} busiest of {count(value.of)}
          </span>
        )}
        <span class="grow" />
        <Scale none="no traffic" most="100 % of bandwidth" />
      </div>
      {error !== null && !value && <Trouble error={error} />}
      <div class="strip-rows">
        <canvas
          ref={canvas}
          class="links-plot strip-canvas"
          style={{ height: `${plotHeight(value)}px` }}
          aria-label="load of the busiest links along time, as shares of their bandwidth"
          onMouseMove={point}
          onMouseLeave={leave}
          onWheel={(event) => onWheel(canvas.current!, event, moves)}
          onClick={choose}
        />
        <Cursor model={model} testid="links-cursor" />
        {under && value && <Tooltip model={model} value={value} under={under} wide={canvas.current!.clientWidth} high={canvas.current!.clientHeight} />}
      </div>
    </div>
  );
}

/** Rows as high as the window lets them be, but a few links do not become bands. */
const plotHeight = (value: BusyLinks | null): number => Math.min((value?.links.length || 20) * 18, Math.max(180, Math.min(480, innerHeight * 0.36)));

function Tooltip({ model, value, under, wide, high }: { model: Model; value: BusyLinks; under: Under; wide: number; high: number }) {
  const { link, x, y } = under;
  const i = stretchAt(link, under.time);
  const call = i === null ? null : callOf(model, value, link.stretch_calls[i]);
  const style = { left: `${Math.min(x + 14, wide - 268)}px`, bottom: `${high - y + 12}px` };
  return (
    <div class="tooltip" style={style} data-testid="links-tooltip">
      <div class="tooltip-head">
        <strong>{link.name.slice(0, 200)}</strong>
      </div>
      {i === null ? (
        <p class="hint">no traffic here</p>
      ) : (
        <>
          <Row name="load" value={percent(link.shares[i]!)} />
          <Row name="throughput" value={`${bytes(link.bytes_per_s[i]!)}/s of ${bytes(link.capacity_bytes_per_s)}/s`} />
          <Row name="start" value={`${moment(link.starts[i]!, 1000)} for ${duration(link.ends[i]! - link.starts[i]!)}`} />
          {call && <Row name="main call" value={`${call.name} ${call.place}`} />}
          {call && <Row name="its share" value={`${percent(link.stretch_call_parts[i]!)} of the traffic`} />}
        </>
      )}
    </div>
  );
}
