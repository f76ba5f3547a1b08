// SPDX-License-Identifier: Apache-2.0
// How the page looks in every state: readable by all, within its width, without a complaint.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {SCREENSHOTS, axeViolations, stage, useBrowser} from '../harness.js';
import * as states from '../states.js';

useBrowser();

const SCREENS = {
  dark: {colorScheme: 'dark'},
  light: {colorScheme: 'light'},
  narrow: {colorScheme: 'light', viewport: {width: 360, height: 780}},
};

// Everything that unfolds, so that it is looked at as well.
async function unfold(page) {
  for (const part of ['#numbers', '#calls li:first-child']) {
    const summary = page.locator(`${part} summary:visible`);
    if (await summary.count() > 0) await summary.click();
  }
}

const SHOWN = {
  dark: ['calm', 'storm', 'guarded', 'troubled'],
  light: ['calm', 'storm', 'guarded', 'many', 'troubled', 'hostile', 'empty'],
  narrow: ['storm', 'guarded', 'many', 'hostile', 'empty'],
};

for (const [screen, names] of Object.entries(SHOWN)) {
  for (const name of names) {
    test(`${name}, ${screen}: no complaint, nothing cut off, accessible`, async (t) => {
      const {page, faults} = await stage(t, states[name], SCREENS[screen]);
      await page.screenshot({path: `${SCREENSHOTS}${name}-${screen}.png`, fullPage: true});
      await unfold(page);
      await page.clock.resume();  // axe waits by timers.
      assert.deepEqual(await axeViolations(page), []);
      const [content, window] = await page.evaluate(
          () => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(content <= window, `${content} of ${window} pixels`);
      assert.deepEqual(faults, []);
    });
  }
}

test('markup from outside stays text', async (t) => {
  const {page} = await stage(t, states.hostile);
  await unfold(page);
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
  assert.equal(await page.locator('main img, main script').count(), 0);
  const shown = await page.locator('.verdict').innerText();
  assert.match(shown, /<img src=x onerror="window.hacked = true">/);
});

test('charts take the colours of the other scheme as it changes', async (t) => {
  const {page} = await stage(t, states.storm, {colorScheme: 'light'});
  const light = await page.evaluate(() => document.querySelector('canvas').toDataURL());
  await page.emulateMedia({colorScheme: 'dark'});
  await page.waitForFunction(
      (before) => document.querySelector('canvas').toDataURL() !== before, light);
});
