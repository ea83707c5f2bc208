// The busiest links of what is shown or chosen: asked once for the strip below the timeline and the panel beside it.
import { api, type BusyLink, type BusyLinks } from '../api';
import { useAnswer, useSettledSelection, type Answer, type Model } from '../model';
import { scope } from '../selection';

/** Links that are drawn. */
const ROWS = 20;
/** On both sides of the window as much as half of it is asked for, so that there is something when it moves. */
const COLUMNS = 2000;

/** Nothing is asked unless they are `shown`, and the layer has any. */
export function useBusyLinks(model: Model, shown: boolean): Answer<BusyLinks> {
  const settled = useSettledSelection(model, 120);
  const { layer, window } = settled;
  const half = (window.to - window.from) / 2;
  const { from, to } = scope(settled);
  const asked = {
    layer,
    from: Math.max(0, Math.floor(window.from - half)),
    to: Math.ceil(Math.max(0, window.to + half)),
    mark_from: Math.max(0, Math.floor(from)),
    mark_to: Math.ceil(Math.max(0, to)),
    columns: COLUMNS,
    limit: ROWS,
  };
  return useAnswer(shown && model.layer(layer).links ? JSON.stringify(asked) : null, (signal) => api.links(asked, signal));
}

/** A call in words, and its place. */
export function callOf(model: Model, value: BusyLinks, number: number | null | undefined): { name: string; place: string; site: number | null } | null {
  const call = number === null || number === undefined ? undefined : value.calls[number];
  return call ? { name: model.opName(call.op), place: model.siteName(call.site), site: call.site } : null;
}

/** The stretch of a link at a moment, by its number; null where it carried nothing. */
export function stretchAt(link: BusyLink, ns: number): number | null {
  let low = 0;
  let high = link.starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (link.ends[middle]! <= ns) low = middle + 1;
    else high = middle;
  }
  return low < link.starts.length && link.starts[low]! <= ns ? low : null;
}
