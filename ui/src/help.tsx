// What keys and mouse do.
const KEYS: [string, string][] = [
  ['W S  + −', 'zoom in, out'],
  ['A D  ← →', 'move in time'],
  ['↑ ↓', 'scroll ranks'],
  ['[ ]', 'decrease, increase row height'],
  ['Home', 'show MPI_Init to MPI_Finalize'],
  ['0', 'show the whole run'],
  ['Z', 'zoom to the selection'],
  ['Esc', 'clear the selection'],
  ['1 2 3 …', 'switch the panel on the right'],
  ['P', 'show or hide "Ranks computing"'],
  ['/', 'search for a rank, function, call site or time'],
  ['T', 'light or dark theme'],
  ['?', 'this help'],
];
const MOUSE: [string, string][] = [
  ['wheel', 'zoom at the pointer'],
  ['shift + wheel', 'move in time'],
  ['ctrl + wheel', 'change the row height'],
  ['wheel over rank numbers', 'scroll ranks'],
  ['drag', 'move'],
  ['drag on the ruler, shift + drag', 'select a time range'],
  ['drag over rank numbers', 'select ranks'],
  ['click a call', 'show what it waited for, and why'],
  ['double click', 'zoom in'],
];

const TASK_KEYS: [string, string][] = [
  ['W S  + −', 'zoom in, out'],
  ['A D  ← →', 'move in time'],
  ['0  Home', 'show the whole run'],
  ['Z', 'zoom to the markers'],
  ['L', 'align: all sub-trees start at 0'],
  ['Esc', 'clear markers and sub-trees'],
  ['← →  Enter', 'in Flow: previous, next task; select it'],
  ['T', 'light or dark theme'],
  ['?', 'this help'],
];
const TASK_MOUSE: [string, string][] = [
  ['wheel on the curves', 'zoom at the pointer'],
  ['drag on the curves', 'set the markers'],
  ['click in the tree', 'plot a sub-tree'],
  ['click a task in Flow', 'plot the task and its descendants'],
  ['click in the histogram', 'plot all tasks of a source line'],
];

export function Help({ close, tasks = false }: { close: () => void; tasks?: boolean }) {
  return (
    <div class="veil" onClick={close}>
      <div class="help" role="dialog" aria-label="help" data-testid="help" onClick={(event) => event.stopPropagation()}>
        <div class="help-head">
          <h1>Keys and mouse</h1>
          <button class="link" onClick={close}>
            close
          </button>
        </div>
        <div class="help-columns">
          {(tasks ? [TASK_KEYS, TASK_MOUSE] : [KEYS, MOUSE]).map((list, i) => (
            <dl key={i}>
              {list.map(([key, does]) => (
                <div key={key}>
                  <dt>{key}</dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          ))}
        </div>
        <p class="soft">
          The address of the page stores the complete view: bookmark it, or send it to someone who can reach this server. Figures are marked <em>recorded</em>, <em>corrected</em> (tracer overhead removed), <em>predicted</em> (by replaying the run) or <em>virtual time</em> (unlimited processors).
        </p>
      </div>
    </div>
  );
}
