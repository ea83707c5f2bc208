// The page with 16,384 ranks: they scroll, and the tab stays small. What it is told about them is made up here, so that
// this needs no trace of that size; whether the server can read one is for the server's tests.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hash, launch, open, pictures, record, serve, sharp, timeline } from './setup.mjs';

const RANKS = 16_384;
let browser, server, address;
before(async () => {
  server = serve(record('alone', 1, 'allreduce', '20', '4'));
  address = await server.address;
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.stop();
});

/** Ranks that wait the longer the higher their number: rows can be told apart, and where one should be. */
function shares(query) {
  const columns = Number(query.get('columns'));
  const rows = Number(query.get('rows'));
  const [first, last] = query.get('ranks').split('-').map(Number);
  const each = Math.ceil((last - first + 1) / rows);
  const answer = Buffer.alloc(16 + rows * 4 + columns * rows * 9);
  [columns, rows, 9, 1].forEach((value, i) => answer.writeUInt32LE(value, i * 4));
  for (let row = 0; row < rows; row++) {
    const rank = first + row * each;
    answer.writeUInt32LE(rank, 16 + row * 4);
    const waits = Math.round((rank / RANKS) * 255);
    for (let column = 0; column < columns; column++) {
      const cell = 16 + rows * 4 + (row * columns + column) * 9;
      answer[cell] = 255 - waits;
      answer[cell + 2] = waits;
    }
  }
  return answer;
}

async function widen(page) {
  await page.route(/\/api\/run\b/, async (route) => {
    const response = await route.fetch();
    const run = await response.json();
    Object.assign(run.layers[0], { ranks: RANKS, threads: RANKS, events: RANKS * 4000, span_ns: 4e9 });
    await route.fulfill({ response, json: run });
  });
  await page.route(/\/api\/timeline\b/, (route) => route.fulfill({ body: shares(new URL(route.request().url()).searchParams) }));
}

test('16,384 ranks scroll', async (t) => {
  const page = await open(browser, 'about:blank');
  await widen(page);
  await page.goto(address);
  await sharp(page);
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(pictures, 'wide.png') });
  const box = await timeline(page).boundingBox();
  // Rows of some pixels each, then down to the last rank with the wheel over the ranks.
  for (let i = 0; i < 15; i++) await page.keyboard.press(']');
  const { height } = await hash(page);
  assert.ok(Number(height) >= 6, `rows are ${height} px high`);
  await sharp(page);
  await page.mouse.move(box.x + 20, box.y + box.height / 2);
  const frames = page.evaluate(
    () =>
      new Promise((done) => {
        const times = [];
        let last = performance.now();
        const tick = (now) => {
          times.push(now - last);
          last = now;
          if (times.length < 120) requestAnimationFrame(tick);
          else done(times);
        };
        requestAnimationFrame(tick);
      }),
  );
  for (let i = 0; i < 60; i++) {
    await page.mouse.wheel(0, 400);
    await page.waitForTimeout(8);
  }
  const sorted = (await frames).slice(2).sort((a, b) => a - b);
  t.diagnostic(`frames while scrolling: median ${sorted[Math.floor(sorted.length / 2)].toFixed(1)} ms, p95 ${sorted[Math.floor(sorted.length * 0.95)].toFixed(1)} ms`);
  const row = Number((await hash(page)).row);
  assert.ok(row > 100, `scrolled to ${row}`);
  await page.keyboard.press('/');
  await page.getByTestId('search').fill(`rank ${RANKS - 1}`);
  await page.keyboard.press('Enter');
  const shown = await hash(page);
  assert.equal(shown.ranks, String(RANKS - 1));
  assert.ok(Number(shown.row) > RANKS - 400, `row ${shown.row}`);
  await sharp(page);
  await page.screenshot({ path: join(pictures, 'wide-last.png') });
  // The largest renderer is this page; what it shares with others (the browser's code) is not the tab's.
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const sizes = processInfo
    .filter((process) => process.type === 'renderer')
    .map((process) => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${process.id}/status`, 'utf8'))[1]) / 1000);
  t.diagnostic(`memory of the tab ${Math.max(...sizes).toFixed(0)} MB`);
  assert.ok(Math.max(...sizes) < 300);
  assert.deepEqual(page.wrong, []);
  await page.close();
});
