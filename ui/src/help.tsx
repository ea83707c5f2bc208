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
  ['1 … 7', 'the panels on the right'],
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

export function Help({ close }: { close: () => void }) {
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
          {[KEYS, MOUSE].map((list, i) => (
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
          The address holds all of the view: send it to somebody who has this server open, or keep it. Figures are marked <em>recorded</em>, <em>corrected</em> (without what the tracer took) or <em>predicted</em> (by replaying the run).
        </p>
      </div>
    </div>
  );
}
