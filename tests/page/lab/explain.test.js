// SPDX-License-Identifier: Apache-2.0
// The file that `levee explain --html` writes, in a browser: it opens from disk, loads nothing, and
// everybody can read it.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';

import {SCREENSHOTS, axeViolations, openPage, useBrowser} from '../harness.js';

useBrowser();

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const LEVEE = process.env.LEVEE_BINARY ?? `${ROOT}build/levee`;

const PRESETS = 'config/examples/presets.yaml';
const SCREENS = {
  dark: {colorScheme: 'dark'},
  light: {colorScheme: 'light'},
  narrow: {colorScheme: 'light', viewport: {width: 400, height: 780}},
};
const CALLS = {
  retries: [PRESETS, '--authority', 'ethernet.example:443', '--deadline', '1s'],
  rules: [PRESETS, '--authority', 'outcome.example:443'],
  guard: ['config/examples/guard.yaml', '--listener', 'ingress'],
};

// Opens what Levee explains.
async function explain(t, words, options) {
  const folder = mkdtempSync(`${tmpdir()}/levee-explain-`);
  t.after(() => rmSync(folder, {recursive: true}));
  const file = `${folder}/out.html`;
  execFileSync(LEVEE, ['explain', ...words, '--html', file], {cwd: ROOT});
  const url = pathToFileURL(file).href;
  const opened = await openPage(t, url, options);
  await opened.page.goto(url);
  return opened;
}

for (const [screen, options] of Object.entries(SCREENS)) {
  for (const [name, words] of Object.entries(CALLS)) {
    test(`${name}, ${screen}: no complaint, no request, nothing cut off, accessible`, async (t) => {
      const {page, faults} = await explain(t, words, options);
      await page.screenshot({path: `${SCREENSHOTS}explain-${name}-${screen}.png`, fullPage: true});
      assert.deepEqual(await axeViolations(page), []);
      const [content, window] = await page.evaluate(
          () => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(content <= window, `${content} of ${window} pixels`);
      assert.deepEqual(faults.filter((fault) => fault !== 'asked for data:,'), []);
    });
  }
}

test('letters of the pictures are large enough to read on a narrow screen', async (t) => {
  const {page} = await explain(t, CALLS.retries, SCREENS.narrow);
  const heights = await page.locator('svg text').evaluateAll(
      (texts) => texts.map((text) => text.getBoundingClientRect().height));
  assert.ok(heights.length > 15);
  assert.ok(Math.min(...heights) >= 10, `${Math.min(...heights)} pixels`);
});

test('each picture has its bars and dots within its frame', async (t) => {
  const {page} = await explain(t, CALLS.retries, SCREENS.light);
  const outside = await page.evaluate(() => [...document.querySelectorAll('svg')].flatMap((svg) => {
    const frame = svg.getBoundingClientRect();
    return [...svg.children].map((part) => part.getBoundingClientRect()).filter(
        (part) => part.left < frame.left - 1 || part.right > frame.right + 1 ||
                  part.top < frame.top - 1 || part.bottom > frame.bottom + 1);
  }));
  assert.deepEqual(outside, []);
});
