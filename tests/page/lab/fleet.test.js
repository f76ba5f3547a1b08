// SPDX-License-Identifier: Apache-2.0
// The file that `levee fleet --html` writes, in a browser. With UPDATE_SCREENSHOT=1 it leaves the
// picture of docs/fleet.md.
import assert from 'node:assert/strict';
import {createServer} from 'node:http';
import {before, test} from 'node:test';
import {fileURLToPath} from 'node:url';

import {useBrowser} from '../harness.js';
import {SCREENS, assertLegible, assertReadable, assertWithinFrames, openReport} from '../report.js';

useBrowser();

const PICTURE = process.env.UPDATE_SCREENSHOT
    ? fileURLToPath(new URL('../../../docs/images/fleet.png', import.meta.url)) : null;

// The calls of each application: to whom, how many, attempts of them, and retries in a loop.
const FLEET = {
  web: [['orders', 1000, 1020, 0], ['search', 400, 400, 0]],
  search: [['index', 400, 400, 0], ['a-service-with-a-long-name', 40, 40, 0]],
  orders: [['cart', 2900, 2900, 1900], ['stock', 1000, 1010, 0], ['payments', 300, 300, 0]],
  cart: [['db', 2900, 2900, 0]],
  stock: [['db', 1010, 1010, 0]],
};
// How many calls come to the first.
const SERVED = {web: 1400};

function metricsOf(application) {
  const lines = ['levee_build_info{version="1"} 1', 'process_start_time_seconds 1'];
  for (const [to, calls, attempts, loops] of FLEET[application]) {
    lines.push(`levee_call_attempts_count{upstream="${to}"} ${calls}`,
               `levee_attempts_total{upstream="${to}"} ${attempts}`,
               `levee_retries_total{upstream="${to}",trigger="status"} ${attempts - calls}`,
               `levee_app_retries_total{upstream="${to}",action="admitted",seen_by="loop"} ${loops}`);
  }
  if (application in SERVED) {
    lines.push(`levee_guard_arrivals_total{upstream="app",attempt="0"} ${SERVED[application]}`);
  }
  return `${lines.join('\n')}\n`;
}

const words = ['fleet', '--since-start'];

before(async () => {
  for (const application of Object.keys(FLEET)) {
    const server = createServer((request, answer) => answer.end(metricsOf(application)));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    server.unref();
    words.push(`${application}=127.0.0.1:${server.address().port}`);
  }
});

const open = (t, options) => openReport(t, words, options, 1);  // A layer multiplies.

for (const [screen, options] of Object.entries(SCREENS)) {
  test(`${screen}: no complaint, no request, nothing cut off, accessible`, async (t) => {
    const opened = await open(t, options);
    await assertReadable(opened, `fleet-${screen}`);
    await assertWithinFrames(opened.page);
    await assertLegible(opened.page);
  });
}

test('what multiplies stands out, each edge has a bar, and no letters overlap', async (t) => {
  const {page} = await open(t, SCREENS.narrow);
  assert.equal(await page.locator('rect.stuck').count(), 1);
  assert.equal(await page.locator('rect.slow').count(), 9);  // Callers outside are one.
  const texts = await page.locator('svg text').evaluateAll(
      (parts) => parts.map((part) => part.getBoundingClientRect().toJSON()));
  for (const one of texts) {
    for (const other of texts) {
      if (one === other) continue;
      assert.ok(one.right <= other.left || other.right <= one.left ||
                one.bottom <= other.top + 2 || other.bottom <= one.top + 2);
    }
  }
  if (PICTURE) {
    await page.locator('section', {hasText: 'Call graph'}).screenshot({path: PICTURE});
  }
});
