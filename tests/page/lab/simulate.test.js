// SPDX-License-Identifier: Apache-2.0
// The file that `levee simulate --html` writes, in a browser. With UPDATE_SCREENSHOT=1 it leaves the
// picture of docs/simulate.md in docs/images/simulate.png.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

import {useBrowser} from '../harness.js';
import {SCREENS, assertLegible, assertReadable, assertWithinFrames, openReport} from '../report.js';

useBrowser();

const PICTURE = process.env.UPDATE_SCREENSHOT
    ? fileURLToPath(new URL('../../../docs/images/simulate.png', import.meta.url)) : null;
const WORDS = ['simulate', 'config/scenarios/hotos21-metastable.yaml'];

for (const [screen, options] of Object.entries(SCREENS)) {
  test(`L6: ${screen}: no complaint, no request, nothing cut off, accessible`, async (t) => {
    await assertReadable(await openReport(t, WORDS, options), `simulate-${screen}`);
  });
}

test('L6: letters of the pictures are large enough to read on a narrow screen', async (t) => {
  await assertLegible((await openReport(t, WORDS, SCREENS.narrow)).page);
});

// A scenario that runs fast, since the map runs it for each of its cells.
const MAP = ['simulate', 'tests/page/lab/storm.yaml', '--map', 'load,capacity'];

for (const [screen, options] of Object.entries(SCREENS)) {
  test(`L6: ${screen}: the stability map is legible, and nothing of it is cut off`, async (t) => {
    const opened = await openReport(t, MAP, options);
    await assertReadable(opened, `simulate-map-${screen}`);
    await assertWithinFrames(opened.page);
    await assertLegible(opened.page);
    assert.equal(await opened.page.locator('rect.recovered, rect.slow, rect.stuck').count(),
                 2 * (80 + 3));  // Two rules, each with a legend.
  });
}

test('L6: the table of shadow policies can be read on a narrow screen', async (t) => {
  const words = ['simulate', 'config/scenarios/one-bad-endpoint.yaml', '--config',
                 'tests/page/lab/shadow.yaml'];
  const opened = await openReport(t, words, SCREENS.narrow);
  assert.equal(await opened.page.locator('section', {hasText: 'Shadow policies'}).count(), 1);
  await assertReadable(opened, 'simulate-shadow');
});

test('each picture has its curves within its frame, and the trouble behind them', async (t) => {
  const {page} = await openReport(t, WORDS, SCREENS.light);
  await assertWithinFrames(page);
  const shaded = await page.locator('svg .trouble').evaluateAll(
      (parts) => parts.map((part) => part.getBoundingClientRect().width));
  assert.equal(shaded.length, 4);  // Three rules and the queue.
  assert.ok(Math.min(...shaded) > 2);
  if (PICTURE) {
    await page.locator('section', {hasText: 'Second by second'}).screenshot({path: PICTURE});
  }
});
