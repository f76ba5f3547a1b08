// SPDX-License-Identifier: Apache-2.0
// A storm through a real sidecar, as its page shows it. With UPDATE_SCREENSHOT=1 it takes minutes
// and leaves the picture of the README in docs/images/page.png.
import assert from 'node:assert/strict';
import {describe, test} from 'node:test';
import {fileURLToPath} from 'node:url';

import {SCREENSHOTS, axeViolations, chartHashes, openPage, sees, text, useBrowser} from '../harness.js';
import {Load, Sidecar, configOf, startService} from '../programs.js';
import {HEADERS, pageFiles} from '../stub.js';

useBrowser();

const PICTURE = process.env.UPDATE_SCREENSHOT
    ? fileURLToPath(new URL('../../../docs/images/page.png', import.meta.url)) : null;
const CALM_SECONDS = PICTURE ? 80 : 2;
const STORM_SECONDS = PICTURE ? 65 : 2;

const cart = (services) => configOf({
  upstreams: [{name: 'cart', endpoints: services}],
  routes: [{upstream: 'cart', policy: 'default'}],
});

// Until the page has shown that many further seconds.
async function watch(page, seconds) {
  const shown = () => text(page, '#pulse');
  for (let i = 0; i < seconds; ++i) {
    const before = await shown();
    await page.waitForFunction(
        (old) => document.getElementById('pulse').textContent !== old, before);
  }
}

async function openSidecar(t, sidecar, options) {
  const opened = await openPage(t, sidecar.url, options);
  await opened.page.goto(sidecar.url);
  await sees(opened.page, '#pulse[data-state="live"]');
  return opened;
}

// They mostly wait, and each has a sidecar of its own.
describe('before a real sidecar', {concurrency: true}, () => {
  test('the real server sends the headers that the stub does, and every file', async (t) => {
    const service = await startService(t);
    const sidecar = await Sidecar.start(t, cart([service.address]));
    for (const {path, type} of pageFiles()) {
      const answer = await fetch(new URL(path, sidecar.url));
      assert.equal(answer.status, 200, path);
      assert.ok(answer.headers.get('content-type').startsWith(type), path);
      for (const [name, value] of Object.entries(HEADERS)) {
        assert.equal(answer.headers.get(name), value, `${path}: ${name}`);
      }
    }
  });

  test('a storm: verdict, row, charts, refusals and calls tell of it', async (t) => {
    const services = [await startService(t), await startService(t)];
    const sidecar = await Sidecar.start(t, cart(services.map(({address}) => address)));
    const {page, faults} = await openSidecar(t, sidecar);
    await sees(page, '.verdict', 'No calls yet');
    const load = new Load(t, sidecar.calls, PICTURE ? 120 : 60);
    load.rescued = 0.004;  // Less than anybody need look at.
    await sees(page, '#upstreams tr', 'cart');
    await watch(page, CALM_SECONDS);
    await sees(page, '.verdict[data-severity="calm"]');
    const calm = await chartHashes(page);

    load.failing = 0.5;
    await sees(page, '.verdict:not([data-severity="calm"])', 'budget empty');
    await watch(page, STORM_SECONDS);
    await sees(page, '#upstreams td[data-empty]', 'empty');
    await sees(page, '#refusals li', 'retry budget used up');
    assert.match(await page.title(), /^(Alarm|Contained): cart · Levee$/);
    const storm = await chartHashes(page);
    assert.equal(storm.length, 6);
    for (const [i, hash] of storm.entries()) assert.notEqual(hash, calm[i], `chart ${i + 1}`);

    if (PICTURE) {
      await sees(page, '.verdict', /1\.\d\d of at most 1\.10, budget empty for \d+ s/);
      await page.screenshot({path: PICTURE, clip: {x: 0, y: 0, width: 1280, height: 770}});
    }
    await page.screenshot({path: `${SCREENSHOTS}sidecar-light.png`, fullPage: true});
    await page.emulateMedia({colorScheme: 'dark'});
    await page.screenshot({path: `${SCREENSHOTS}sidecar-dark.png`, fullPage: true});

    await page.locator('#calls summary', {hasText: 'RESOURCE_EXHAUSTED'}).first().click();
    await sees(page, '.call', 'overloaded, do not retry');
    assert.deepEqual(await axeViolations(page), []);

    await page.setViewportSize({width: 360, height: 780});
    await page.screenshot({path: `${SCREENSHOTS}sidecar-narrow.png`, fullPage: true});
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360);
    assert.deepEqual(faults, []);
  });

  test('one endpoint of two that is gone is told apart from all', async (t) => {
    const services = [await startService(t), await startService(t)];
    const sidecar = await Sidecar.start(t, cart(services.map(({address}) => address)));
    const {page} = await openSidecar(t, sidecar);
    new Load(t, sidecar.calls, 40);
    await sees(page, '#upstreams td', '2 of 2');
    await services[0].kill();
    await sees(page, '#upstreams td', '1 of 2');
    await sees(page, '#endpoints li', services[0].address);
    await sees(page, '#endpoints li', 'refused');
  });

  test('a changed, a refused and a drained configuration are told', async (t) => {
    const service = await startService(t);
    const config = cart([service.address]);
    const sidecar = await Sidecar.start(t, config);
    const {page, faults} = await openSidecar(t, sidecar);
    const first = await text(page, '#config-short');

    sidecar.configure(JSON.stringify({...config, drain: {timeout: '7s'}}));
    await sees(page, '.banner[data-kind="info"]', 'The configuration has changed');
    assert.notEqual(await text(page, '#config-short'), first);

    sidecar.configure('policies: [{name: a, retry: {max_atempts: 2}}]');
    await sees(page, '.banner[data-kind="alarm"]', 'max_attempts');
    await sees(page, '#configuration', '1 took effect, 1 refused');
    assert.deepEqual(faults, []);

    new Load(t, sidecar.calls, 40);  // It drains as long as it is called.
    await sees(page, '#upstreams tr', 'cart');
    sidecar.child.kill('SIGTERM');
    await sees(page, '.banner[data-kind="warn"]', 'Draining');
    await sidecar.kill();
    await sees(page, '.banner[data-kind="alarm"]', 'No answer from the sidecar');
  });
});
