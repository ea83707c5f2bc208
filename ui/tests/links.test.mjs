// Load of links of a simulated network: a platform of two halves with one narrow link between them.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { GUTTER, hash, launch, open, pictures, playOn, serve, sharp, simulate, timeline } from './setup.mjs';

const half = (name, first, last) => `<cluster id="${name}" prefix="node-" suffix="" radical="${first}-${last}" speed="1Gf" bw="10GBps" lat="1us"/>`;
const HALVES = `<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    ${half('one', 0, 7)}${half('two', 8, 15)}
    <link id="narrow" bandwidth="1GBps" latency="5us"/>
    <zoneRoute src="one" dst="two" gw_src="node-one_router" gw_dst="node-two_router"><link_ctn id="narrow"/></zoneRoute>
  </zone>
</platform>
`;
let here, there, servers, addresses, browser;
before(async () => {
  here = simulate('links-here', 16, 'halo', '20', '1000000');
  there = playOn(here, 'links-there', HALVES);
  servers = { one: serve(there.trace), both: serve(here, there.trace), none: serve(here) };
  addresses = Object.fromEntries(await Promise.all(Object.entries(servers).map(async ([name, server]) => [name, await server.address])));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  Object.values(servers ?? {}).forEach((server) => server.stop());
});

const whole = () => ({ from: 0, to: there.told.simulated_ns });
const span = ({ from, to }) => `view=${Math.round(from)}-${Math.round(to)}`;
const row = (page, n = 0) => page.getByTestId('link-row').nth(n);
const figure = async (page, name) => Number(await row(page).getAttribute(`data-${name}`));
/** Until the panel and the strip show what belongs to the selection. */
async function settled(page) {
  await page.evaluate(() => new Promise((done) => setTimeout(done, 250)));
  await page.waitForFunction(() => document.querySelector('[data-testid=links]')?.dataset.busy === 'false');
}
async function shown(name, options = '') {
  const page = await open(browser, addresses[name], `panel=links&${options}`);
  await sharp(page);
  await settled(page);
  return page;
}
/** A place of the strip: a row, and a share of its width. */
async function placeOf(page, n, share) {
  const box = await page.locator('.links-plot').boundingBox();
  const rows = Number(await page.getByTestId('links-strip').getAttribute('data-rows'));
  return { x: box.x + GUTTER + share * (box.width - GUTTER), y: box.y + ((n + 0.5) / rows) * box.height };
}

test('the busiest link is the narrow one, with the figures of the command', async () => {
  const page = await shown('one', span(whole()));
  const [first] = there.told.links;
  assert.equal(first.link, 'narrow');
  assert.equal(await row(page).getAttribute('data-link'), 'narrow');
  assert.ok(Math.abs((await figure(page, 'mean')) / first.share - 1) < 1e-3, `${await figure(page, 'mean')} for ${first.share}`);
  assert.ok(Math.abs((await figure(page, 'peak')) - first.most_share) < 1e-9);
  assert.equal(await figure(page, 'peak-at'), first.most_at_ns);
  const call = await row(page).getByTestId('link-call').innerText();
  assert.ok(call.startsWith(`MPI_Isend ${first.call.place} `) && /^halo\.c:\d+$/.test(first.call.place), call);
  // Others can carry ten times as much, and hardly do.
  const means = await page.getByTestId('link-row').evaluateAll((rows) => rows.map((each) => Number(each.dataset.mean)));
  assert.ok(means.length > 1 && means.every((mean, i) => i === 0 || mean <= means[i - 1]) && means[1] < means[0] / 2, `${means}`);
  await page.screenshot({ path: join(pictures, 'links.png') });
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test('cells tell what they are, by colour and by words', async () => {
  const page = await shown('one', span(whole()));
  const peak = ((await figure(page, 'peak-at')) + 1) / there.told.simulated_ns;
  const { x, y } = await placeOf(page, 0, peak);
  const lightness = (x, y) =>
    page.locator('.links-plot').evaluate(
      (canvas, [x, y]) => {
        const box = canvas.getBoundingClientRect();
        const pixel = canvas.getContext('2d').getImageData((x - box.left) * (canvas.width / box.width), (y - box.top) * (canvas.height / box.height), 1, 1).data;
        return 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
      },
      [x, y],
    );
  const second = await placeOf(page, 1, peak);
  assert.ok((await lightness(x, y)) < (await lightness(second.x, second.y)) - 60, 'a busy link is much darker');
  await page.mouse.move(x + 1, y);
  const told = await page.getByTestId('links-tooltip').innerText();
  const share = `${((await figure(page, 'peak')) * 100).toFixed(1)} %`;
  for (const part of ['narrow', share, 'of 1.00 GB/s', 'MPI_Isend halo.c:']) assert.ok(told.includes(part), `${part} in ${told}`);
  assert.equal(await page.locator('.over-link').getAttribute('data-link'), 'narrow');
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test('the strip lies on the axis of the timeline and moves with it', async () => {
  let page = await shown('one', span(whole()));
  // The pointer's moment is marked in both.
  const box = await timeline(page).boundingBox();
  const x = box.x + GUTTER + 0.4 * (box.width - GUTTER);
  await page.mouse.move(x, box.y + box.height / 2);
  const cursor = await page.getByTestId('links-cursor').boundingBox();
  assert.ok(Math.abs(cursor.x - x) <= 1.5, `${cursor.x} for ${x}`);
  // The wheel zooms both at the pointer, and figures are those of what is left.
  const before = await figure(page, 'mean');
  const at = await placeOf(page, 0, 0.5);
  await page.mouse.move(at.x, at.y);
  await page.mouse.wheel(0, -900);
  await settled(page);
  const [from, to] = (await hash(page)).view.split('-').map(Number);
  const middle = there.told.simulated_ns / 2;
  assert.ok(to - from < 0.3 * there.told.simulated_ns && Math.abs((from + to) / 2 / middle - 1) < 0.05, `${from}-${to}`);
  assert.notEqual(await figure(page, 'mean'), before);
  // Within its busiest stretch, a link is as busy as it ever is.
  await page.close();
  const { most_at_ns, most_share } = there.told.links[0];
  page = await shown('one', `${span(whole())}&from=${most_at_ns + 1}&to=${most_at_ns + 1001}`);
  assert.ok(Math.abs((await page.locator('[data-link=narrow]').getAttribute('data-mean')) - most_share) < 1e-9);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test('a row chooses its call, its busiest stretch is shown on request', async () => {
  const page = await shown('one', span(whole()));
  const site = await row(page).getAttribute('data-site');
  await row(page).click();
  assert.equal((await hash(page)).sites, site);
  await settled(page);
  await row(page).click();
  assert.equal((await hash(page)).sites, undefined);
  const at = await figure(page, 'peak-at');
  await row(page).locator('button').click();
  const { view, sites } = await hash(page);
  const [from, to] = view.split('-').map(Number);
  assert.ok(from <= at && at < to && to - from < there.told.simulated_ns / 4, view);
  assert.equal(sites, undefined);
  // Figures stay those of what was looked at.
  await settled(page);
  assert.equal(await figure(page, 'peak-at'), at);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test('layers without links say so, and runs without have no such panel', async () => {
  let page = await shown('both');
  assert.equal(await page.getByTestId('links-strip').count(), 0);
  await page.getByText('No link data in this layer.').waitFor();
  await page.getByTestId('layer').selectOption('1');
  await row(page).waitFor();
  assert.equal(await row(page).getAttribute('data-link'), 'narrow');
  assert.deepEqual(page.wrong, []);
  await page.close();
  page = await open(browser, addresses.none, 'panel=links');
  await page.getByTestId('verdict').waitFor();
  assert.equal(await page.getByRole('tab', { name: 'Links' }).count(), 0);
  assert.ok(!page.asked.some((url) => url.includes('/api/links')));
  assert.deepEqual(page.wrong, []);
  await page.close();
});
