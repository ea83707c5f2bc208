// Threads under the timeline: of a hybrid program whose threads nap for known shares of its regions.
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { GUTTER, golden, hash, launch, open, pictures, report, serve, sharp, simulate, timeline } from './setup.mjs';

/** Of `State` of the server. */
const [COMPUTING, WAITING, SERIAL, CALL, IDLE] = [0, 1, 2, 3, 4];
let trace, servers, addresses, browser;
before(async () => {
  trace = golden('hybrid');
  // Its table of regions is there, and is none.
  const damaged = `${trace}-damaged`;
  cpSync(trace, damaged, { recursive: true });
  const table = join(damaged, 'parallel/part-00000.parquet');
  writeFileSync(table, Buffer.alloc(readFileSync(table).length));
  servers = { hybrid: serve(trace), damaged: serve(damaged), without: serve(simulate('threads-without', 4, 'halo', '5', '1000')) };
  addresses = Object.fromEntries(await Promise.all(Object.entries(servers).map(async ([name, server]) => [name, await server.address])));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  Object.values(servers ?? {}).forEach((server) => server.stop());
});

const strip = (page) => page.getByTestId('threads-strip');
/** Until the strip shows what belongs to the selection. */
async function settled(page) {
  await page.evaluate(() => new Promise((done) => setTimeout(done, 250)));
  await page.waitForFunction(() => document.querySelector('[data-testid=threads-strip]')?.dataset.busy === 'false');
}
async function shown(options = '', more = {}) {
  const page = await open(browser, addresses.hybrid, options, more);
  await sharp(page);
  await settled(page);
  return page;
}
/** What the server says of all threads of some ranks, in stretches that were not put together. */
async function told(page, ranks = '0-1') {
  return page.evaluate(async (ranks) => {
    const token = new URLSearchParams(location.search).get('token');
    return (await fetch(`./api/threads?ranks=${ranks}&columns=2000`, { headers: { 'X-Kizami-Token': token } })).json();
  }, ranks);
}
/** All stretches of a state, with their threads. */
const stretches = ({ ranks, subjects }, state) =>
  ranks.flatMap(({ rank, threads }) =>
    threads.flatMap(({ thread, bounds, states, subjects: numbers }) =>
      states.flatMap((each, i) => (each === state ? [{ rank, thread, from: bounds[i], to: bounds[i + 1], subject: subjects[numbers[i]] ?? null }] : [])),
    ),
  );
/** Where a moment of a row is on the screen. */
async function placeOf(page, row, ns) {
  const box = await page.locator('.threads-plot').boundingBox();
  const [from, to] = await timeline(page).evaluate(({ dataset }) => [Number(dataset.from), Number(dataset.to)]);
  const gap = (await strip(page).getAttribute('data-ranks')).includes(',') ? 5 : 0;
  const rows = Number(await strip(page).getAttribute('data-rows'));
  const high = (box.height - gap) / rows;
  return { x: box.x + GUTTER + ((ns - from) / (to - from)) * (box.width - GUTTER), y: box.y + (row + 0.5) * high + (gap && row >= rows / 2 ? gap : 0) };
}

test('there is a row for each thread, and its time is divided as the report says', async () => {
  const page = await shown();
  assert.equal(await strip(page).getAttribute('data-rows'), '8');
  assert.equal(await strip(page).getAttribute('data-ranks'), '0,1');
  assert.ok((await strip(page).innerText()).includes('Threads of ranks 0, 1'));
  const { threads } = report(trace);
  const all = await told(page);
  const { work } = await page.evaluate(async () => {
    const token = new URLSearchParams(location.search).get('token');
    return (await (await fetch('./api/run', { headers: { 'X-Kizami-Token': token } })).json()).layers[0];
  });
  const time = (state) => stretches(all, state).reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, work[1]) - Math.max(from, work[0])), 0);
  const share = (time(COMPUTING) + time(SERIAL)) / threads.all_ns;
  assert.ok(Math.abs(share - threads.useful) < 0.02, `${share} for ${threads.useful}`);
  const inside = time(COMPUTING) / (time(COMPUTING) + time(WAITING));
  assert.ok(Math.abs(inside - threads.in_regions) < 0.02, `${inside} for ${threads.in_regions}`);
  assert.ok(time(IDLE) > 0 && stretches(all, IDLE).every(({ thread }) => thread > 0));
  assert.ok(stretches(all, CALL).every(({ thread }) => thread === 0));
  await page.screenshot({ path: join(pictures, 'threads.png') });
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test('a stretch says what it is, and a click selects the place of its region', async () => {
  const page = await shown();
  const all = await told(page);
  // The first thread waits longest for the others.
  const longest = (list) => list.reduce((one, other) => (other.to - other.from > one.to - one.from ? other : one));
  const waiting = longest(stretches(all, WAITING).filter(({ rank, thread }) => rank === 1 && thread === 0));
  const { x, y } = await placeOf(page, 4, (waiting.from + waiting.to) / 2);
  await page.mouse.move(x, y);
  const tooltip = page.getByTestId('threads-tooltip');
  assert.equal(await tooltip.getAttribute('data-state'), `${WAITING}`);
  const says = await tooltip.innerText();
  for (const part of ['waiting in a region', '0 of rank 1', 'main hybrid.c:', 'start', 'duration']) assert.ok(says.includes(part), `${part} in ${says}`);
  await page.screenshot({ path: join(pictures, 'threads-tooltip.png') });
  await page.mouse.click(x, y);
  assert.equal((await hash(page)).sites, `${waiting.subject.site}`);
  await page.mouse.click(x, y);
  assert.equal((await hash(page)).sites, undefined);
  // The first thread calls MPI, and its function is named.
  const [from, to] = await timeline(page).evaluate(({ dataset }) => [Number(dataset.from), Number(dataset.to)]);
  const call = longest(stretches(all, CALL).filter((call) => call.rank === 0 && call.from > from && call.to < to));
  const at = await placeOf(page, 0, (call.from + call.to) / 2);
  await page.mouse.move(at.x, at.y);
  assert.match(await tooltip.innerText(), /^\s*MPI_\w+/);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test('it follows the selected ranks and the time axis', async () => {
  const page = await shown('ranks=1');
  assert.equal(await strip(page).getAttribute('data-rows'), '4');
  assert.ok((await strip(page).innerText()).includes('Threads of rank 1'));
  const box = await timeline(page).boundingBox();
  const x = box.x + GUTTER + 0.4 * (box.width - GUTTER);
  await page.mouse.move(x, box.y + box.height / 2);
  const cursor = await page.getByTestId('threads-cursor').boundingBox();
  assert.ok(Math.abs(cursor.x - x) <= 1.5, `${cursor.x} for ${x}`);
  const before = await timeline(page).evaluate(({ dataset }) => Number(dataset.to) - Number(dataset.from));
  const plot = await page.locator('.threads-plot').boundingBox();
  await page.mouse.move(plot.x + plot.width / 2, plot.y + plot.height / 2);
  await page.mouse.wheel(0, -900);
  await settled(page);
  const behind = await timeline(page).evaluate(({ dataset }) => Number(dataset.to) - Number(dataset.from));
  assert.ok(behind < 0.3 * before, `${behind} of ${before}`);
  await page.getByLabel('threads', { exact: true }).uncheck();
  assert.equal(await strip(page).count(), 0);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test('dark, and with low rows, it can be read as well', async () => {
  const page = await shown('', { colorScheme: 'dark', viewport: { width: 900, height: 600 } });
  assert.equal(await strip(page).getAttribute('data-rows'), '8');
  await page.screenshot({ path: join(pictures, 'threads-dark.png') });
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test('runs without parallel regions, and tables that cannot be read, have no strip', async () => {
  for (const name of ['without', 'damaged']) {
    const page = await open(browser, addresses[name]);
    await sharp(page);
    await page.getByTestId('verdict').waitFor();
    const asked = () => page.asked.some((url) => url.includes('/api/threads'));
    if (name === 'damaged') {
      while (!asked()) await page.waitForTimeout(50);
      assert.ok((await told(page)).error.includes('parallel'));
      await page.waitForTimeout(300);
    } else assert.ok(!asked());
    assert.equal(await strip(page).count(), 0);
    assert.deepEqual(page.wrong, []);
    await page.close();
  }
});
