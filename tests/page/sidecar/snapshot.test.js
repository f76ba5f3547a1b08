// SPDX-License-Identifier: Apache-2.0
// The page of a snapshot, after its sidecar has gone.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {axeViolations, openPage, sees, text, useBrowser} from '../harness.js';
import {Load, Sidecar, configOf, startPage, startService, takeSnapshot} from '../programs.js';

useBrowser();

test('a snapshot is shown as its sidecar was, and says that nothing goes on', async (t) => {
  const service = await startService(t);
  const sidecar = await Sidecar.start(t, configOf({
    upstreams: [{name: 'cart', endpoints: [service.address]},
                {name: 'bank', endpoints: ['127.0.0.1:1']}],
    routes: [{match: {method: '/bank.*'}, upstream: 'bank'}, {upstream: 'cart'}],
  }));
  const load = new Load(t, sidecar.calls, 40);
  load.rescued = 0.5;
  const live = await openPage(t, sidecar.url);
  await live.page.goto(sidecar.url);
  await sees(live.page, '#calls summary', 'retried once after UNAVAILABLE');
  load.stop();
  const file = await takeSnapshot(t, sidecar.admin);
  await sidecar.kill();

  const {url} = await startPage(t, file);
  const {page, faults} = await openPage(t, url);
  await page.goto(url);
  await sees(page, '.banner[data-kind="info"]', 'This is a snapshot of 2');
  await sees(page, '#pulse[data-state="paused"]', /snapshot of \d\d:\d\d:\d\d/);
  await sees(page, '#calls summary', 'retried once after UNAVAILABLE');
  await sees(page, '#endpoints', service.address);
  const calls = await text(page, '#calls');
  await page.waitForResponse(/state\?since=[1-9]/);
  await page.waitForResponse(/state\?since=[1-9]/);  // What came of the first has been shown.
  assert.equal(await text(page, '#calls'), calls);
  await page.locator('#upstreams tbody tr', {hasText: 'bank'}).click();
  await sees(page, '#selected-title', 'bank');
  assert.deepEqual(await axeViolations(page), []);
  assert.deepEqual(faults, []);
});
