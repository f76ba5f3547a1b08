// SPDX-License-Identifier: Apache-2.0
// The files that `levee explain`, `simulate`, `replay` and `fleet` write with --html, in a browser.
import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {after} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';

import {SCREENSHOTS, axeViolations, openPage} from './harness.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LEVEE = process.env.LEVEE_BINARY ?? `${ROOT}build/levee`;

export const SCREENS = {
  dark: {colorScheme: 'dark'},
  light: {colorScheme: 'light'},
  narrow: {colorScheme: 'light', viewport: {width: 400, height: 780}},
};

// Runs the command `levee WORDS...`, which is to end with `exit`.
async function runLevee(words, exit) {
  const code = await new Promise((resolve) => {
    execFile(LEVEE, words, {cwd: ROOT}, (error) => resolve(error?.code ?? 0));
  });
  assert.equal(code, exit);
}

const folder = mkdtempSync(`${tmpdir()}/levee-report-`);
after(() => rmSync(folder, {recursive: true}));
const written = new Map();  // A promise of the file of each command.

async function write(words, exit) {
  const file = `${folder}/${written.size}.html`;
  const command = words.join(' ');
  if (!written.has(command)) {
    written.set(command, runLevee([...words, '--html', file], exit).then(() => file));
  }
  return written.get(command);
}

// Opens from disk what the command `levee WORDS...` writes, which is to end with `exit`. It runs once for
// all tests of a file: what it writes depends on its words alone.
export async function openReport(t, words, options, exit = 0) {
  const url = pathToFileURL(await write(words, exit)).href;
  const opened = await openPage(t, url, options);
  await opened.page.goto(url);
  return opened;
}

// The report has no complaint in the console, asks for nothing, cuts nothing off, and everybody can
// read it. Leaves a screenshot of that name.
export async function assertReadable({page, faults}, name) {
  await page.screenshot({path: `${SCREENSHOTS}${name}.png`, fullPage: true});
  assert.deepEqual(await axeViolations(page), []);
  const [content, window] = await page.evaluate(
      () => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= window, `${content} of ${window} pixels`);
  assert.deepEqual(faults.filter((fault) => fault !== 'asked for data:,'), []);
}

export async function assertLegible(page) {
  const heights = await page.locator('svg text').evaluateAll(
      (texts) => texts.map((text) => text.getBoundingClientRect().height));
  assert.ok(heights.length > 15);
  assert.ok(Math.min(...heights) >= 10, `${Math.min(...heights)} pixels`);
}

export async function assertWithinFrames(page) {
  const outside = await page.evaluate(() => [...document.querySelectorAll('svg')].flatMap((svg) => {
    const frame = svg.getBoundingClientRect();
    return [...svg.children].map((part) => part.getBoundingClientRect()).filter(
        (part) => part.left < frame.left - 1 || part.right > frame.right + 1 ||
                  part.top < frame.top - 1 || part.bottom > frame.bottom + 1);
  }));
  assert.deepEqual(outside, []);
}
