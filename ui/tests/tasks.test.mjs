// Tasks in virtual time: four windows that are linked, and their figures are those of `kizami tasks`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { hash, kizami, launch, open, pictures, recordOpenMp, serve } from './setup.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const RUNS = { reverse: 'numbers(30, L), naive(L, R)', best_path: 'best_path(a, h, Cost, Path)' };
const traces = {};
const told = {};
const addresses = {};
const servers = [];
let browser, folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kizami-tasks-'));
  for (const [name, query] of Object.entries(RUNS)) {
    traces[name] = join(folder, `${name}.kz`);
    execFileSync(kizami, ['fleng', join(here, '../../workloads/fleng', `${name}.fl`), query, '-o', traces[name]], { stdio: 'pipe' });
    told[name] = JSON.parse(execFileSync(kizami, ['tasks', '--json', '--processors', '4,8,16', traces[name]]).toString());
    const server = serve(traces[name]);
    servers.push(server);
    addresses[name] = await server.address;
  }
  browser = await launch();
});
after(async () => {
  await browser?.close();
  servers.forEach((server) => server.stop());
  rmSync(folder, { recursive: true, force: true });
});

/** Opens the page; errors that are only said to the console count as well. */
async function windows(name, hash = '', options = {}) {
  const page = await open(browser, addresses[name], hash, options);
  page.on('console', (message) => message.type() === 'error' && page.wrong.push(message.text()));
  await settled(page);
  return page;
}
/** Until all four windows have answers. */
async function settled(page) {
  await page.evaluate(() => new Promise((done) => setTimeout(done, 250)));
  await page.waitForFunction(() => {
    const found = ['task-curves', 'task-tree', 'task-flow', 'task-lengths'].map((id) => document.querySelector(`[data-testid=${id}]`));
    return found.every((each) => each && each.dataset.busy === 'false') && document.querySelector('[data-testid=tasks]').dataset.busy === 'false';
  });
}
const figure = async (page, id, name) => Number(await page.getByTestId(id).getAttribute(`data-${name}`));

for (const name of Object.keys(RUNS)) {
  test(`${name}: the page opens at the tasks, with the figures of the command`, async () => {
    const page = await windows(name);
    assert.equal(await page.getByTestId('timeline').count(), 0);
    assert.equal(await page.getByTestId('verdict').count(), 0);
    const { tasks, work, span, peak, places, processors } = told[name];
    for (const [key, value] of Object.entries({ tasks, work, span, peak, curves: 1 })) assert.equal(await figure(page, 'task-curves', key), value, key);
    // One column for each unit: the area is the work.
    assert.ok(Math.abs((await figure(page, 'task-curves', 'area')) - work) < 1e-3 * work);
    assert.equal(await figure(page, 'task-lengths', 'tasks'), tasks);
    assert.equal(await figure(page, 'task-lengths', 'work'), work);
    assert.equal(await page.getByTestId('lengths-row').count(), places.length);
    assert.equal(await page.getByTestId('flow-task').count(), Math.min(500, tasks));
    const roots = await page.getByTestId('tree-row').evaluateAll((rows) => rows.filter((row) => row.querySelector('.where').style.paddingLeft === '4px').map((row) => Number(row.children[2].innerText.replaceAll(',', ''))));
    assert.equal(roots.reduce((sum, each) => sum + each), work);
    for (const { processors: count, at_least, at_most, simulated } of processors) {
      await page.getByTestId('processor-count').fill(String(count));
      await page.waitForFunction((simulated) => document.querySelector('[data-testid=processors]').dataset.simulated === String(simulated), simulated);
      assert.equal(await figure(page, 'processors', 'at-least'), at_least);
      assert.equal(await figure(page, 'processors', 'at-most'), at_most);
    }
    await page.screenshot({ path: join(pictures, `tasks-${name}.png`) });
    assert.deepEqual(page.wrong, []);
    await page.close();
  });
}

test('markers act on all windows', async () => {
  const page = await windows('reverse');
  const plot = await page.locator('.curves-plot .u-over').boundingBox();
  await page.mouse.move(plot.x + plot.width * 0.65, plot.y + 60);
  await page.mouse.down();
  await page.mouse.move(plot.x + plot.width * 0.8, plot.y + 70, { steps: 5 });
  await page.mouse.up();
  await settled(page);
  const { marks } = await hash(page);
  const [from, to] = marks.split('-').map(Number);
  assert.ok(Math.abs(from - 0.65 * 366) < 3 && Math.abs(to - 0.8 * 366) < 3, marks);
  const between = Number(await page.getByTestId('curve').first().getAttribute('data-marked'));
  assert.ok(between > 0 && between < told.reverse.work);
  assert.equal(await figure(page, 'task-lengths', 'work'), between);
  const few = await figure(page, 'task-lengths', 'tasks');
  assert.ok(few > 0 && few < told.reverse.tasks);
  assert.equal(await figure(page, 'task-flow', 'of'), few);
  // Typed markers, and none again.
  await page.getByTestId('mark-to').fill('366');
  await page.getByTestId('mark-to').press('Enter');
  await settled(page);
  assert.ok((await figure(page, 'task-lengths', 'tasks')) > few);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
  await settled(page);
  assert.equal(await figure(page, 'task-lengths', 'tasks'), told.reverse.tasks);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test('a row of the tree, a task and a place are drawn as curves, which can be aligned', async () => {
  const page = await windows('best_path');
  const row = page.getByTestId('tree-row').nth(3);
  const part = await row.getAttribute('data-part');
  await row.click();
  await settled(page);
  assert.equal(await figure(page, 'task-curves', 'curves'), 2);
  const curve = page.locator(`[data-testid=curve][data-part=${part}]`);
  const work = Number(await curve.getAttribute('data-work'));
  assert.ok(work > 0 && work < told.best_path.work);
  // The other windows are about it.
  assert.equal(await figure(page, 'task-lengths', 'work'), work);
  assert.equal((await hash(page)).parts, part);

  // By keys: focus the flow, go to a task, choose it.
  await page.locator('.flow-body').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.getByTestId('flow-over').waitFor();
  await page.keyboard.press('Enter');
  await settled(page);
  assert.equal(await figure(page, 'task-curves', 'curves'), 3);
  await page.getByTestId('lengths-row').first().click();
  await settled(page);
  assert.equal(await figure(page, 'task-curves', 'curves'), 4);
  await page.screenshot({ path: join(pictures, 'tasks-parts.png') });

  await page.getByTestId('align').check();
  await settled(page);
  assert.equal((await hash(page)).aligned, '1');
  await page.keyboard.press('t');
  await page.screenshot({ path: join(pictures, 'tasks-aligned-dark.png') });
  // The same row takes its curve away again.
  await page.locator(`[data-testid=tree-row][data-part=${part}]`).click();
  await settled(page);
  assert.equal(await page.locator(`[data-testid=curve][data-part=${part}]`).count(), 0);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test('an address shows what its sender saw', async () => {
  const page = await windows('best_path', 'marks=60-72&parts=n8&processors=16&strategy=longest', { colorScheme: 'dark' });
  assert.equal(await figure(page, 'task-curves', 'curves'), 2);
  assert.equal(await page.getByTestId('mark-from').inputValue(), '60');
  assert.equal(await page.getByTestId('strategy').inputValue(), 'longest');
  const box = page.getByTestId('flow-task').first();
  await box.hover();
  await page.getByTestId('flow-over').getByText('best_path.fl').waitFor();
  await page.screenshot({ path: join(pictures, 'tasks-dark.png') });
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test('of a hybrid program, tasks of any rank are shown, and given out as its runtime does', async () => {
  // Under Open MPI, with threads; a rank's tasks differ from those of the other.
  const trace = recordOpenMp('hybrid', 2, { OMP_NUM_THREADS: '4' });
  const command = (...rest) => JSON.parse(execFileSync(kizami, ['tasks', '--json', '--processors', '8', ...rest, trace]).toString());
  const server = serve(trace);
  servers.push(server);
  addresses.hybrid = await server.address;
  const page = await windows('hybrid', 'page=tasks');
  const first = command('--rank', '0');
  assert.equal(await figure(page, 'task-curves', 'work'), first.work);
  assert.equal(await page.getByTestId('processors').getAttribute('data-strategy'), 'gnu');
  assert.equal(await figure(page, 'processors', 'simulated'), first.processors[0].simulated);
  assert.deepEqual(await page.locator('[data-testid=strategy] option').count(), 6);
  await page.getByTestId('task-rank').fill('1');
  await page.getByTestId('task-rank').press('Enter');
  await settled(page);
  const second = command('--rank', '1', '--strategy', 'longest');
  assert.notEqual(second.work, first.work);
  assert.equal(await figure(page, 'task-curves', 'work'), second.work);
  assert.equal((await hash(page)).task_rank, '1');
  await page.getByTestId('strategy').selectOption('longest');
  await settled(page);
  assert.equal(await page.getByTestId('processors').getAttribute('data-strategy'), 'longest');
  assert.equal(await figure(page, 'processors', 'simulated'), second.processors[0].simulated);
  await page.screenshot({ path: join(pictures, 'tasks-hybrid.png') });
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test('the page stays small', () => {
  const assets = join(here, '../../crates/show/view/assets');
  const bytes = readdirSync(assets).reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name))).length, 0);
  assert.ok(bytes < 400_000, `${bytes}`);
});
