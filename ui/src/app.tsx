// The page: a bar, the timeline with what belongs to its time axis, and one panel beside it; or the windows of tasks.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type Run } from './api';
import { Divider } from './divider';
import { baseName, count, duration, plural } from './format';
import { Help } from './help';
import { KindBadge } from './kind';
import { useBusyLinks } from './links/answer';
import { LinksPanel } from './links/panel';
import { LinksStrip } from './links/strip';
import { useAnswer, useSelection, type Model } from './model';
import { ComparePanel } from './panels/compare';
import { DifferenceStrip } from './panels/difference';
import { FlowPanel } from './panels/flow';
import { HistogramPanel } from './panels/histogram';
import { MatrixPanel } from './panels/matrix';
import { ParallelismStrip } from './panels/parallelism';
import { ScalingPanel } from './panels/scaling';
import { TreePanel } from './panels/tree';
import { VerdictPanel } from './panels/verdict';
import { Search } from './search';
import { PAGES, panelsOf, type Panel } from './selection';
import { Trouble } from './states';
import { TasksPage } from './tasks/page';
import { ThreadsStrip } from './threads/strip';
import { toggleTheme } from './theme';
import type { TimelineController } from './timeline/controller';
import { Overview } from './timeline/overview';
import { Legend, Timeline } from './timeline/view';

const TITLES: Record<Panel, string> = { verdict: 'Verdict', tree: 'Tree', histogram: 'Histogram', matrix: 'Matrix', flow: 'Flow', compare: 'Compare', scaling: 'Scaling', links: 'Links' };

export function App({ model }: { model: Model }) {
  return model.onTasks(useSelection(model)) ? <OfTasks model={model} /> : <OfCalls model={model} />;
}

function OfTasks({ model }: { model: Model }) {
  const [help, setHelp] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || (event.target as HTMLElement).matches('input[type=number], select')) return;
      if (event.key === '?') setHelp((on) => !on);
      else if (event.key === 'Escape' && help) setHelp(false);
      else if (event.key.toLowerCase() === 't') toggleTheme();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [help]);
  return (
    <div class="page">
      <Bar model={model} help={() => setHelp(true)} />
      <TasksPage model={model} />
      {help && <Help close={() => setHelp(false)} tasks />}
    </div>
  );
}

function OfCalls({ model }: { model: Model }) {
  const s = useSelection(model);
  const controller = useRef<TimelineController | null>(null);
  const [dialog, setDialog] = useState<'help' | 'search' | null>(null);
  const [strip, setStrip] = useState(true);
  const [pathOn, setPathOn] = useState(false);
  const [threadsOn, setThreadsOn] = useState(true);
  /** The layer that is compared with. */
  const other = s.panel === 'compare' && s.other !== s.layer ? s.other : null;
  const panels = panelsOf(model.run.layers);
  const panel = panels.includes(s.panel) ? s.panel : 'verdict';
  const linksShown = panel === 'links';
  const links = useBusyLinks(model, linksShown);
  const [link, setLink] = useState<string | null>(null);
  const moves = { zoom: (factor: number, x: number) => controller.current?.zoom(factor, x), pan: (share: number) => controller.current?.pan(share) };
  const reveal = (rank: number) => controller.current?.reveal(rank);

  // The overlay is offered only where the server knows the path.
  const path = useAnswer(`${s.layer}`, (signal) => api.path({ layer: s.layer, from: 0, to: model.layer(s.layer).span_ns, limit: 20000 }, signal));
  useEffect(() => model.mark({ path: pathOn && path.value ? path.value.segments : [] }), [pathOn, path.value]);

  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target as HTMLElement;
      if (target.matches('input[type=text], input[type=number], textarea')) return;
      if (target.matches('select') && event.key.startsWith('Arrow')) return;
      if (event.key === 'Escape' && dialog) setDialog(null);
      else if (!handle(event.key)) return;
      event.preventDefault();
    };
    const handle = (key: string): boolean => {
      const c = controller.current;
      const number = Number(key);
      if (number >= 1 && number <= panels.length) {
        model.store.set({ panel: panels[number - 1]! });
        return true;
      }
      const actions: Record<string, () => void> = {
        w: () => c?.zoom(1 / 1.5),
        s: () => c?.zoom(1.5),
        '+': () => c?.zoom(1 / 1.5),
        '=': () => c?.zoom(1 / 1.5),
        '-': () => c?.zoom(1.5),
        a: () => c?.pan(-0.15),
        d: () => c?.pan(0.15),
        arrowleft: () => c?.pan(-0.15),
        arrowright: () => c?.pan(0.15),
        arrowup: () => c?.scrollBy(-0.125),
        arrowdown: () => c?.scrollBy(0.125),
        pageup: () => c?.scrollBy(-0.9),
        pagedown: () => c?.scrollBy(0.9),
        '[': () => c?.zoomRows(1 / 1.5),
        ']': () => c?.zoomRows(1.5),
        '0': () => c?.fit(),
        home: () => c?.fitProgram(),
        z: () => c?.zoomToChosen(),
        escape: () => model.store.set({ chosen: null, ranks: [], sites: [], event: null }),
        p: () => setStrip((on) => !on),
        t: toggleTheme,
        '/': () => setDialog('search'),
        '?': () => setDialog((now) => (now === 'help' ? null : 'help')),
      };
      const action = actions[key.toLowerCase()];
      action?.();
      return action !== undefined;
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [model, dialog]);

  return (
    <div class="page">
      <Bar model={model} help={() => setDialog('help')}>
        {model.layer(s.layer).work && (
          <button onClick={() => controller.current?.fitProgram()} title="from MPI_Init to MPI_Finalize (Home)">
            program
          </button>
        )}
        <button onClick={() => controller.current?.fit()} title="including MPI_Init and MPI_Finalize (0)">
          whole run
        </button>
        <button onClick={() => setDialog('search')} title="/">
          search <kbd>/</kbd>
        </button>
      </Bar>
      <main>
        <div class="stage">
          <Overview model={model} />
          <Timeline model={model} layerOf={(now) => now.layer} control={(c) => (controller.current = c)} />
          {other !== null && (
            <>
              <Timeline key={`other-${other}`} model={model} layerOf={(now) => now.other ?? now.layer} compared title={model.layer(other).name.slice(0, 80)} />
              <DifferenceStrip model={model} other={other} />
            </>
          )}
          <Legend
            model={model}
            threadsOn={model.layer(s.layer).parallel ? threadsOn : null}
            toggleThreads={() => setThreadsOn(!threadsOn)}
            pathOn={path.value ? pathOn : null}
            togglePath={() => setPathOn(!pathOn)}
          />
          {threadsOn && model.layer(s.layer).parallel && <ThreadsStrip model={model} inView={() => controller.current?.inView(4) ?? []} moves={moves} />}
          {linksShown && model.layer(s.layer).links && (
            <LinksStrip model={model} answer={links} over={link} setOver={setLink} moves={moves} />
          )}
          {strip && <ParallelismStrip model={model} zoomToChosen={() => controller.current?.zoomToChosen()} />}
        </div>
        <Divider />
        <aside>
          <nav role="tablist">
            {panels.map((each, i) => (
              <button key={each} role="tab" aria-selected={panel === each} onClick={() => model.store.set({ panel: each })} title={`key ${i + 1}`}>
                {TITLES[each]}
              </button>
            ))}
          </nav>
          {panel === 'verdict' && <VerdictPanel model={model} reveal={reveal} />}
          {panel === 'tree' && <TreePanel model={model} />}
          {panel === 'histogram' && <HistogramPanel model={model} reveal={reveal} />}
          {panel === 'matrix' && <MatrixPanel model={model} />}
          {panel === 'flow' && <FlowPanel model={model} reveal={reveal} />}
          {panel === 'compare' && <ComparePanel model={model} />}
          {panel === 'scaling' && <ScalingPanel model={model} />}
          {panel === 'links' && <LinksPanel model={model} answer={links} over={link} setOver={setLink} />}
        </aside>
      </main>
      {dialog === 'help' && <Help close={() => setDialog(null)} />}
      {dialog === 'search' && <Search model={model} reveal={reveal} close={() => setDialog(null)} />}
    </div>
  );
}

function Bar({ model, help, children }: { model: Model; help: () => void; children?: ComponentChildren }) {
  const s = useSelection(model);
  const { run } = model;
  const layer = model.layer(s.layer);
  return (
    <header>
      <span class="logo">Kizami</span>
      {run.layers.length > 1 ? (
        <select
          class="layer"
          data-testid="layer"
          aria-label="layer"
          value={`${s.layer}`}
          onChange={(event) => model.switchLayer(Number(event.currentTarget.value))}
        >
          {run.layers.map((each, i) => (
            <option value={`${i}`} key={i}>
              {each.name.slice(0, 80)}
            </option>
          ))}
        </select>
      ) : (
        <strong class="name" title={layer.path_shown.slice(0, 400)}>
          {baseName(layer.name).slice(0, 80)}
        </strong>
      )}
      <KindBadge kind={layer.kind} />
      <span class="soft facts" title={layer.note?.slice(0, 400)}>
        {layer.only_tasks ? layer.note : `${plural(layer.ranks, 'rank')}, ${plural(layer.events, 'call')}, ${duration(layer.span_ns)}`}
        {run.hosts.length > 1 && `, ${count(run.hosts.length)} hosts`}
        {layer.kinds !== null && `, ${plural(layer.kinds, 'rank class', 'rank classes')}`}
      </span>
      <Health run={run} />
      {layer.tasks && !layer.only_tasks && (
        <div class="segments" role="radiogroup" aria-label="page">
          {PAGES.map((page) => (
            <button key={page} role="radio" aria-checked={s.page === page} onClick={() => model.store.set({ page })}>
              {page}
            </button>
          ))}
        </div>
      )}
      <span class="grow" />
      {children}
      <button onClick={toggleTheme} title="T" aria-label="light or dark theme">
        ◐
      </button>
      <button onClick={help} title="?" aria-label="help">
        ?
      </button>
    </header>
  );
}

function Health({ run }: { run: Run }) {
  if (run.health.complete && run.health.problems.length === 0) return null;
  const problems = run.health.problems.length ? run.health.problems.slice(0, 12).join('\n').slice(0, 2000) : 'The recording is incomplete.';
  return (
    <span class="badge badge-warning" title={problems} data-testid="health">
      incomplete{run.health.problems.length ? `: ${run.health.problems[0]!.slice(0, 60)}` : ''}
    </span>
  );
}

/** Before there is a model: the index is being made, or something is wrong. */
export function Starting({ run, error }: { run: Run | null; error: unknown }) {
  return (
    <div class="starting">
      <div class="starting-box">
        <span class="logo">Kizami</span>
        {error !== null ? (
          <Trouble error={error} />
        ) : run ? (
          <>
            <p>
              Building the index of <strong>{run.layers[0]?.name.slice(0, 80) ?? 'the run'}</strong>. It is stored for the next start.
            </p>
            <progress max={1} value={run.index.progress} aria-label="index" />
            <p class="soft">
              {Math.round(run.index.progress * 100)} % of {plural(run.layers[0]?.events ?? 0, 'call')} of {plural(run.layers[0]?.ranks ?? 0, 'rank')}
            </p>
          </>
        ) : (
          <p class="soft">Loading the run.</p>
        )}
      </div>
    </div>
  );
}
