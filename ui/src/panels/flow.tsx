// From a call back to what it waited for, step by step to the cause, and on to who waited for it.
import { useEffect } from 'preact/hooks';
import { api, type FlowStep } from '../api';
import { duration, moment } from '../format';
import { useAnswer, useSelection, type Model } from '../model';
import { Empty, Outline, Trouble } from '../states';
import { CATEGORY } from '../theme';
import { Swatch } from '../timeline/view';
import { Scope } from './scope';

export function FlowPanel({ model, reveal }: { model: Model; reveal: (rank: number) => void }) {
  const s = useSelection(model);
  const { value, error, busy, progress } = useAnswer(s.event ? `${s.layer}/${s.event}` : null, (signal) => api.flow({ layer: s.layer, event: s.event }, signal));
  useEffect(() => {
    if (value) model.mark({ flow: [value.event, ...value.chain] });
    return () => model.mark({ flow: [] });
  }, [value]);
  if (!s.event) {
    return (
      <section class="panel" data-testid="flow">
        <Scope model={model} time={false} />
        <Empty title="No call selected.">Zoom in until single calls are visible, then click one. This panel shows what the call waited for, back to the cause, and which calls waited for it.</Empty>
      </section>
    );
  }
  const look = (step: FlowStep) => {
    model.show(step.start_ns, step.end_ns, { chosen: s.chosen });
    reveal(step.rank);
  };
  const whole = () => {
    if (!value) return;
    const all = [value.event, ...value.chain];
    model.show(Math.min(...all.map((step) => step.start_ns)), Math.max(...all.map((step) => step.end_ns)), { chosen: s.chosen });
    reveal(value.event.rank);
  };
  return (
    <section class="panel" data-testid="flow" data-busy={busy}>
      <Scope model={model} time={false} />
      {error !== null && <Trouble error={error} />}
      {!value && error === null && <Outline what="Following the wait state…" lines={4} progress={progress} />}
      {value && error === null && (
        <>
          <h2>This call</h2>
          <Step model={model} step={value.event} look={look} />
          <div class="flow-head">
            <h2>{value.chain.length ? 'Waited for' : 'No wait state in this call'}</h2>
            {value.chain.length > 0 && (
              <button class="link" onClick={whole}>
                show the whole chain
              </button>
            )}
          </div>
          <ol class="chain">
            {value.chain.map((step, i) => (
              <li key={i} data-testid="flow-step">
                <Step model={model} step={step} look={look} waitedFor cause={i === value.chain.length - 1} />
              </li>
            ))}
          </ol>
          <h2>{value.waiters.length ? 'Calls that waited for this call' : 'No call waited for this call'}</h2>
          {value.waiters.slice(0, 100).map((step, i) => (
            <Step key={i} model={model} step={step} look={look} walk />
          ))}
        </>
      )}
    </section>
  );
}

function Step({ model, step, look, waitedFor = false, cause = false, walk = false }: { model: Model; step: FlowStep; look: (step: FlowStep) => void; waitedFor?: boolean; cause?: boolean; walk?: boolean }) {
  const op = model.run.functions.indexOf(step.name);
  const category = step.kind === 'call' ? (op >= 0 ? model.categoryOfOp[op]! : CATEGORY.other) : CATEGORY.compute;
  const place = model.siteName(step.site);
  return (
    <div class={cause ? 'step cause' : 'step'}>
      <button class="step-look" onClick={() => look(step)} title="show it on the timeline">
        <span class="step-title">
          <Swatch category={category} /> <strong>{step.name.slice(0, 200)}</strong>
          {cause && <span class="badge badge-cause">cause</span>}
        </span>
        <span class="soft">
          rank {step.rank}
          {place && `, ${place}`}, at {moment(step.start_ns, 1e5)}, {duration(step.end_ns - step.start_ns)}
          {step.wait_ns > 0 && (waitedFor ? `; delayed others by ${duration(step.wait_ns)}` : `, of which waiting ${duration(step.wait_ns)}`)}
        </span>
        {step.why && <span class="why">{step.why.slice(0, 400)}</span>}
      </button>
      {(walk || step.kind === 'call') && model.store.get().event !== `${step.rank}:${step.start_ns}` && (
        <button class="link" onClick={() => model.store.set({ event: `${step.rank}:${step.start_ns}` })}>
          follow from here
        </button>
      )}
    </div>
  );
}
