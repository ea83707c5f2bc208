// Every view is used, on a run whose content is known: `late_sender` lets rank 0 sleep 20 ms before each of 20
// rounds of messages, while all others are in MPI_Recv already.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import { events, hash, launch, open, pictures, place, record, recordWith, report, serve, sharp, timeline, GUTTER, RULER } from './setup.mjs';

let browser, server, address, late, stencil, calls, receives, loop;
before(async () => {
  late = record('late_sender', 4, 'late_sender', '20', '20');
  stencil = record('stencil2d', 4, 'stencil2d', '32', '30', '100');
  calls = events(late);
  receives = calls.filter((call) => call.op === 'MPI_Recv');
  // The part with the rounds, without MPI_Init.
  const inner = calls.filter((call) => call.op === 'MPI_Barrier' || call.op === 'MPI_Recv');
  loop = { from: Math.min(...inner.map((call) => call.start_ns)), to: Math.max(...inner.map((call) => call.end_ns)) };
  server = serve(late, stencil);
  address = await server.address;
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.stop();
});
const view = (from, to) => `view=${Math.round(from)}-${Math.round(to)}`;
const picture = (page, name) => page.screenshot({ path: join(pictures, `${name}.png`) });
const clean = async (page, of = address) => {
  assert.deepEqual(page.wrong, []);
  const origin = new URL(of).origin;
  for (const url of page.asked) assert.equal(new URL(url).origin, origin, 'nothing is asked for elsewhere');
  await page.close();
};

/** When a phase of a run begins and ends: from the first rank that comes to the last that leaves. */
const bounds = (calls, from, to) => ({ from: Math.min(...calls.filter(from).map((call) => call.end_ns)), to: Math.max(...calls.filter(to).map((call) => call.start_ns)) });

test('the program is painted first', async (t) => {
  const begun = performance.now();
  const page = await open(browser, address);
  await page.waitForFunction(() => document.querySelector('[data-testid=timeline]')?.dataset.drawn === 'true');
  t.diagnostic(`first picture after ${Math.round(performance.now() - begun)} ms`);
  await sharp(page);
  await page.getByText('4 ranks, 216 calls').waitFor();
  await page.waitForTimeout(300);
  await picture(page, 'overview');
  await clean(page);
});

test('what starting and ending MPI took is one key away', async () => {
  const program = bounds(calls, (call) => call.op.startsWith('MPI_Init'), (call) => call.op === 'MPI_Finalize');
  const page = await open(browser, address);
  await sharp(page);
  const shown = async () => (await hash(page)).view.split('-').map(Number);
  const until = async (from, to) => assert.deepEqual(await shown(), [from, to]);
  await page.getByRole('button', { name: 'whole run' }).click();
  const span = Math.max(...calls.map((call) => call.end_ns));
  await until(0, span);
  await page.keyboard.press('Home');
  await until(program.from, program.to);
  await page.keyboard.press('0');
  await until(0, span);
  await page.getByRole('button', { name: 'program' }).click();
  await until(program.from, program.to);
  await page.keyboard.press('2');
  assert.match(await page.getByTestId('scope').innerText(), /MPI_Init to MPI_Finalize/);
  await clean(page);
});

test('a finding leads to the late sender', async () => {
  const page = await open(browser, address);
  const card = page.getByTestId('finding').first();
  await card.waitFor();
  assert.match(await card.innerText(), /rank 0 computes longer than the others/);
  assert.match(await card.locator('strong').first().innerText(), /^Rank 0: computation before late_sender\.c:46$/);
  assert.equal(await page.getByTestId('finding').locator('visible=true').count(), report(late).findings.length);
  await card.click();
  const chosen = await hash(page);
  const [from, to] = [Number(chosen.from), Number(chosen.to)];
  const wait = receives.find((call) => call.start_ns <= from + 1 && call.end_ns >= to - 1);
  assert.ok(wait, `${from}..${to} lies within a receive`);
  assert.ok(to - from >= 18e6, 'which waits for the injected 20 ms');
  const lengths = receives.map((call) => call.end_ns - call.start_ns).sort((a, b) => a - b);
  assert.ok(to - from <= lengths[Math.floor(lengths.length * 0.9)] * 1.1, 'as most do: the longest may be a freak');
  assert.match(chosen.ranks, /^0/, 'rank 0 is to blame and is shown');
  const [low, high] = chosen.view.split('-').map(Number);
  assert.ok(low < from && high > to, 'the window has it with some of what is around it');
  await sharp(page, true);
  await page.waitForTimeout(300);
  await picture(page, 'verdict');
  await clean(page);
});

test('a finding costs what the report says', async () => {
  const { findings } = report(late);
  const page = await open(browser, address);
  const card = page.getByTestId('finding').first();
  const { waiting_ns, propagated_ns, share } = findings[0];
  const [, number, unit, part] = /([\d.]+) (ms|s) of waiting, ([\d.]+) % of all ranks' time/.exec((await card.innerText()).replaceAll('\n', ' '));
  const shown = Number(number) * (unit === 's' ? 1e9 : 1e6);
  assert.ok(Math.abs(shown / (waiting_ns + propagated_ns) - 1) < 0.01, `${number} ${unit} for ${waiting_ns} + ${propagated_ns} ns`);
  assert.equal(part, (share * 100).toFixed(1));
  await clean(page);
});

test('efficiencies are those of the report', async () => {
  const { efficiency } = report(late);
  const page = await open(browser, address);
  const text = await page.getByTestId('verdict').locator('.tree-factors').innerText();
  for (const share of [efficiency.parallel, efficiency.load_balance, efficiency.serialisation, efficiency.transfer]) {
    assert.ok(text.includes(`${(share * 100).toFixed(1)} %`), `${share} in ${text}`);
  }
  await clean(page);
});

test('a call shows its name, length and place, and its flow ends at the cause', async () => {
  const wait = receives.find((call) => call.rank === 1 && call.end_ns - call.start_ns > 15e6);
  const window = { from: wait.start_ns - 10e6, to: wait.end_ns + 10e6 };
  const page = await open(browser, address, view(window.from, window.to));
  await sharp(page, true);
  const at = await place(page, window, 4, (wait.start_ns + wait.end_ns) / 2, 1);
  await page.mouse.move(at.x - 5, at.y + 12);
  await page.mouse.move(at.x, at.y + 12);
  const tooltip = await page.getByTestId('tooltip').innerText();
  assert.match(tooltip, /MPI_Recv/);
  assert.match(tooltip, /late_sender\.c:49/);
  assert.match(tooltip, /\d ms/);
  await page.mouse.click(at.x, at.y + 12);
  const steps = page.getByTestId('flow-step');
  await steps.first().waitFor();
  const texts = await steps.allInnerTexts();
  assert.match(texts.at(-1), /computation/i);
  assert.match(texts.at(-1), /rank 0/);
  assert.match(texts.at(-1), /cause/);
  assert.equal((await hash(page)).event, `1:${wait.start_ns}`);
  await steps.last().locator('.step-look').click();
  const [from, to] = (await hash(page)).view.split('-').map(Number);
  assert.ok(from < wait.start_ns + 5e6 && to > wait.end_ns - 5e6, 'the computation that was waited for is shown');
  await picture(page, 'flow');
  await clean(page);
});

test('counts of a chosen range are those of the tables, and outliers are a click away', async () => {
  const from = Math.round(loop.from + (loop.to - loop.from) / 3);
  const to = Math.round(loop.from + ((loop.to - loop.from) * 2) / 3);
  const inside = calls.filter((call) => call.end_ns > from && call.start_ns < to);
  const page = await open(browser, address, `${view(loop.from, loop.to)}&from=${from}&to=${to}&panel=histogram`);
  const total = page.getByTestId('histogram-total');
  await total.waitFor();
  assert.equal(Number(await total.getAttribute('data-count')), inside.length);
  const received = inside.filter((call) => call.op === 'MPI_Recv');
  await page.getByTestId('histogram').locator('select').selectOption({ label: 'MPI_Recv' });
  await page.waitForFunction((n) => Number(document.querySelector('[data-testid=histogram-total]')?.dataset.count) === n, received.length);
  // The receives that waited are in the bars at the right.
  const bars = await page.getByTestId('histogram-bars').boundingBox();
  const longest = Math.max(...received.map((call) => call.end_ns - call.start_ns));
  const list = page.getByTestId('histogram-calls');
  for (let x = bars.width - 8; x > 50 && !(await list.isVisible()); x -= 3) {
    await page.mouse.click(bars.x + x, bars.y + bars.height - 40);
    await page.waitForTimeout(15);
  }
  await list.waitFor();
  const first = list.locator('tbody tr').first();
  assert.match(await first.innerText(), /MPI_Recv/);
  await first.click();
  await page.waitForTimeout(400);
  assert.ok(await first.isVisible(), 'the list stays');
  const found = received.find((call) => call.end_ns - call.start_ns === longest);
  const [low, high] = (await hash(page)).view.split('-').map(Number);
  assert.ok(low <= found.start_ns && high >= found.end_ns, 'the longest is on the timeline');
  await page.waitForTimeout(300);
  await picture(page, 'histogram');
  await clean(page);
});

test('a range is chosen by dragging on the ruler, and zoomed to', async () => {
  const page = await open(browser, address, view(loop.from, loop.to));
  await sharp(page);
  const box = await timeline(page).boundingBox();
  const width = box.width - GUTTER;
  await page.mouse.move(box.x + GUTTER + width * 0.25, box.y + RULER / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + GUTTER + width * 0.5, box.y + RULER / 2, { steps: 4 });
  await page.mouse.up();
  const chosen = await hash(page);
  const length = loop.to - loop.from;
  assert.ok(Math.abs(Number(chosen.from) - (loop.from + length * 0.25)) < length * 0.01);
  assert.ok(Math.abs(Number(chosen.to) - (loop.from + length * 0.5)) < length * 0.01);
  await page.getByText('zoom to markers').click();
  const [low, high] = (await hash(page)).view.split('-').map(Number);
  assert.ok(high - low < length * 0.3);
  await page.keyboard.press('Escape');
  assert.equal((await hash(page)).from, undefined);
  await clean(page);
});

test('the matrix has what rank 0 sent, and nothing else', async () => {
  const page = await open(browser, address, 'panel=matrix');
  const cells = page.getByTestId('matrix-cells');
  await cells.waitFor();
  assert.match(await page.getByTestId('matrix-total').innerText(), /60 messages, 240 B/);
  const box = await cells.boundingBox();
  const step = (box.width - 42) / 4;
  const read = async (from, to) => {
    await page.mouse.move(box.x + 40 + (to + 0.5) * step, box.y + 40 + (from + 0.5) * step);
    return page.getByTestId('matrix-cell').innerText();
  };
  assert.match(await read(0, 1), /0 → 1\s+20 messages, 80 B/);
  assert.match(await read(0, 3), /0 → 3\s+20 messages, 80 B/);
  assert.match(await read(1, 0), /1 → 0\s+no messages/);
  await picture(page, 'matrix');
  await clean(page);
});

test('a chosen call site narrows the other views', async () => {
  const page = await open(browser, address, 'panel=tree');
  const row = page.getByTestId('tree').locator('tr', { hasText: 'late_sender.c:49' }).first();
  await row.click();
  const { sites } = await hash(page);
  assert.match(sites, /^\d+$/);
  await picture(page, 'tree');
  await page.keyboard.press('3');
  const total = page.getByTestId('histogram-total');
  await total.waitFor();
  assert.equal(Number(await total.getAttribute('data-count')), 60);
  await clean(page);
});

test('the tree goes down the paths of calls, and a function chooses all calls below it', async (t) => {
  const other = serve(record('mgcg', 2, 'mgcg', '8', '4'));
  t.after(() => other.stop());
  const page = await open(browser, await other.address, 'panel=tree');
  const cells = page.getByTestId('tree').locator('td.where');
  await cells.first().waitFor();
  const rows = await cells.evaluateAll((all) => all.map((cell) => ({ name: cell.title, depth: parseInt(cell.style.paddingLeft, 10) })));
  const solve = rows.findIndex(({ name }) => name === 'solve');
  const below = rows.slice(solve + 1).findIndex(({ depth }) => depth <= rows[solve].depth);
  const inside = rows.slice(solve + 1, below < 0 ? undefined : solve + 1 + below).map(({ name }) => name);
  assert.ok(rows.slice(0, solve).some(({ name }) => name === 'main'), JSON.stringify(rows));
  for (const name of ['reduce', 'MPI_Allreduce', 'MPI_Wait']) assert.ok(inside.includes(name), `${name}: ${inside}`);
  await cells.nth(solve).click();
  assert.match((await hash(page)).sites, /^\d+(,\d+)+$/);
  await picture(page, 'tree-of-paths');
  await clean(page, await other.address);
});

test('the panel is as wide as it is dragged', async () => {
  const page = await open(browser, address, 'panel=tree');
  const width = async () => (await page.locator('aside').boundingBox()).width;
  const [before, divider] = [await width(), page.getByRole('separator')];
  const { x, y, width: thick } = await divider.boundingBox();
  await page.mouse.move(x + thick / 2, y + 200);
  await page.mouse.down();
  await page.mouse.move(x - 150, y + 200, { steps: 5 });
  await page.mouse.up();
  assert.ok(Math.abs((await width()) - before - 154) < 8, `${before} ${await width()}`);
  await divider.focus();
  await page.keyboard.press('ArrowRight');
  assert.ok(Math.abs((await width()) - before - 114) < 8, `${before} ${await width()}`);
  await divider.dblclick();
  assert.equal(await width(), before);
  await clean(page);
});

test('about one rank computes while the others wait', async () => {
  const page = await open(browser, address, view(loop.from, loop.to));
  const strip = page.getByTestId('parallelism');
  await page.waitForFunction(() => Number(document.querySelector('[data-testid=parallelism]')?.dataset.columns) > 0);
  const text = await strip.innerText();
  const mean = Number(/([\d.]+) of 4 on average/.exec(text)[1]);
  assert.ok(mean > 0.7 && mean < 1.3, text);
  assert.match(text, /recorded/);
  assert.match(text, /predicted/);
  await clean(page);
});

test('two runs stand below each other, with their differences', async () => {
  const page = await open(browser, address, 'panel=compare');
  await page.getByTestId('compare-other').selectOption({ index: 1 });
  await timeline(page, 'timeline-other').waitFor();
  await page.getByTestId('compare-shares').waitFor();
  assert.equal((await hash(page)).other, '1');
  await page.getByTestId('compare-align').selectOption('stretch');
  assert.equal((await hash(page)).align, 'stretch');
  await page.getByTestId('compare-align').selectOption('program');
  assert.equal((await hash(page)).align, 'program');
  await page.waitForTimeout(400);
  await picture(page, 'compare');
  await page.getByTestId('layer').selectOption({ index: 1 });
  assert.equal((await hash(page)).layer, '1');
  await clean(page);
});

test('two runs are aligned by what both do, and the difference is shown', async () => {
  // The same program with and without rank 0 being late.
  const [slow, fast] = [record('waits', 4, 'known_waits', 'slow_rank', '20', '6', '20'), record('waits_not', 4, 'known_waits', 'slow_rank', '0', '6', '20')];
  const pair = serve(slow, fast);
  const page = await open(browser, await pair.address, 'panel=compare');
  // Behind each trace comes its own ideal network.
  await page.getByTestId('compare-other').selectOption({ label: 'waits_not.kz' });
  const align = page.getByTestId('compare-align');
  await page.waitForFunction(() => document.querySelector('[data-testid=compare-align]')?.value === 'program');
  const program = (trace) => bounds(events(trace), (call) => call.op.startsWith('MPI_Init'), (call) => call.op === 'MPI_Finalize');
  const [a, b] = [program(slow), program(fast)];
  // A window that is the program in the first must be the program in the other.
  await page.evaluate((hash) => (location.hash = hash), `${view(a.from, a.to)}&panel=compare&other=${(await hash(page)).other}`);
  const shown = async () => {
    await page.waitForTimeout(300);
    const { from, to } = await timeline(page, 'timeline-other').evaluate((element) => ({ from: Number(element.dataset.from), to: Number(element.dataset.to) }));
    return { from, to };
  };
  const near = (x, y) => Math.abs(x - y) < 2000;
  const other = await shown();
  assert.ok(near(other.from, b.from) && near(other.to, b.to), JSON.stringify([other, b]));
  // All but the last rank wait less in the other one: the strip shows it below the line.
  const strip = page.getByTestId('difference');
  await strip.getByText('collective −').waitFor();
  await page.waitForTimeout(300);
  await picture(page, 'aligned');
  // By the third visit of a region that both have.
  await align.selectOption({ label: 'region solve' });
  await page.getByTestId('compare-visit').fill('3');
  assert.equal((await hash(page)).align, 'region:2:solve');
  const before = other.to - other.from;
  const after = await shown();
  assert.ok(Math.abs(after.to - after.from - before) > 1e6, 'the other one is laid out differently');
  assert.deepEqual(page.wrong, []);
  await page.close();
  pair.stop();
});

/** Points at a place until the tooltip tells why there are no calls. */
async function reasonAt(page, { x, y }) {
  const stop = page.getByTestId('stop');
  for (let i = 0; i < 30 && !(await stop.isVisible()); i++) {
    await page.mouse.move(x + (i % 2), y);
    await page.waitForTimeout(100);
  }
  return stop.getAttribute('data-reason');
}

test('a rank that has not begun says so', async () => {
  const first = [0, 1, 2, 3].map((rank) => calls.find((call) => call.rank === rank));
  const latest = first.sort((a, b) => b.start_ns - a.start_ns)[0];
  const whole = { from: 0, to: Math.max(...calls.map((call) => call.end_ns)) };
  const page = await open(browser, address, view(whole.from, whole.to));
  await sharp(page);
  assert.equal(await reasonAt(page, await place(page, whole, 4, latest.start_ns / 2, latest.rank)), 'before-first-call');
  await clean(page);
});

test('calls that were lost and stops of the tracer tell their reason', async () => {
  const many = ['allreduce', '60000', '4'];
  // Only several ranks have to stop together.
  for (const [policy, ranks, reason] of [['never', 1, 'lost'], ['together', 2, 'suspended']]) {
    const trace = recordWith(['--memory', '1M', '--spill', policy], `spill-${policy}`, ranks, ...many);
    const own = serve(trace);
    const base = await own.address;
    const answer = await fetch(`${base.replace('/?', '/api/stops?')}&limit=1000`);
    const stops = (await answer.json()).stops.filter((stop) => stop.reason === reason && stop.rank === 0);
    assert.ok(stops.length > 0, `there is a ${reason} stretch`);
    const [{ start_ns, end_ns, lost_calls }] = stops;
    assert.equal(lost_calls > 0, reason === 'lost');
    assert.ok(end_ns <= (await (await fetch(base.replace('/?', '/api/run?'))).json()).layers[0].span_ns, 'the page shows where it is');
    const around = (end_ns - start_ns) * 0.6;
    const window = { from: Math.max(0, Math.round(start_ns - around)), to: Math.round(end_ns + around) };
    const page = await open(browser, base, view(window.from, window.to));
    await sharp(page);
    assert.equal(await reasonAt(page, await place(page, window, ranks, (start_ns + end_ns) / 2, 0)), reason);
    assert.equal(await page.locator('.legend').getByText('lost').count(), reason === 'lost' ? 1 : 0);
    await picture(page, reason);
    assert.deepEqual(page.wrong, []);
    await page.close();
    own.stop();
  }
});

test('keys move, zoom, search and help', async () => {
  const page = await open(browser, address);
  await sharp(page);
  const span = async () => {
    const [from, to] = (await hash(page)).view.split('-').map(Number);
    return { from, to, length: to - from };
  };
  await page.keyboard.press('w');
  const near = await span();
  await page.keyboard.press('d');
  const right = await span();
  assert.ok(right.from > near.from);
  await page.keyboard.press('ArrowLeft');
  assert.ok(Math.abs((await span()).from - near.from) < near.length * 0.01);
  await page.keyboard.press('-');
  assert.ok((await span()).length > near.length);
  await page.keyboard.press('?');
  await page.getByTestId('help').waitFor();
  await picture(page, 'help');
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.getByTestId('search').fill('rank 2');
  await page.keyboard.press('Enter');
  assert.equal((await hash(page)).ranks, '2');
  await page.keyboard.press('/');
  await page.getByTestId('search').fill('2.2s');
  await page.keyboard.press('Escape');
  await page.keyboard.press('0');
  assert.ok((await span()).from === 0);
  const before = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.keyboard.press('t');
  assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), before);
  await page.waitForTimeout(300);
  await picture(page, 'dark');
  await clean(page);
});

test('moving and zooming keep up, and the picture is sharp again soon', async (t) => {
  const page = await open(browser, address, view(loop.from, loop.to));
  await sharp(page, true);
  await page.locator('[data-testid=timeline][data-painter=webgl2]').waitFor();
  const box = await timeline(page).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.evaluate(() => {
    window.frames_ms = [];
    let last = performance.now();
    const tick = (now) => {
      window.frames_ms.push(now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  for (let i = 0; i < 40; i++) await page.mouse.wheel(0, i % 20 < 10 ? -60 : 60);
  await page.mouse.down();
  for (let i = 0; i < 40; i++) await page.mouse.move(box.x + box.width / 2 + Math.sin(i / 4) * 150, box.y + box.height / 2);
  await page.mouse.up();
  const ended = performance.now();
  await sharp(page);
  const again = performance.now() - ended;
  const frames = (await page.evaluate(() => window.frames_ms)).slice(2).sort((a, b) => a - b);
  const part = (share) => frames[Math.floor(frames.length * share)];
  t.diagnostic(`${frames.length} frames: median ${part(0.5).toFixed(1)} ms, p95 ${part(0.95).toFixed(1)} ms; sharp after ${again.toFixed(0)} ms`);
  assert.ok(part(0.5) < 34, `median frame ${part(0.5)} ms`);
  await clean(page);
});

test('without WebGL the same is drawn', async () => {
  const page = await open(browser, `${address}&canvas`, view(loop.from, loop.to));
  await sharp(page, true);
  assert.equal(await timeline(page).getAttribute('data-painter'), 'canvas');
  await page.waitForTimeout(200);
  const wait = receives.find((call) => call.rank === 2 && call.end_ns - call.start_ns > 15e6);
  const at = await place(page, loop, 4, (wait.start_ns + wait.end_ns) / 2, 0);
  const box = await timeline(page).boundingBox();
  const colours = await page.evaluate(
    ({ x, ys }) => {
      const canvas = document.querySelector('[data-testid=timeline] canvas');
      return ys.map((y) => [...canvas.getContext('2d').getImageData(Math.round(x), Math.round(y), 1, 1).data].slice(0, 3));
    },
    { x: at.x - box.x - GUTTER, ys: [0, 1, 2, 3].map((rank) => at.y - box.y - RULER + rank * Math.min(160, (box.height - RULER) / 4)) },
  );
  // Where two pieces of one call meet within a pixel, the canvas mixes the colour with itself and may round it down.
  const drawn = (rank, wanted, what) =>
    assert.ok(
      wanted.every((byte, channel) => Math.abs(byte - colours[rank][channel]) <= 1),
      `rank ${rank} ${what}: ${colours[rank]} is not ${wanted}`,
    );
  drawn(0, [0xc3, 0xd3, 0xe0], 'computes');
  for (const rank of [1, 2, 3]) drawn(rank, [0xd5, 0x5e, 0x00], 'waits');
  await picture(page, 'canvas');
  await clean(page);
});
