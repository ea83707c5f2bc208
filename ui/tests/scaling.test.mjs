// What was foretold for more ranks stands beside the run: a curve with its interval, the recorded runs on it, and where
// the time goes.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { kizami, launch, open, pictures, serve, simulate } from './setup.mjs';

let browser, runs, folder, foretold;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kizami-scaling-'));
  runs = [2, 4, 8].map((ranks) => simulate(`scaling-${ranks}`, ranks, 'told_work', '256', '4'));
  const text = execFileSync(kizami, ['predict', ...runs, '--ranks', '2,4,8,16,64', '--json']).toString();
  writeFileSync(join(folder, 'foretold.json'), text);
  foretold = JSON.parse(text);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('a prediction stands beside the run', async () => {
  const server = serve('--prediction', join(folder, 'foretold.json'), runs[1]);
  const page = await open(browser, await server.address, 'panel=scaling');
  const panel = page.getByTestId('scaling');
  await panel.waitFor();
  assert.equal(await panel.getAttribute('data-points'), '5');
  // One point for each number of ranks and one ring for each recorded run, in both charts of lines; this run's is filled.
  assert.equal(await panel.locator('circle.scaling-point').count(), 10);
  assert.equal(await panel.locator('circle.scaling-run').count(), 6);
  assert.equal(await panel.locator('circle.scaling-this').count(), 2);
  assert.equal(await panel.locator('polygon.scaling-band').count(), 2);
  for (const name of ['computation', 'waiting', 'transfer']) assert.equal(await panel.locator(`polygon.scaling-${name}`).count(), 1);
  const rows = await panel.locator('tbody tr').allInnerTexts();
  assert.deepEqual(
    rows.map((row) => row.split('\t')[0]),
    foretold.points.map((point) => String(point.ranks)),
  );
  // Times fall to the left of the interval's upper end: higher on the page is longer.
  const heights = await panel.locator('svg[aria-label="time over ranks"] circle.scaling-point').evaluateAll((all) => all.map((each) => Number(each.getAttribute('cy'))));
  const longest = foretold.points.reduce((most, point, i) => (point.time_s > foretold.points[most].time_s ? i : most), 0);
  assert.equal(heights.indexOf(Math.min(...heights)), longest);
  await page.screenshot({ path: join(pictures, 'scaling.png') });
  assert.deepEqual(page.wrong, []);
  await page.close();
  server.stop();
});

test('without a prediction the panel says how to get one', async () => {
  const server = serve(runs[1]);
  const page = await open(browser, await server.address, 'panel=scaling');
  await page.getByText('No prediction loaded.').waitFor();
  await page.getByText('kizami view --prediction').waitFor();
  assert.deepEqual(page.wrong, []);
  await page.close();
  server.stop();
});
