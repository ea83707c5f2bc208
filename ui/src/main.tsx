// Asks what the run is, waits for its index if it has none yet, and starts the page.
import { render } from 'preact';
import { api, type Run } from './api';
import { App, Starting } from './app';
import { restorePanelWidth } from './divider';
import { Model } from './model';
import { SelectionStore, firstOf, startOf } from './selection';
import './style.css';
import './tasks/tasks.css';
import { theme } from './theme';

const root = document.getElementById('app')!;
root.replaceChildren();
theme();
restorePanelWidth();

const show = (run: Run | null, error: unknown) => render(<Starting run={run} error={error} />, root);

async function start(): Promise<void> {
  for (;;) {
    const run = await api.run();
    if (run.layers.length === 0) throw new Error('The server has loaded no run.');
    if (run.index.ready) {
      const store = new SelectionStore(startOf(firstOf(run.layers[0]!)), run.layers.map(firstOf));
      document.title = `${run.layers[0]!.name.slice(0, 60)} – Kizami`;
      render(<App model={new Model(run, store)} />, root);
      return;
    }
    show(run, null);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

show(null, null);
start().catch((error: unknown) => show(null, error));
