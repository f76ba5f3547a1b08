// SPDX-License-Identifier: Apache-2.0
// The file that `levee replay --html` writes, in a browser.
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {after, before, test} from 'node:test';

import {useBrowser} from '../harness.js';
import {SCREENS, assertReadable, openReport} from '../report.js';

useBrowser();

const CONFIG = 'config/levee.yaml';
let folder;
let log;

// A minute of calls, of which one in ten is rescued by its second attempt.
before(() => {
  folder = mkdtempSync(`${tmpdir()}/levee-replay-`);
  log = `${folder}/calls.log`;
  const attempt = (n, code) => ({n, endpoint: `10.0.0.${6 + n}:9450`, start_ms: 8 * (n - 1),
                                 duration_ms: 5, code});
  const lines = Array.from({length: 600}, (_, i) => {
    const attempts = i % 10 ? [attempt(1, 'OK')] : [attempt(1, 'UNAVAILABLE'), attempt(2, 'OK')];
    return JSON.stringify({time: new Date(1767225600000 + 100 * i).toISOString(), duration_ms: 13,
                           listener: 'egress', upstream: 'cart', authority: 'cart.shop:9450',
                           method: 'shop.Cart/Add', code: 'OK', sample: 1, attempts});
  });
  writeFileSync(log, `${lines.join('\n')}\n`);
});
after(() => rmSync(folder, {recursive: true}));

for (const [screen, options] of Object.entries(SCREENS)) {
  test(`L6: ${screen}: no complaint, no request, nothing cut off, accessible`, async (t) => {
    const words = ['replay', log, '--config', CONFIG, '--against', CONFIG];
    await assertReadable(await openReport(t, words, options), `replay-${screen}`);
  });
}
