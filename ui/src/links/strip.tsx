// The busiest links under the timeline and on its time axis, for a run on a simulated network.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { BusyLink, BusyLinks } from '../api';
import { bytes, count, duration, moment, percent } from '../format';
import { useSelection, type Answer, type Model } from '../model';
import { Scale } from '../ramp';
import { useRedraw } from '../redraw';
import { Trouble } from '../states';
import { GUTTER } from '../timeline/axes';
import { callOf, chooseSite, stretchAt } from './answer';
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
  zoom: (factor: number, x: number) => void;
  pan: (share: number) => void;
}

export function LinksStrip({ model, answer: { value, error, busy }, over, setOver, zoom, pan }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const s = useSelection(model);
  const [under, setUnder] = useState<Under | null>(null);
  /** Names reach so far to the right; whoever points there wants to see what is below. */
  const reach = useRef(0);
  const named = !under || under.x > reach.current;
  const redraw = () => void (reach.current = draw(canvas.current!, value, s, over, named));
  useEffect(redraw, [value, s.window, s.chosen, s.sites, over, named]);
  useRedraw(canvas, redraw);

  const room = () => canvas.current!.clientWidth - GUTTER;
  const point = (event: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const link = value?.links[Math.floor((y / box.height) * value.links.length)];
    const time = s.window.from + ((x - GUTTER) / room()) * (s.window.to - s.window.from);
    const inside = x >= GUTTER;
    setUnder(link && inside ? { x, y, time, link } : null);
    setOver(link?.name ?? null);
    model.point(inside ? time : null);
  };
  const leave = () => {
    setUnder(null);
    setOver(null);
    model.point(null);
  };
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const x = event.clientX - canvas.current!.getBoundingClientRect().left - GUTTER;
    const sideways = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((sideways / room()) * 0.8);
    else zoom(Math.exp(event.deltaY * 0.0018), Math.max(0, x));
  };
  const choose = () => {
    const stretch = under && stretchAt(under.link, under.time);
    if (value && under && stretch !== null) chooseSite(model, callOf(model, value, under.link.stretch_calls[stretch])?.site ?? null);
  };
  return (
    <div class="links" data-testid="links-strip" data-busy={busy} data-rows={value?.links.length ?? 0}>
      <div class="strip-head">
        <span class="links-axis soft" title="mean load over the range, as a share of the bandwidth">
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
      <div class="links-rows">
        <canvas
          ref={canvas}
          class="links-plot"
          style={{ height: `${plotHeight(value)}px` }}
          aria-label="load of the busiest links along time, as shares of their bandwidth"
          onMouseMove={point}
          onMouseLeave={leave}
          onWheel={wheel}
          onClick={choose}
        />
        <Cursor model={model} />
        {under && value && <Tooltip model={model} value={value} under={under} wide={room() + GUTTER} high={canvas.current!.clientHeight} />}
      </div>
    </div>
  );
}

/** Rows as high as the window lets them be, but a few links do not become bands. */
const plotHeight = (value: BusyLinks | null): number => Math.min((value?.links.length || 20) * 18, Math.max(180, Math.min(480, innerHeight * 0.36)));

/** Where the pointer is in time, here or on the timeline. Moved by itself, so that nothing is drawn anew. */
function Cursor({ model }: { model: Model }) {
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const move = () => {
      const { window } = model.store.get();
      const share = model.pointed === null ? -1 : (model.pointed - window.from) / (window.to - window.from);
      const { style } = line.current!;
      style.display = share >= 0 && share <= 1 ? 'block' : 'none';
      style.left = `calc(${GUTTER}px + (100% - ${GUTTER}px) * ${share})`;
    };
    move();
    const stops = [model.onPoint(move), model.store.subscribe(move)];
    return () => stops.forEach((stop) => stop());
  }, [model]);
  return <div class="links-cursor" data-testid="links-cursor" ref={line} />;
}

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

const Row = ({ name, value }: { name: string; value: string }) => (
  <div class="tooltip-row">
    <span class="soft">{name}</span>
    <span>{value}</span>
  </div>
);
