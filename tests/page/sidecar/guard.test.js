// SPDX-License-Identifier: Apache-2.0
// An overload of a service behind a real guard, as the page shows it.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import grpc from '@grpc/grpc-js';

import {SCREENSHOTS, axeViolations, openPage, sees, useBrowser} from '../harness.js';
import {Load, Sidecar, configOf, startService} from '../programs.js';

useBrowser();

const guarded = (service, slots) => configOf({
  listeners: [{name: 'ingress', address: '127.0.0.1:0', direction: 'inbound'}],
  upstreams: [{name: 'app', endpoints: [service]}],
  routes: [{match: {listener: 'ingress'}, upstream: 'app', policy: 'protect'}],
  policies: [{name: 'protect', guard: {concurrency: {limit: slots}, queue: {max: 0}}}],
});

// A call that is never answered: it holds its slot for as long as the test runs.
function occupy(t, address) {
  const client = new grpc.Client(address, grpc.credentials.createInsecure());
  const same = (bytes) => bytes;
  const call = client.makeUnaryRequest('/shop.Cart/Sleep', same, same, Buffer.from('x'), () => {});
  t.after(() => { call.cancel(); client.close(); });
}

test('an overload of a guarded service, and a reload: facts, charts and calls tell of it',
     async (t) => {
  const service = await startService(t);
  const sidecar = await Sidecar.start(t, guarded(service.address, 1));
  const {page, faults} = await openPage(t, sidecar.url, {viewport: {width: 400, height: 900}});
  await page.goto(sidecar.url);
  await sees(page, '#guard-facts', 'The service works on 0 calls of at most 1; 0 wait.');
  await sees(page, '#guard-facts', 'It refuses nothing.');

  occupy(t, sidecar.calls);
  await sees(page, '#guard-facts', 'works on 1 call of at most 1');
  const load = new Load(t, sidecar.calls, 40);
  await sees(page, '.verdict[data-severity="alarm"]', 'guard refuses');
  await sees(page, '.verdict', '1 slot taken, no more may wait');
  await sees(page, '#guard-facts', 'because no slot is free and no more may wait');
  await sees(page, '#upstreams td', /0% callers\s*– attempts/);
  await sees(page, '#refusals li', 'the guard');
  await sees(page, '#calls summary', 'refused by the guard');
  assert.equal(await page.locator('#guard-charts canvas:first-of-type').count(), 3);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 400);
  await page.screenshot({path: `${SCREENSHOTS}guard-narrow.png`, fullPage: true});
  assert.deepEqual(await axeViolations(page), []);
  await page.setViewportSize({width: 1280, height: 900});
  await page.screenshot({path: `${SCREENSHOTS}guard-wide.png`, fullPage: true});

  load.stop();
  sidecar.configure(JSON.stringify(guarded(service.address, 5)));
  await sees(page, '.banner[data-kind="info"]', 'The configuration has changed');
  // The slot of the guard before counts until its call ends.
  await sees(page, '#guard-facts', 'works on 1 call of at most 6');
  assert.deepEqual(faults, []);
});
