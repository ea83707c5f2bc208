// The page on a run of 100,000 ranks that is stored by rank class: it opens at once, and any rank has calls and messages.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { hash, launch, open, pictures, pretend, serve, sharp, tabMemory, timeline } from './setup.mjs';

const RANKS = 100_000;
let browser, trace, server;
before(async () => {
  trace = pretend('stencil2d', RANKS, '64', '20');
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.stop();
});

test('a hundred thousand ranks are shown by the rows of a few', async (t) => {
  const begun = performance.now();
  server = serve(trace);
  const address = await server.address;
  let page = await open(browser, address);
  await sharp(page);
  t.diagnostic(`sharp ${Math.round(performance.now() - begun)} ms after the command`);
  await page.getByText(/100,000 ranks, .* rank classes/).waitFor();
  await page.getByText('parallel efficiency').waitFor({ timeout: 240_000 });
  await page.screenshot({ path: join(pictures, 'kinds.png') });

  // To a rank that has no rows of its own: its calls and messages are there.
  await page.keyboard.press('/');
  await page.getByTestId('search').fill('rank 54321');
  await page.keyboard.press('Enter');
  assert.equal((await hash(page)).ranks, '54321');
  await page.close();
  page = await open(browser, address, 'row=54318&height=60');
  await sharp(page, true);
  assert.ok(Number(await timeline(page).getAttribute('data-calls')) > 100);
  await page.screenshot({ path: join(pictures, 'kinds-near.png') });

  // Its four neighbours are those of its place in the grid.
  const peers = await page.evaluate(senders, 54_321);
  assert.equal(peers.length, 4, `${peers}`);
  assert.ok(peers.includes(54_320) && peers.includes(54_322), `${peers}`);
  assert.equal(peers[0] + peers[3], 2 * 54_321, `${peers}`);
  assert.ok((await tabMemory(browser)) < 300);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

/** Who sends to a rank: in the page, with its token. */
async function senders(rank) {
  const token = new URLSearchParams(location.search).get('token');
  const ask = () => fetch(`./api/messages?ranks=${rank}`, { headers: { 'X-Kizami-Token': token } });
  let answer = await ask();
  while (answer.status === 503) answer = await ask();
  const answered = new DataView(await answer.arrayBuffer());
  const n = answered.getUint32(0, true);
  const column = (which) => Array.from({ length: n }, (_, i) => answered.getUint32(4 + 16 * n + 4 * (which * n + i), true));
  const [from, to] = [column(0), column(1)];
  return [...new Set(from.filter((_, i) => to[i] === rank))].sort((a, b) => a - b);
}
