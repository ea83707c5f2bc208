// The page on a run of 16,384 ranks: they scroll, calls show when zoomed in, rows are sorted, and the tab stays small.
// The run is made up by an example program of the viewer, as a trace like any other.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import { frames, hash, launch, open, part, pictures, serve, sharp, tabMemory, timeline, wideTrace } from './setup.mjs';

const RANKS = 16_384;
const ROUNDS = 20;
let browser, server, address;
before(async () => {
  server = serve(wideTrace(RANKS, ROUNDS));
  address = await server.address;
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.stop();
});
const picture = (page, name) => page.screenshot({ path: join(pictures, `${name}.png`) });
const told = (times) => `median ${part(times, 0.5).toFixed(1)} ms, p95 ${part(times, 0.95).toFixed(1)} ms`;

test('16,384 ranks scroll, zoom and sort', async (t) => {
  const begun = performance.now();
  const page = await open(browser, address);
  await sharp(page);
  t.diagnostic(`sharp ${Math.round(performance.now() - begun)} ms after the first view of this trace`);
  await page.getByText('16,384 ranks').first().waitFor();
  // Frames are measured once the server has nothing more to work out: here it shares its processors with the browser.
  await page.getByText('parallel efficiency').waitFor({ timeout: 240_000 });
  await page.getByTestId('parallelism').getByText('predicted').waitFor({ timeout: 240_000 });
  await picture(page, 'wide');
  const box = await timeline(page).boundingBox();

  // Rows of some pixels each, then downwards with the wheel over the ranks.
  for (let i = 0; i < 16; i++) await page.keyboard.press(']');
  const { height } = await hash(page);
  assert.ok(Number(height) >= 8, `rows are ${height} px high`);
  await sharp(page);
  await page.mouse.move(box.x + 20, box.y + box.height / 2);
  const scrolling = frames(page, 120);
  for (let i = 0; i < 60; i++) {
    await page.mouse.wheel(0, 400);
    await page.waitForTimeout(8);
  }
  t.diagnostic(`frames while scrolling: ${told(await scrolling)}`);
  assert.ok(Number((await hash(page)).row) > 100);

  // To the last rank.
  await page.keyboard.press('/');
  await page.getByTestId('search').fill(`rank ${RANKS - 1}`);
  await page.keyboard.press('Enter');
  const last = await hash(page);
  assert.equal(last.ranks, String(RANKS - 1));
  assert.ok(Number(last.row) > RANKS - 400, `row ${last.row}`);
  await sharp(page);
  await page.keyboard.press('Escape');

  // Nearer, until single calls are there.
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const zooming = frames(page, 120);
  for (let i = 0; i < 40; i++) {
    await page.mouse.wheel(0, -50);
    await page.waitForTimeout(16);
  }
  t.diagnostic(`frames while zooming: ${told(await zooming)}`);
  await sharp(page, true);
  assert.ok(Number(await timeline(page).getAttribute('data-calls')) > 100);
  await page.waitForTimeout(500);
  await picture(page, 'wide-last');

  // Sorted: whoever waits longest comes first.
  await page.keyboard.press('0');
  await page.locator('.legend select').selectOption('wait');
  await sharp(page);
  assert.equal((await hash(page)).order, 'wait');
  const waiting = await page.evaluate(waits, RANKS);
  // Each is a sum of two rounded bytes, so that equal ones may differ by one.
  for (let i = 1; i < waiting.length; i++) assert.ok(waiting[i] <= waiting[i - 1] + 1, `${waiting.slice(0, 8)}`);
  assert.ok(waiting[0] > waiting.at(-1));
  await picture(page, 'wide-sorted');

  const memory = await tabMemory(browser);
  t.diagnostic(`memory of the tab ${memory.toFixed(0)} MB`);
  assert.ok(memory < 300);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

/** How long each of 64 rows waits, from the top: in the page, with its token. */
async function waits(ranks) {
  const token = new URLSearchParams(location.search).get('token');
  const answer = await fetch(`./api/timeline?columns=1&rows=64&order=wait&ranks=0-${ranks - 1}`, { headers: { 'X-Kizami-Token': token } });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  return Array.from({ length: 64 }, (_, row) => bytes[16 + 64 * 4 + row * 9 + 2] + bytes[16 + 64 * 4 + row * 9 + 3]);
}
