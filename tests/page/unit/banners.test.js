// SPDX-License-Identifier: Apache-2.0
// Which facts stand above everything else.
import assert from 'node:assert/strict';
import test from 'node:test';

import {bannersOf} from '../../../proxy/admin/page/banners.js';

const bannersFor = (sidecar) => bannersOf({store: {state: {sidecar}, restarted: 0}, failure: null});

test('tunnels that carry TLS are told with where they lead', () => {
  const [banner, ...others] = bannersFor({tls_destinations: ['bank.test:443', 'shop.test:443']});
  assert.deepEqual(others, []);
  assert.equal(banner.kind, 'warn');
  assert.equal(banner.text,
               'Calls in tunnels are encrypted, so they are neither retried nor counted:');
  assert.deepEqual(banner.lines, ['bank.test:443', 'shop.test:443']);
});

test('without such tunnels nothing is said', () => {
  assert.deepEqual(bannersFor({tls_destinations: []}), []);
});

test('a snapshot is told from a sidecar that runs', () => {
  const told = (state) => bannersOf({store: {state, restarted: 0}, failure: null});
  const [banner, ...others] = told({snapshot: true, time: 1767225600});
  assert.deepEqual(others, []);
  assert.match(banner.text, /^This is a snapshot of 2\d+-.*; nothing on this page goes on\.$/);
  assert.deepEqual(told({snapshot: false}), []);
});
