// SPDX-License-Identifier: Apache-2.0
// How the page looks in every state: readable by all, within its width, without a complaint. Each screen
// has a test file of its own, so that they run beside each other.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {SCREENSHOTS, axeViolations, stage} from './harness.js';
import * as states from './states.js';

const SCREENS = {
  dark: {colorScheme: 'dark'},
  light: {colorScheme: 'light'},
  narrow: {colorScheme: 'light', viewport: {width: 360, height: 780}},
};

// Everything that unfolds, so that it is looked at as well.
export async function unfold(page) {
  for (const part of ['#numbers', '#calls li:first-child']) {
    const summary = page.locator(`${part} summary:visible`);
    if (await summary.count() > 0) await summary.click();
  }
}

// Makes a test of each of these states on that screen.
export function testAppearance(screen, names) {
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
