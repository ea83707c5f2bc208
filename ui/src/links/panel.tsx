// The busiest links in figures: how much of their bandwidth is used, and for which calls. Choosing one chooses its call.
import type { BusyLink, BusyLinks } from '../api';
import { count, duration, moment, percent, plural } from '../format';
import { useSelection, type Answer, type Model } from '../model';
import { Scope } from '../panels/scope';
import { Empty, Outline, Trouble } from '../states';
import { callOf } from './answer';

interface Props {
  model: Model;
  answer: Answer<BusyLinks>;
  /** The link that is pointed at, here or below the timeline. */
  over: string | null;
  setOver: (link: string | null) => void;
}

export function LinksPanel({ model, answer: { value, error, busy, progress }, over, setOver }: Props) {
  const s = useSelection(model);
  const has = model.layer(s.layer).links;
  return (
    <section class="panel" data-testid="links" data-busy={busy}>
      <Scope model={model} ranks={false} />
      {!has && <Empty title="No link data in this layer.">Select a layer that kizami simgrid has written.</Empty>}
      {has && error !== null && <Trouble error={error} />}
      {has && !value && error === null && <Outline what="Loading link traffic…" lines={8} progress={progress} />}
      {has && value && value.links.length === 0 && <Empty title="No link carries traffic here.">Select another range, or zoom out.</Empty>}
      {has && value && value.links.length > 0 && (
        <>
          <p class="figures">
            <strong>{plural(value.of, 'link')}</strong> {value.of === 1 ? 'carries' : 'carry'} traffic{value.of > value.links.length && `; the table lists the ${count(value.links.length)} busiest`}.
          </p>
          <table class="grid" aria-label="the busiest links" onMouseLeave={() => setOver(null)}>
            <thead>
              <tr>
                <th>link, and the call with most of its traffic</th>
                <th class="right">mean</th>
                <th class="right">peak</th>
              </tr>
            </thead>
            {value.links.map((link) => (
              <Link key={link.name} model={model} value={value} link={link} over={over === link.name} setOver={setOver} />
            ))}
          </table>
          <p class="hint">
            Load as a share of the link's bandwidth: mean over the range, and peak interval. Click a row to select the calls of its call site in all views; click a peak to show it.
          </p>
        </>
      )}
    </section>
  );
}

function Link({ model, value, link, over, setOver }: { model: Model; value: BusyLinks; link: BusyLink; over: boolean; setOver: (link: string | null) => void }) {
  const s = useSelection(model);
  const call = callOf(model, value, link.call);
  const site = call?.site ?? null;
  const chosen = site !== null && s.sites.includes(site);
  const length = link.peak_to - link.peak_from;
  return (
    <tbody
      class={`link-rows ${chosen ? 'chosen' : ''} ${over ? 'over-link' : ''} ${site === null ? 'still' : ''}`}
      data-testid="link-row"
      data-link={link.name.slice(0, 400)}
      data-mean={link.mean}
      data-peak={link.peak}
      data-peak-at={link.peak_from}
      data-site={site ?? ''}
      onMouseEnter={() => setOver(link.name)}
      onClick={() => model.chooseSite(site)}
    >
      <tr>
        <td class="where node-callsite" title={link.name.slice(0, 400)}>
          {link.name.slice(0, 200)}
        </td>
        <td class="right share">
          <span class="share-bar" style={{ width: `${Math.min(100, link.mean * 100)}%` }} />
          <span>{percent(link.mean)}</span>
        </td>
        <td class="right">
          <button
            class="link"
            title={`from ${moment(link.peak_from, length / 10)} for ${duration(length)}`}
            onClick={(event) => {
              event.stopPropagation();
              model.locate(link.peak_from, link.peak_to);
            }}
          >
            {percent(link.peak)}
          </button>
        </td>
      </tr>
      <tr>
        <td colSpan={3} class="link-call soft" data-testid="link-call">
          {call ? (
            <>
              {call.name} <strong>{call.place}</strong> {percent(link.call_part)}
            </>
          ) : (
            'call unknown'
          )}
        </td>
      </tr>
    </tbody>
  );
}
