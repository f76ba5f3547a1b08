// SPDX-License-Identifier: Apache-2.0
// How the page looks in light colours, and what does not depend on the screen.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {testAppearance, unfold} from '../appearance.js';
import {stage, useBrowser} from '../harness.js';
import * as states from '../states.js';

useBrowser();
testAppearance('light', ['calm', 'storm', 'guarded', 'many', 'troubled', 'hostile', 'empty']);

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
