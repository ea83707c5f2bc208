// Measures the page on a trace: from `kizami view` to pixels, frames while panning and zooming, how soon the picture is
// sharp again, memory of the tab, and timeline queries of 2000 x 1024 cells as the server takes them.
//
//   cargo run --release -p kizami-view --example wide_trace -- 1024 9766 wide.kz
//   node bench/view.mjs wide.kz [ROUNDS]
//
// Needs ui/node_modules (npm ci) and chromium; KIZAMI names the command, as in ui/tests/setup.mjs. The index should be
// there already: the first view of a trace makes it.
import { frames, launch, open, part, serve, sharp, tabMemory, timeline } from '../ui/tests/setup.mjs';

const [trace, rounds = '5'] = process.argv.slice(2);
const median = (values) => part([...values].sort((a, b) => a - b), 0.5);
const shown = (values) => `median ${median(values).toFixed(0)} (${values.map((value) => value.toFixed(0)).join(', ')})`;
const figures = { paint: [], whole: [], again: [], query: [], memory: [], frame: [], slow: [] };

for (let round = 0; round < Number(rounds); round++) {
  // The browser is there, as on a desk; the server is not.
  const browser = await launch();
  await (await browser.newPage()).goto('about:blank');
  const begun = performance.now();
  const server = serve(trace);
  const address = await server.address;
  const page = await open(browser, address);
  await page.waitForFunction(() => document.querySelector('[data-testid=timeline]')?.dataset.drawn === 'true', undefined, { polling: 'raf' });
  figures.paint.push(performance.now() - begun);
  await sharp(page);
  figures.whole.push(performance.now() - begun);

  const box = await timeline(page).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const times = frames(page, 150);
  for (let i = 0; i < 20; i++) await page.mouse.wheel(0, -60);
  await page.mouse.down();
  for (let i = 0; i < 60; i++) await page.mouse.move(box.x + box.width / 2 + Math.sin(i / 5) * 200, box.y + box.height / 2);
  await page.mouse.up();
  const ended = performance.now();
  await sharp(page);
  figures.again.push(performance.now() - ended);
  const sorted = [...(await times)].sort((a, b) => a - b);
  figures.frame.push(part(sorted, 0.5));
  figures.slow.push(part(sorted, 0.95));
  figures.memory.push(await tabMemory(browser));

  const url = new URL(address);
  for (let i = 0; i < 10; i++) {
    const asked = new URL(`/api/timeline?columns=2000&rows=1024&token=${url.searchParams.get('token')}`, url);
    const started = performance.now();
    await (await fetch(asked)).arrayBuffer();
    figures.query.push(performance.now() - started);
  }
  await browser.close();
  server.stop();
}
console.log(`first picture, ms from the start of the command: ${shown(figures.paint)}`);
console.log(`sharp, ms from the start: ${shown(figures.whole)}`);
console.log(`frame, ms: ${shown(figures.frame)}; 95 % below: ${shown(figures.slow)}`);
console.log(`sharp again, ms after moving: ${shown(figures.again)}`);
console.log(`memory of the tab, MB: ${shown(figures.memory)}`);
console.log(`2000 x 1024 cells over HTTP, ms: median ${median(figures.query).toFixed(0)}, 95 % below ${part([...figures.query].sort((a, b) => a - b), 0.95).toFixed(0)}, of ${figures.query.length}`);
process.exit(0);
