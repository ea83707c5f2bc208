// What all tests of the page need: recorded runs with known content, `kizami view` on them, and a browser.
// Looks for the command in KIZAMI, else where cargo puts it; for workloads and its own runs below KIZAMI_TEST_DIR.
import { chromium } from 'playwright-core';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const cache = process.env.KIZAMI_TEST_DIR ?? join(homedir(), '.cache/kizami');
const target = process.env.CARGO_TARGET_DIR ?? join(here, '../../target');
export const kizami = process.env.KIZAMI ?? join(target, 'release/kizami');
const workloads = (mpi) => join(cache, 'workloads', mpi);
const directory = mkdtempSync(join(tmpdir(), 'kizami-ui-'));
export const pictures = process.env.KIZAMI_PICTURES ?? join(directory, 'pictures');
mkdirSync(pictures, { recursive: true });
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

const environment = { ...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' };

/** Records a workload under Open MPI and gives the trace's path. */
export const record = (name, ranks, ...command) => recordWith([], name, ranks, ...command);
export function recordWith(options, name, ranks, ...command) {
  const trace = join(directory, `${name}.kz`);
  if (existsSync(trace)) return trace;
  const [program, ...rest] = command;
  const launcher = ['mpirun', '--oversubscribe', '--mca', 'mpi_yield_when_idle', '1', '-n', String(ranks)];
  execFileSync(kizami, ['record', '-o', trace, ...options, '--', ...launcher, join(workloads('openmpi'), program), ...rest], { env: environment, stdio: 'pipe' });
  return trace;
}

/** A copy of a trace that is kept with the tests of the command, where the viewer may keep its index. */
export function golden(name) {
  const trace = join(directory, `${name}.kz`);
  cpSync(join(here, '../../crates/show/cli/tests/golden/schema-1', `${name}.kz`), trace, { recursive: true });
  return trace;
}

/** Records a program with threads under Open MPI. */
export function recordOpenMp(program, ranks, threads) {
  const trace = join(directory, `${program}-openmp.kz`);
  const launcher = ['mpirun', '--oversubscribe', '--bind-to', 'none', '-n', String(ranks)];
  const path = join(workloads('openmp-gcc'), `${program}.openmpi`);
  execFileSync(kizami, ['record', '-o', trace, '--', ...launcher, path], { env: { ...environment, ...threads }, stdio: 'pipe' });
  return trace;
}

/** Records a workload under SimGrid's simulator, where it takes the same time however busy this machine is. */
export function simulate(name, ranks, program, ...rest) {
  const trace = join(directory, `${name}.kz`);
  const [platform, hosts] = ['xml', 'hosts'].map((end) => join(directory, `${name}.${end}`));
  writeFileSync(
    platform,
    `<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" radical="0-${ranks - 1}" suffix="" speed="1Gf" bw="125MBps" lat="100us"/>
</platform>
`,
  );
  writeFileSync(hosts, Array.from({ length: ranks }, (_, rank) => `node-${rank}\n`).join(''));
  const launcher = ['smpirun', '-platform', platform, '-hostfile', hosts, '-np', String(ranks), '--cfg=smpi/simulate-computation:no', '--log=root.thres:error'];
  execFileSync(kizami, ['record', '-o', trace, '--', ...launcher, join(workloads('smpi'), program), ...rest], { stdio: 'pipe' });
  return trace;
}

/** Has SimGrid play a run on another platform (its text, or a short form), and gives the trace and what the command said. */
export function playOn(trace, name, platform) {
  const file = join(directory, `${name}.xml`);
  if (platform.startsWith('<')) writeFileSync(file, platform);
  const output = join(directory, `${name}.kz`);
  const told = execFileSync(kizami, ['simgrid', trace, '--platform', platform.startsWith('<') ? file : platform, '-o', output, '--json'], { stdio: 'pipe' });
  return { trace: output, told: JSON.parse(told.toString()) };
}

/** Has the skeleton of a C workload run as so many ranks that are told by kinds, and gives the trace's path. What computation
    takes is learned from a run of four. */
export function pretend(name, ranks, ...rest) {
  const [trace, skeleton, program] = ['kz', 'skel', 'out'].map((end) => join(directory, `${name}-${ranks}.${end}`));
  const source = join(here, '../../workloads', `${name}.c`);
  const run = (...words) => execFileSync(kizami, ['skeleton', ...words], { stdio: 'pipe' });
  run('build', '-o', skeleton, '--', 'mpicc.openmpi', '-O2', '-g', '-o', program, source, '-lm');
  const like = record(`${name}-4`, 4, name, ...rest);
  run('run', skeleton, '--like', like, '--noise', 'none', '--ranks', String(ranks), '--kinds', 'yes', '-o', trace, '--', ...rest);
  return trace;
}

/** Makes a halo exchange of so many ranks up, as a trace, and gives its path. */
export function wideTrace(ranks, rounds) {
  const trace = join(directory, `wide-${ranks}.kz`);
  if (existsSync(trace)) return trace;
  const program = join(target, 'release/examples/wide_trace');
  if (!existsSync(program)) execFileSync('cargo', ['build', '--release', '-p', 'kizami-view', '--example', 'wide_trace'], { cwd: here, stdio: 'pipe' });
  execFileSync(program, [String(ranks), String(rounds), trace], { stdio: 'pipe' });
  return trace;
}

/** The calls of a trace, as the tables have them. */
export function events(trace) {
  const lines = execFileSync(kizami, ['events', '--json', '--limit', '0', trace], { maxBuffer: 1 << 28 }).toString().trim();
  return lines.split('\n').map((line) => JSON.parse(line));
}
export const report = (trace) => JSON.parse(execFileSync(kizami, ['report', '--json', trace]).toString());

/** Starts `kizami view` and gives its address, once it prints one. */
export function serve(...traces) {
  const child = spawn(kizami, ['view', '--no-open', ...traces], { stdio: ['ignore', 'pipe', 'pipe'] });
  const address = new Promise((resolve, reject) => {
    let said = '';
    const hear = (chunk) => {
      said += chunk;
      const found = /http:\/\/\S+token=[\w-]+/.exec(said);
      if (found) resolve(found[0]);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('exit', (code) => reject(new Error(`kizami view ended with ${code}:\n${said}`)));
    setTimeout(() => reject(new Error(`kizami view printed no address:\n${said}`)), 30_000).unref();
  });
  return { address, stop: () => child.kill() };
}

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--enable-unsafe-swiftshader'] });

/** Opens a page at a selection; whatever goes wrong on it is in `page.wrong`. */
export async function open(browser, address, hash = '', options = {}) {
  const page = await browser.newPage({ viewport: { width: 1366, height: 768 }, colorScheme: 'light', ...options });
  // Whoever shares this machine may keep it busy for a while; what is measured is measured by itself.
  page.setDefaultTimeout(120_000);
  page.wrong = [];
  page.asked = [];
  page.on('pageerror', (error) => page.wrong.push(error.message));
  page.on('console', (message) => /Content Security Policy|Refused to/.test(message.text()) && page.wrong.push(message.text()));
  page.on('request', (request) => page.asked.push(request.url()));
  await page.goto(`${address}#${hash}`);
  return page;
}

/** What the address says is chosen. The page writes it once the selection has rested. */
export async function hash(page) {
  // In the page's own time, so that its timers were served before, however busy the machine is.
  await page.evaluate(() => new Promise((done) => setTimeout(done, 250)));
  return Object.fromEntries(new URLSearchParams(new URL(page.url()).hash.slice(1)));
}

export const timeline = (page, id = 'timeline') => page.getByTestId(id);
/** Until the timeline shows all it can show of the window. */
export async function sharp(page, calls = false) {
  await page.waitForFunction((calls) => {
    const data = document.querySelector('[data-testid=timeline]')?.dataset;
    return data?.drawn === 'true' && data.sharp === 'true' && (!calls || Number(data.calls) > 0);
  }, calls);
}
/** Times between frames from now on, in milliseconds, sorted. */
export const frames = (page, n) =>
  page.evaluate(
    (n) =>
      new Promise((done) => {
        const times = [];
        let last = performance.now();
        const tick = (now) => {
          times.push(now - last);
          last = now;
          if (times.length < n) requestAnimationFrame(tick);
          else done(times.slice(2).sort((a, b) => a - b));
        };
        requestAnimationFrame(tick);
      }),
    n,
  );
export const part = (sorted, share) => sorted[Math.floor(sorted.length * share)];
/** Megabytes of the largest tab. What it shares with others (the browser's code) is not the tab's. */
export async function tabMemory(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const tabs = processInfo.filter((process) => process.type === 'renderer');
  return Math.max(...tabs.map((tab) => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${tab.id}/status`, 'utf8'))[1]) / 1000));
}
export const GUTTER = 58;
export const RULER = 24;
/** Where a moment of a rank is on the screen, for windows given in the hash and rows that are fitted. */
export async function place(page, window, ranks, ns, rank) {
  const box = await timeline(page).boundingBox();
  const height = Math.min(160, (box.height - RULER) / ranks);
  return {
    x: box.x + GUTTER + ((ns - window.from) / (window.to - window.from)) * (box.width - GUTTER),
    y: box.y + RULER + (rank + 0.5) * height,
  };
}
