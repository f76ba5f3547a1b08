// SPDX-License-Identifier: Apache-2.0
// The file that `levee explain --html` writes, in a browser: it opens from disk, loads nothing, and
// everybody can read it.
import {test} from 'node:test';

import {useBrowser} from '../harness.js';
import {SCREENS, assertLegible, assertReadable, assertWithinFrames, openReport} from '../report.js';

useBrowser();

const PRESETS = 'config/examples/presets.yaml';
const CALLS = {
  retries: [PRESETS, '--authority', 'ethernet.example:443', '--deadline', '1s'],
  rules: [PRESETS, '--authority', 'outcome.example:443'],
  guard: ['config/examples/guard.yaml', '--listener', 'ingress'],
};

const explain = (t, words, options) => openReport(t, ['explain', ...words], options);

for (const [screen, options] of Object.entries(SCREENS)) {
  for (const [name, words] of Object.entries(CALLS)) {
    test(`${name}, ${screen}: no complaint, no request, nothing cut off, accessible`, async (t) => {
      await assertReadable(await explain(t, words, options), `explain-${name}-${screen}`);
    });
  }
}

test('letters of the pictures are large enough to read on a narrow screen', async (t) => {
  await assertLegible((await explain(t, CALLS.retries, SCREENS.narrow)).page);
});

test('each picture has its bars and dots within its frame', async (t) => {
  await assertWithinFrames((await explain(t, CALLS.retries, SCREENS.light)).page);
});
