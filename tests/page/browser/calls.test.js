// SPDX-License-Identifier: Apache-2.0
// The list of the last retried and refused calls.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {flat, sees, stage, text, useBrowser} from '../harness.js';
import * as states from '../states.js';

useBrowser();

const first = (page) => page.locator('#calls li').first();

test('the newest call is on top, with its code, its attempts and why', async (t) => {
  const {page} = await stage(t, states.storm);
  assert.equal(await page.locator('#calls li').count(), 40);
  assert.equal(flat(await first(page).innerText()),
               '22:19:59 OK cart shop.Cart/Get retried once after UNAVAILABLE, then OK ' +
               '2 attempts · 46 ms');
});

test('a call unfolds to its attempts, by keyboard too', async (t) => {
  const {page} = await stage(t, states.storm);
  await page.locator('#calls summary').nth(1).focus();
  await page.keyboard.press('Enter');
  await sees(page, '.call');
  const rows = await page.locator('.attempts tbody tr').allInnerTexts();
  assert.deepEqual(rows.map(flat), [
    '1 +10 µs 1 ms 10.0.0.7:50051 UNAVAILABLE first attempt –',
    '2 +26 ms 20 ms 10.0.0.8:50051 UNAVAILABLE the server’s status 25 ms',
  ]);
  const facts = flat(await page.locator('.call dl').innerText());
  assert.match(facts, /message overloaded, do not retry: budget used up after 2 attempts/);
  assert.match(facts, /trace 4bf92f3577b34da6a3ce929d0e0e4736/);
});

test('a call that reached no endpoint says so', async (t) => {
  const {page} = await stage(t, (second) => (
      {...states.storm(second), calls: [states.refusedCall(second, {attempts: []})]}));
  await first(page).locator('summary').click();
  await sees(page, '.call', 'It reached no endpoint.');
});

test('newer calls come on top', async (t) => {
  const scene = await stage(t, states.storm);
  await scene.pass();
  assert.match(await first(scene.page).innerText(), /^\s*22:20:00/);
});

test('the list holds still while a call is unfolded, and goes on when asked to', async (t) => {
  const scene = await stage(t, states.storm);
  const {page} = scene;
  await first(page).locator('summary').click();
  await page.mouse.move(5, 5);
  await page.evaluate(() => document.activeElement.blur());
  await scene.pass(2);
  assert.equal(await first(page).locator('details').getAttribute('open'), '');
  assert.match(await first(page).innerText(), /^\s*22:19:59/);
  assert.match(await text(page, '.held'), /^Held still while you read; 4 newer calls\./);
  await page.getByRole('button', {name: 'Show them'}).click();
  assert.match(await first(page).innerText(), /^\s*22:20:01/);
  assert.equal(await page.locator('#calls details[open]').count(), 0);
});

test('the list holds still under the mouse and when it is scrolled', async (t) => {
  const scene = await stage(t, states.storm);
  const {page} = scene;
  await first(page).hover();
  await scene.pass();
  assert.match(await first(page).innerText(), /^\s*22:19:59/);
  await page.locator('ol.calls').evaluate((list) => { list.scrollTop = 50; });
  await page.mouse.move(5, 5);
  await scene.pass();
  assert.match(await first(page).innerText(), /^\s*22:19:59/);
  assert.equal(await page.locator('ol.calls').evaluate((list) => list.scrollTop), 50);
});

test('only the calls of the upstream that is shown are listed when asked for', async (t) => {
  const {page} = await stage(t, (second) => ({
    ...states.storm(second),
    calls: [states.refusedCall(second), states.refusedCall(second, {upstream: 'payment'})]}));
  assert.equal(await page.locator('#calls li').count(), 2);
  await page.getByLabel('only cart').check();
  assert.equal(await page.locator('#calls li').count(), 1);
  await page.locator('#upstreams tr', {hasText: 'payment'}).click();
  assert.match(await first(page).innerText(), /payment/);
});

test('without any it says so', async (t) => {
  const {page} = await stage(t, states.calm);
  assert.equal(await text(page, '#calls > .empty'), 'None was retried or refused so far.');
});
