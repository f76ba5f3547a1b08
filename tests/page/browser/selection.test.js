// SPDX-License-Identifier: Apache-2.0
// The page's table of upstreams, and how one is selected, by mouse and by keyboard.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {chartHashes, flat, sees, stage, text, useBrowser} from '../harness.js';
import * as states from '../states.js';

useBrowser();

const row = (page, name) => page.locator('#upstreams tbody tr', {hasText: name});
const legend = (page, chart) => text(page, `#charts figure:nth-child(${chart}) ul`);

test('a storm is told in words, and by the title', async (t) => {
  const {page} = await stage(t, states.storm);
  assert.equal(await text(page, '.verdict'),
               'contained: cart: storm contained; upstream 31% OK, callers 92%, amplification 1.09 ' +
               'of at most 1.10, budget empty for 40 s');
  assert.equal(await page.title(), 'Contained: cart · Levee');
});

test('a row answers whose retries, who suffers, whether the budget is empty, one endpoint or all',
     async (t) => {
  const {page} = await stage(t, states.storm);
  const cells = await row(page, 'cart').locator('td').allInnerTexts();
  assert.deepEqual(cells.map(flat), [
    '401 /s', '37.7 /s Levee 24 /s application', '92% callers 31% attempts', '1.09 budget 1.10',
    'empty for 40 s', '210 ms', '1 of 3 ready 1 ejected, 1 failing',
  ]);
});

test('refusals of the last ten seconds are listed with who refuses and why', async (t) => {
  const {page} = await stage(t, states.storm);
  const lines = await page.locator('#refusals li').allInnerTexts();
  assert.match(flat(lines[0]), /^2,\d{3} Levee: retry budget used up budget$/);
  assert.match(flat(lines[1]), /^210 the service: it sent “overloaded, do not/);
  assert.match(await text(page, '#marks'), /heard from the service 210 times/);
});

test('what the throttle does and which retries wait is told beside the refusals', async (t) => {
  const {page} = await stage(t, states.storm);
  assert.equal(await text(page, '#throttle'),
               'The throttle would reject a call with probability 25%; it would have rejected 70 ' +
               'calls.');
  assert.equal(await text(page, '#waits'),
               '12 retries wait for a success to pay; 30 waited and began, 90 waited in vain.');
  const {page: calm} = await stage(t, states.calm);
  assert.equal(await calm.locator('#throttle').isVisible(), false);
  assert.equal(await calm.locator('#waits').isVisible(), false);
});

test('as a storm begins the verdict, the title and all charts change', async (t) => {
  const scene = await stage(t, states.calm);
  const {page} = scene;
  assert.equal(await text(page, '.verdict'), 'calm: All 2 upstreams are calm.');
  const calm = await chartHashes(page);
  assert.equal(calm.length, 6);
  scene.show((second) => ({...states.storm(second), upstreams: [
    states.stormyUpstream('cart', second, {begin: 401}), states.calmUpstream('payment', second)]}));
  await scene.pass(4);
  assert.equal(await page.title(), 'Contained: cart · Levee');
  assert.equal(await text(page, '#announcer'), 'cart: contained');
  const storm = await chartHashes(page);
  for (const [i, pixels] of storm.entries()) assert.notEqual(pixels, calm[i], `chart ${i + 1}`);
  assert.match(await legend(page, 2), /attempts per call 1\.\d\d bound over the window 1\.10/);
  assert.match(await legend(page, 3), /of attempts 3\d%/);
  assert.match(await legend(page, 5), /retries that wait 12/);
  assert.match(await legend(page, 6), /budget 2\d\d\/s/);
});

test('the guard of an upstream has facts and charts, and other upstreams have none', async (t) => {
  const {page} = await stage(t, states.guarded);
  assert.equal(await text(page, '#selected-title'), 'app');
  assert.match(await text(page, '#guard-facts'), /It refuses 240 calls\/s because too many calls wait/);
  const guardLegend = (chart) => text(page, `#guard-charts figure:nth-child(${chart}) ul`);
  assert.equal(await guardLegend(1), 'calls in the service 8 limit 8 calls that wait 12');
  assert.match(await guardLegend(2), /^admitted 20\/s waited 140\/s refused, queue 2\d\d\/s$/);
  assert.match(await guardLegend(3), /of calls that come 34% reported by callers 50%/);
  assert.match(await text(page, '#refusals li'), /Levee: the guard, because too many calls wait/);
  const hashes = await chartHashes(page);
  assert.equal(hashes.length, 9);
  assert.equal(new Set(hashes).size, 9);
  await page.locator('#numbers summary').click();
  assert.match(await page.locator('#numbers thead').innerText(), /calls that wait/);
  await row(page, 'payment').click();
  await sees(page, '#selected-title', 'payment');
  assert.equal(await page.locator('#guard').isVisible(), false);
  assert.doesNotMatch(await page.locator('#numbers thead').innerText(), /calls that wait/);
});

test('the slider looks back at the guard as well', async (t) => {
  const {page} = await stage(t, states.guarded);
  await page.locator('#lookback').focus();
  await page.keyboard.press('Home');
  const value = await page.locator('#lookback').getAttribute('aria-valuetext');
  assert.match(value, /calls in the service 4, limit 20, calls that wait 0; .*reported by callers 2%$/);
});

test('an upstream that gets worse is shown instead, unless the reader has picked one', async (t) => {
  const scene = await stage(t, states.calm);
  const alarm = (second) => states.stateAt(second, {upstreams: [
    states.calmUpstream('cart', second),
    states.stormyUpstream('payment', second, {severity: 'SEVERITY_ALARM'})]});
  assert.equal(await text(scene.page, '#selected-title'), 'cart');
  scene.show(alarm);
  await scene.pass();
  assert.equal(await text(scene.page, '#selected-title'), 'payment');
  await row(scene.page, 'cart').click();
  await scene.pass();
  assert.equal(await text(scene.page, '#selected-title'), 'cart');
  assert.equal(await text(scene.page, '#endpoints-title'), 'Endpoints of cart');
});

test('the name in a verdict picks its upstream', async (t) => {
  const {page} = await stage(t, states.many);
  assert.equal(await text(page, '#selected-title'), 'upstream-10');
  assert.equal(await text(page, '.more'), 'and 2 more, in the table');
  await page.getByRole('button', {name: 'upstream-6', exact: true}).click();
  assert.equal(await text(page, '#selected-title'), 'upstream-6');
});

test('arrow keys walk through the upstreams, and updates leave the focus alone', async (t) => {
  const scene = await stage(t, states.calm);
  const {page} = scene;
  await page.locator('input[type=radio]:checked').focus();
  await page.keyboard.press('ArrowDown');
  assert.equal(await text(page, '#selected-title'), 'payment');
  scene.show((second) => states.stateAt(second, {upstreams: [
    states.calmUpstream('cart', second), states.stormyUpstream('payment', second)]}));
  await scene.pass();  // Its row goes to the top.
  assert.equal(await page.evaluate(() => document.activeElement.value), 'payment');
  assert.match(await row(page, /^/).first().innerText(), /^payment/);
});

test('everything is reached by Tab in its order, and the focus can be seen', async (t) => {
  const {page} = await stage(t, states.storm);
  const walked = [];
  for (let i = 0; i < 11; ++i) {
    await page.keyboard.press('Tab');
    walked.push(await page.evaluate(() => {
      const node = document.activeElement;
      const {outlineStyle} = getComputedStyle(node);
      return `${node.id || node.className || node.textContent || node.name} ${outlineStyle}`;
    }));
  }
  assert.deepEqual(walked, [
    'config 3fa9c1d2 solid', 'cart solid', 'scroll solid', 'upstream solid', 'lookback solid',
    'The last minute as a table solid', 'show it solid', ' solid', 'calls solid',
    walked[9], walked[10],
  ]);
  assert.match(walked[9], /shop\.Cart.* solid$/);
});

test('the slider looks back in all charts, by keys, and says so', async (t) => {
  const scene = await stage(t, states.storm);
  const {page} = scene;
  await page.locator('#lookback').focus();
  for (let i = 0; i < 3; ++i) await page.keyboard.press('ArrowLeft');
  assert.equal(await text(page, '#lookback-at'), '22:19:57');  // Second 397.
  assert.match(await legend(page, 1), /calls 403\/s/);
  const value = await page.locator('#lookback').getAttribute('aria-valuetext');
  assert.match(value, /^22:19:57; attempts 4\d\d\/s, calls 403\/s, .*; seen by callers 92%/);
  await scene.pass(2);  // It stays at its time.
  assert.equal(await text(page, '#lookback-at'), '22:19:57');
  assert.equal(await page.locator('#lookback').inputValue(), '295');
  await page.keyboard.press('End');
  assert.equal(await text(page, '#lookback-at'), 'now');
});

test('a mouse over one chart shows that moment in all', async (t) => {
  const {page} = await stage(t, states.storm);
  const box = await page.locator('.plot .area').first().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 40);
  // Of the last 300 s the middle, to a pixel.
  assert.match(await text(page, '#lookback-at'), /^22:17:(29|30|31)$/);
  assert.match(await legend(page, 3), /of attempts 100%/);
  assert.match(await legend(page, 4), /retries left 400/);
  const cursors = await page.locator('.plot .area:visible').evaluateAll((areas) => areas.map((area) => (
      area.querySelector('.cursor').getBoundingClientRect().x - area.getBoundingClientRect().x
  ) / area.clientWidth));
  for (const share of cursors) assert.ok(share > 0.48 && share < 0.52, `cursors at ${cursors}`);
  await page.mouse.move(5, 5);
  assert.equal(await text(page, '#lookback-at'), 'now');
  assert.match(await legend(page, 3), /of attempts 3\d%/);
});

test('the last minute is there as a table once it is unfolded', async (t) => {
  const scene = await stage(t, states.storm);
  const rows = scene.page.locator('#numbers tbody tr');
  assert.equal(await rows.count(), 0);
  await scene.page.locator('#numbers summary').click();
  await sees(scene.page, '#numbers tbody tr', '22:20:00');
  assert.equal(await rows.count(), 60);
  await scene.pass();
  assert.match(await rows.first().innerText(), /^22:20:01.*budget 2\d\d/);
});

test('an update keeps the nodes that it does not change', async (t) => {
  const scene = await stage(t, states.storm);
  const selector = '#upstreams tr, .verdict, canvas, #endpoints li, #calls li';
  const marked = await scene.page.locator(selector).evaluateAll((nodes) => {
    for (const node of nodes) node.marked = true;
    return nodes.length;
  });
  await scene.pass();
  const kept = await scene.page.locator(selector).evaluateAll(
      (nodes) => nodes.filter((node) => node.marked).length);
  assert.equal(kept, marked);
});

test('only of the upstream that is shown samples are asked for', async (t) => {
  const scene = await stage(t, states.calm);
  await scene.pass();
  await row(scene.page, 'payment').click();
  await sees(scene.page, '#endpoints li', '10.0.0.7:50051');
  await scene.pass();
  assert.deepEqual(scene.stub.polls, [0, 400, 0, 401]);
  assert.deepEqual(scene.stub.details, [null, 'cart', 'payment', 'payment']);
  await scene.page.locator('#numbers summary').click();
  await sees(scene.page, '#numbers tbody tr', '22:20:02');
  assert.equal(await scene.page.locator('#numbers tbody tr').count(), 60);
});

test('details that were too many at first are asked for at once', async (t) => {
  const scene = await stage(t, states.many);
  await sees(scene.page, '#endpoints li', '10.0.0.7:50051');
  assert.deepEqual(scene.stub.polls, [0, 0]);
  assert.deepEqual(scene.stub.details, [null, 'upstream-10']);
  await scene.pass();
  assert.deepEqual(scene.stub.polls, [0, 0, 400]);
});

test('of many endpoints the worst are listed', async (t) => {
  const endpoints = states.range(1, 30).map((n) => ({
    address: `10.0.0.${n}:50051`, state: n === 30 ? 'failing' : 'ready', active: 1,
    failure: n === 30 ? 'connection refused' : ''}));
  const {page} = await stage(t, (second) => states.stateAt(second, {
    upstreams: [states.calmUpstream('cart', second, {endpoints})]}));
  assert.equal(await page.locator('#endpoints li').count(), 12);
  assert.match(await page.locator('#endpoints li').first().innerText(), /failing[^]*refused/);
  assert.equal(await text(page, '#endpoints > .empty:last-child'), 'and 18 more: ready');
});
