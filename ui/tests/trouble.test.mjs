// What may go wrong: names that look like markup, runs with nothing to show, a server that is gone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, open, pictures, record, serve, sharp } from './setup.mjs';

let browser, directory;
before(async () => {
  browser = await launch();
  directory = mkdtempSync(join(tmpdir(), 'kizami-ui-trouble-'));
});
after(async () => {
  await browser?.close();
  rmSync(directory, { recursive: true, force: true });
});
async function on(traces, use) {
  const server = serve(...traces);
  try {
    await use(await server.address, server);
  } finally {
    server.stop();
  }
}
const picture = (page, name) => page.screenshot({ path: join(pictures, `${name}.png`) });

test('names are text, whatever they look like', async () => {
  const plain = record('alone', 1, 'allreduce', '20', '4');
  const evil = join(directory, '<img src=x onerror=document.title=1>.kz');
  cpSync(plain, evil, { recursive: true });
  await on([evil], async (address) => {
    const page = await open(browser, address);
    let dialogs = 0;
    page.on('dialog', (dialog) => {
      dialogs++;
      void dialog.dismiss();
    });
    await sharp(page);
    assert.equal(await page.locator('img').count(), 0);
    assert.match(await page.locator('header').innerText(), /<img src=x/);
    assert.notEqual(await page.title(), '1');
    assert.equal(dialogs, 0);
    assert.deepEqual(page.wrong, []);
    await page.close();
  });
});

test('one rank without messages shows something sensible everywhere', async () => {
  await on([record('alone', 1, 'allreduce', '20', '4')], async (address) => {
    const page = await open(browser, address, 'panel=matrix');
    await page.getByText('No messages here.').waitFor();
    await page.keyboard.press('5');
    await page.getByText('No call selected.').waitFor();
    await page.keyboard.press('6');
    await page.getByText('No run selected for comparison.').waitFor();
    await picture(page, 'alone');
    await page.keyboard.press('1');
    await page.getByText('parallel efficiency').waitFor();
    await page.getByText('No findings.').waitFor();
    assert.deepEqual(page.wrong, []);
    await page.close();
  });
});

test('a wrong token, a wrong selection and a server that is gone are told', async () => {
  await on([record('alone', 1, 'allreduce', '20', '4')], async (address, server) => {
    const wrong = await open(browser, address);
    await sharp(wrong);
    const answer = await wrong.goto(address.replace(/token=[\w-]+/, 'token=wrong'));
    assert.equal(answer.status(), 401);
    assert.match(await wrong.locator('body').innerText(), /token/);
    await wrong.close();
    const odd = await open(browser, address, 'view=9-3&layer=77&from=x&to=-1&ranks=a-b&sites=-&panel=none&event=zzz&height=1e9');
    await sharp(odd);
    assert.deepEqual(odd.wrong, []);
    server.stop();
    await odd.waitForTimeout(200);
    for (const key of ['w', 'w', 'w', 'w']) await odd.keyboard.press(key);
    await odd.getByText('The server does not answer.').first().waitFor();
    await picture(odd, 'gone');
    await odd.close();
  });
});
