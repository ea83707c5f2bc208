// The line at the top of a panel: which part of the run its figures are about, and whether they were recorded.
import { KindBadge } from '../kind';
import { duration, moment, plural } from '../format';
import { useSelection, type Model } from '../model';
import { firstOf, isSame, scope, showRanks } from '../selection';

export function Scope({ model, time = true, ranks = true }: { model: Model; time?: boolean; ranks?: boolean }) {
  const s = useSelection(model);
  const layer = model.layer(s.layer);
  const { from, to } = scope(s);
  const known = from <= 0 && to >= layer.span_ns ? 'whole run' : isSame({ from, to }, firstOf(layer)) ? 'MPI_Init to MPI_Finalize' : null;
  const step = Math.max(1, (to - from) / 100);
  return (
    <div class="scope" data-testid="scope">
      <KindBadge kind={layer.kind} />
      {time && (
        <span title={s.chosen ? 'The selected range' : 'The visible range; drag on the ruler to select a range'}>
          {known && !s.chosen ? known : `${moment(Math.max(0, from), step)} + ${duration(to - Math.max(0, from))}`}
        </span>
      )}
      {time && ranks && <span>{s.ranks.length ? `ranks ${showRanks(s.ranks).slice(0, 24)}` : 'all ranks'}</span>}
      {time && s.sites.length > 0 && <span>{plural(s.sites.length, 'call site')}</span>}
      {(s.chosen || s.ranks.length > 0 || s.sites.length > 0) && (
        <button class="link" onClick={() => model.store.set({ chosen: null, ranks: [], sites: [] })} title="Esc">
          clear
        </button>
      )}
    </div>
  );
}
