// SPDX-License-Identifier: Apache-2.0
// What the page says of the sidecar itself.
import assert from 'node:assert/strict';
import test from 'node:test';

import {shadowWords} from '../../../proxy/admin/page/sidecar.js';

test('a shadow policy says in which share of the calls it differs', () => {
  assert.equal(shadowWords({policy: 'default', same: 1170, more: 10, fewer: 20}),
               'beside default: of 1,200 calls 0.84% with more attempts, 2% with fewer');
});

test('a shadow policy without calls says so', () => {
  assert.equal(shadowWords({policy: 'default'}), 'beside default: no call yet');
});
