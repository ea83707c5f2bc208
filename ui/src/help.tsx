// What keys and mouse do.
const KEYS: [string, string][] = [
  ['W S  + −', 'zoom in, out'],
  ['A D  ← →', 'move in time'],
  ['↑ ↓', 'scroll ranks'],
  ['[ ]', 'rows lower, higher'],
  ['Home', 'the program: MPI_Init to MPI_Finalize'],
  ['0', 'the whole run'],
  ['Z', 'zoom to what is chosen'],
  ['Esc', 'choose nothing'],
  ['1 2 3 …', 'the panels on the right'],
  ['P', 'ranks computing, on or off'],
  ['/', 'search: rank, function, place, time'],
  ['T', 'light or dark'],
  ['?', 'this'],
];
const MOUSE: [string, string][] = [
  ['wheel', 'zoom at the pointer'],
  ['shift + wheel', 'move in time'],
  ['ctrl + wheel', 'higher or lower rows'],
  ['wheel on the ranks', 'scroll ranks'],
  ['drag', 'move'],
  ['drag on the ruler, shift + drag', 'choose a range of time'],
  ['drag on the ranks', 'choose ranks'],
  ['click a call', 'what did it wait for?'],
  ['double click', 'zoom in there'],
];

const TASK_KEYS: [string, string][] = [
  ['W S  + −', 'zoom in, out'],
  ['A D  ← →', 'move in time'],
  ['0  Home', 'the whole run'],
  ['Z', 'zoom to the markers'],
  ['L', 'align: every sub-tree begins at 0'],
  ['Esc', 'no markers, no sub-trees'],
  ['← →  Enter', 'in the flow: from task to task, choose'],
  ['T', 'light or dark'],
  ['?', 'this'],
];
const TASK_MOUSE: [string, string][] = [
  ['wheel on the curves', 'zoom at the pointer'],
  ['drag on the curves', 'set the markers'],
  ['click in the tree', 'draw the curve of a sub-tree'],
  ['click a task of the flow', 'the same, of all that descend from it'],
  ['click in the histogram', 'the same, of all tasks of a place'],
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
          The address holds all of the view: send it to somebody who has this server open, or keep it. Figures are marked <em>recorded</em>, <em>corrected</em> (without what the tracer took) <em>predicted</em> (by replaying the run) or <em>virtual</em> (as many processors as wanted).
        </p>
      </div>
    </div>
  );
}
