// SPDX-License-Identifier: Apache-2.0
// How the page asks, and what it says when there is no answer or another configuration.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Stage, flat, sees, stage, text, useBrowser} from '../harness.js';
import * as states from '../states.js';

useBrowser();

const setHidden = (page, hidden) => page.evaluate((value) => {
  Object.defineProperty(document, 'hidden', {value, configurable: true});
  document.dispatchEvent(new Event('visibilitychange'));
}, hidden);

test('it asks once a second for what is new, and posts nothing', async (t) => {
  const scene = await stage(t, states.storm);
  await scene.pass(3);
  assert.deepEqual(scene.stub.polls, [0, 400, 401, 402]);
  assert.equal(scene.stub.posted, 0);
});

test('a hidden page asks nothing, and at once as it is seen again', async (t) => {
  const scene = await stage(t, states.storm);
  await setHidden(scene.page, true);
  await scene.page.clock.runFor(10_000);
  assert.deepEqual(scene.stub.polls, [0]);
  assert.equal(await text(scene.page, '#pulse'), 'paused');
  const asked = scene.stub.nextPoll();
  await setHidden(scene.page, false);
  assert.equal(await asked, 400);
});

test('a sidecar that has gone is told with how long, and what it said is kept', async (t) => {
  const scene = await stage(t, states.storm);
  const verdict = await text(scene.page, '.verdict');
  await scene.stub.stop();
  await scene.page.clock.runFor(1000);
  await sees(scene.page, '#pulse[data-state="failing"]');
  await scene.page.clock.runFor(1000);
  await sees(scene.page, '.banner', 'No answer from the sidecar for 1 s. It cannot be reached. ' +
                                    'Everything below is of 22:20:00.');
  assert.equal(await text(scene.page, '.verdict'), verdict);
  assert.equal(await scene.page.title(), 'No answer · Levee');
});

test('a sidecar that answers again is shown as before', async (t) => {
  const scene = await stage(t, states.storm);
  scene.stub.state = () => 503;
  await scene.ask();
  await sees(scene.page, '.banner', 'It answered with HTTP status 503.');
  scene.show(states.storm);
  await scene.pass();
  assert.equal(await scene.page.locator('.banner').count(), 0);
  assert.equal(await scene.page.title(), 'Contained: cart · Levee');
});

test('a question without an answer is given up after three seconds, and asked again', async (t) => {
  const scene = await stage(t, states.storm);
  scene.stub.state = () => new Promise(() => {});
  await scene.ask();
  await scene.page.clock.runFor(2900);
  assert.equal(await scene.page.locator('.banner').count(), 0);
  await scene.page.clock.runFor(100);
  await sees(scene.page, '.banner', 'It did not answer within 3 s.');
  scene.show(states.storm);
  await scene.pass();
  assert.equal(await scene.page.locator('.banner').count(), 0);
});

test('a sidecar that never answered is told', async (t) => {
  const scene = await Stage.open(t, () => 503);
  await scene.load();
  await sees(scene.page, '.banner', 'Nothing has been heard from it yet.');
});

test('without calls it says where to point a client', async (t) => {
  const scene = await Stage.open(t, states.empty);
  scene.second = 3;
  await scene.load();
  assert.match(await text(scene.page, '.verdict'),
               /No calls yet: point a client at egress 127\.0\.0\.1:9460\.$/);
  assert.equal(await scene.page.locator('#selected').isVisible(), false);
});

test('upstreams that nobody has called for five minutes are no reason not to say it', async (t) => {
  const {page} = await stage(t, (second) => states.stateAt(second, {upstreams: [
    states.calmUpstream('cart', second, {samples: [], last_called: 0, verdict: 'no calls'})]}));
  assert.match(await text(page, '.verdict'), /No calls in the last five minutes: point a client/);
});

test('a restarted sidecar is told, and its charts start anew', async (t) => {
  const scene = await stage(t, states.storm);
  scene.second = 2;
  scene.show((second) => ({...states.calm(second), instance: 'b'}));
  await scene.ask();
  await sees(scene.page, '.banner', 'found restarted at 22:13:22');
  await scene.ask();
  await sees(scene.page, '#pulse', '22:13:22');
  assert.deepEqual(scene.stub.polls, [0, 400, 0]);
  await scene.page.locator('#numbers summary').click();
  await sees(scene.page, '#numbers tbody tr', '22:13:22');
  assert.equal(await scene.page.locator('#numbers tbody tr').count(), 2);
  await scene.page.getByRole('button', {name: 'Noted'}).click();
  assert.equal(await scene.page.locator('.banner').count(), 0);
});

test('a drain, a refused reload with its faults, and warnings stand above all', async (t) => {
  const {page} = await stage(t, states.troubled);
  const banners = await page.locator('.banner').allInnerTexts();
  assert.equal(banners.length, 3);
  assert.match(banners[0], /refused at 22:18:45, 1 min 15 s ago; the one before it still runs/);
  assert.match(banners[0], /levee.yaml:13:21: LV101 .*\nlevee.yaml:20:3: LV104/);
  assert.match(banners[1], /Draining/);
  assert.match(banners[2], /dangerous:\s+levee.yaml:9:5: LV201/);
  const panel = await text(page, '#configuration');
  assert.match(panel, /2 took effect, 1 refused/);
  assert.match(panel, /refused 1 min 15 s ago/);
  assert.match(panel, /replay_bytes 12 times/);
  assert.match(panel, new RegExp(
      'certificate of upstream cart\\s+spiffe://shop/web, from unix:///run/spire/agent.sock, expires in 50 min, ' +
      '.*; no newer one: UNAVAILABLE: connection refused'));
  assert.match(panel, /certificate of listener ingress\s+web.shop, from .etc.levee.tls.crt, expires in 40 d, /);
});

test('stores, leases and keys are shown while there are some', async (t) => {
  const scene = await stage(t, (second) => {
    const state = states.calm(second);
    return {...state, sidecar: {...state.sidecar, ...states.shared(state.time)}};
  });
  const lines = await scene.page.locator('#shared li').allInnerTexts();
  assert.deepEqual(lines.map(flat), [
    'connected ratelimit.shop:8081 for 3 min 20 s; a rate limit service; 4 requests/s; replies ' +
        'take 800 µs, 99% at most 2.1 ms',
    'unreachable shared for 12 s; a cluster of 2 nodes, 1 connected; 120 requests/s, of these 2/s ' +
        'unavailable; replies take 400 µs, 99% at most 2 ms 10.0.0.8:6379: connection refused',
    'leased default: all by ratelimit.shop:8081; 312 permits/s granted; 41 permits left',
    'stale default: tenant by shared; it is unreachable, and calls go on at the last rate: 97.5 permits/s; ' +
        '0 permits left; 12 keys',
    '1,200 payments keys, 1.5 MiB; 3 calls with a key run; since the start 1,180 first calls, ' +
        '19 replayed, 1 lost',
  ]);
  scene.show(states.calm);
  await scene.pass();
  assert.equal(await scene.page.locator('#shared').isVisible(), false);
});

test('a configuration that changes while the page is open is told until it is noted', async (t) => {
  const scene = await stage(t, states.calm);
  assert.equal(await text(scene.page, '#config-short'), '3fa9c1d2');
  scene.show((second) => states.stateAt(second, {
    upstreams: states.calm(second).upstreams,
    configuration: {sha256: '81bc0000ffff', loaded: states.STARTED + 400.5, reloads: 1}}));
  await scene.pass();
  assert.match(await text(scene.page, '.banner p'),
               /changed: 81bc0000 since 22:20:00, before 3fa9c1d2 \(as of 22:20:00\)/);
  assert.equal(await text(scene.page, '#config-short'), '81bc0000');
  await scene.page.getByRole('button', {name: 'Noted'}).click();
  await scene.pass();
  assert.equal(await scene.page.locator('.banner').count(), 0);
});
