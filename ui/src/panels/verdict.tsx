// What is wrong with the run: efficiencies as a tree of factors, findings as cards. A card leads to a typical instance.
import { api, type Finding, type Place, type Verdict } from '../api';
import { count, duration, percent, plural, signedPercent } from '../format';
import { useAnswer, useSelection, type Model } from '../model';
import { Middle } from '../middle';
import { rankRanges, showRanks } from '../selection';
import { Empty, Outline, Trouble } from '../states';
import { Scope } from './scope';

export function VerdictPanel({ model, reveal }: { model: Model; reveal: (rank: number) => void }) {
  const s = useSelection(model);
  const { value, error, progress } = useAnswer<Verdict>(`${s.layer}`, (signal) => api.verdict({ layer: s.layer }, signal));
  return (
    <section class="panel" data-testid="verdict">
      <Scope model={model} time={false} />
      {error !== null && <Trouble error={error} />}
      {!value && error === null && <Outline what="Analysing wait states…" lines={6} progress={progress} />}
      {value && (
        <>
          {value.warnings.map((text) => (
            <div class="notice" key={text}>
              {text}
            </div>
          ))}
          <Efficiencies verdict={value} />
          <Findings verdict={value} model={model} reveal={reveal} />
          <Unknown verdict={value} />
        </>
      )}
    </section>
  );
}

function Efficiencies({ verdict }: { verdict: Verdict }) {
  const e = verdict.efficiency;
  return (
    <div class="tree-factors">
      <div class="headline">
        <span class="big">{percent(e.parallel)}</span>
        <span>
          parallel efficiency
          <span class="soft block">
            {duration(verdict.run_ns)} on {plural(verdict.ranks, 'rank')}
          </span>
        </span>
      </div>
      {e.cores !== undefined && e.own_cores_ns !== undefined && (
        <Factor name="core availability" value={e.cores} says={`run with own cores ${duration(e.own_cores_ns)} (predicted) / run ${duration(verdict.run_ns)}`} />
      )}
      <Factor name="load balance" value={e.load_balance} says={`average computation ${duration(e.average_computation_ns)} / longest computation ${duration(e.longest_computation_ns)}`} />
      <Factor name="serialisation" value={e.serialisation} says={`longest computation / run on an ideal network ${duration(e.ideal_ns)} (predicted)`} />
      <Factor name="transfer" value={e.transfer} says={`run on an ideal network ${duration(e.ideal_ns)} (predicted) / run ${e.own_cores_ns === undefined ? '' : 'with own cores '}${duration(e.own_cores_ns ?? verdict.run_ns)}`} last />
    </div>
  );
}
function Factor({ name, value, says, last = false }: { name: string; value: number; says: string; last?: boolean }) {
  return (
    <div class={last ? 'factor last' : 'factor'} title={says}>
      <span class="factor-name">{name}</span>
      <meter class="bar" min={0} max={1} value={Math.max(0, Math.min(1, value))} aria-label={name} />
      <span class={value < 0.7 ? 'number low' : 'number'}>{percent(value)}</span>
      <span class="soft factor-says">{says}</span>
    </div>
  );
}

/** Largest consumers that are listed. */
const CONSUMERS = 5;

/** Each as a card; without any, what there is to say instead. */
function Findings({ verdict, model, reveal }: { verdict: Verdict; model: Model; reveal: (rank: number) => void }) {
  const { findings } = verdict;
  return (
    <>
      {findings.length > 0 && <h2>Findings</h2>}
      {findings.length === 0 && <Empty title="No findings.">{verdict.nothing_found}</Empty>}
      {findings.length === 0 && <Consumers verdict={verdict} />}
      {findings.map((finding, i) => (
        <Card key={i} index={i} finding={finding} model={model} reveal={reveal} />
      ))}
      {verdict.thread_losses.length > 0 && (
        <>
          <h2>Threads</h2>
          <ul class="losses" data-testid="thread-losses">
            {verdict.thread_losses.map((loss) => (
              <li key={loss}>{loss}</li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** Where time goes, where no finding says so: the places with the most computation before a call, or in calls. */
function Consumers({ verdict }: { verdict: Verdict }) {
  const parts = [
    ...verdict.computation.map((part) => ({ ...part, what: `computation before ${part.function}` })),
    ...verdict.places.map((part) => ({ ...part, what: part.function })),
  ];
  const largest = parts.sort((a, b) => b.ns - a.ns).slice(0, CONSUMERS);
  if (largest.length === 0) return null;
  return (
    <table class="grid" data-testid="consumers">
      <thead>
        <tr>
          <th>largest consumers</th>
          <th class="right">time</th>
          <th class="right">share</th>
        </tr>
      </thead>
      <tbody>
        {largest.map((part, i) => (
          <tr key={i} class="still">
            <td class="where">
              <Middle text={part.what} />
              {part.place && <Middle text={placeText(part.place)} soft />}
            </td>
            <td class="right">{duration(part.ns)}</td>
            <td class="right">{percent(part.share)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
const placeText = ({ file, line, function: name }: Place): string => (file !== null && line !== null ? `${name} ${file}:${line}` : name);

/** What is to blame in a few words: who, and what they did where. */
function headline({ cause, ranks, place, function: name }: Finding): string {
  const named = showRanks(rankRanges(ranks)).replaceAll(',', ', ');
  const who = ranks.length === 0 ? 'Many ranks' : `${ranks.length === 1 ? 'Rank' : 'Ranks'} ${named}`;
  const known = place.file !== null && place.line !== null;
  if (cause === 'start') return `${who}: late start`;
  if (cause === 'call') return `${who}: ${name}${known ? ` at ${place.file}:${place.line}` : ''}`;
  return `${who}: computation before ${known ? `${place.file}:${place.line}` : name}`;
}

function Card({ index, finding, model, reveal }: { index: number; finding: Finding; model: Model; reveal: (rank: number) => void }) {
  const { from, to, rank } = finding;
  const waiter = finding.waiting_rank ?? rank;
  const place = model.siteName(finding.waiting_callsite ?? finding.callsite);
  const places = typeof from === 'number' && typeof to === 'number';
  const show = () => {
    if (!places) return;
    const ranks = [rank, waiter].filter((each) => typeof each === 'number');
    model.show(from, to, { ranks: rankRanges(ranks.length ? ranks : finding.ranks), sites: [] });
    if (typeof waiter === 'number') reveal(waiter);
  };
  return (
    <button class="card" onClick={show} disabled={!places} data-testid="finding">
      <span class="card-number">{index + 1}</span>
      <strong class="card-head">{headline(finding).slice(0, 120)}</strong>
      <span class="card-text">{finding.sentence}</span>
      {finding.call_path !== undefined && <span class="card-path">{finding.call_path}</span>}
      <span class="card-figures">
        {finding.expected ? (
          <span class="gain" title="Predicted by replaying the run with the cause fixed">
            <strong>{signedPercent(-finding.expected.share)}</strong> ± {percent(finding.expected.share_error)} <span class="soft">run time, predicted</span>
          </span>
        ) : (
          <span class="soft">gain not predicted</span>
        )}
        <span class="soft">{finding.cost}</span>
      </span>
      {places && (
        <span class="card-go">
          show a typical {typeof finding.waiting_rank === 'number' ? 'wait' : 'call'}{typeof waiter === 'number' ? `: rank ${count(waiter)}` : ''}
          {place && ` at ${place}`}, {duration(to - from)}
        </span>
      )}
    </button>
  );
}

function Unknown({ verdict }: { verdict: Verdict }) {
  const u = verdict.not_understood;
  if (!u || (u.not_followed === 0 && u.unmatched === 0 && u.problems.length === 0)) return null;
  return (
    <div class="notice">
      <strong>The analysis is incomplete.</strong> {u.not_followed > 0 && `${plural(u.not_followed, 'call')} could not be analysed. `}
      {u.unmatched > 0 && `${plural(u.unmatched, 'call')} or message${u.unmatched === 1 ? '' : 's'} without a partner in the trace. `}
      {u.problems.slice(0, 5).join('; ')}
    </div>
  );
}
