// SPDX-License-Identifier: Apache-2.0
// What the page says of the sidecar itself.
import assert from 'node:assert/strict';
import test from 'node:test';

import {certificateWords, shadowWords} from '../../../proxy/admin/page/sidecar.js';

test('a shadow policy says in which share of the calls it differs', () => {
  assert.equal(shadowWords({policy: 'default', same: 1170, more: 10, fewer: 20}),
               'beside default: of 1,200 calls 0.84% with more attempts, 2% with fewer');
});

test('a shadow policy without calls says so', () => {
  assert.equal(shadowWords({policy: 'default'}), 'beside default: no call yet');
});

const SVID = {of: 'upstream cart', source: 'unix:///run/spire/agent.sock', expires: 1_700_003_600,
              identity: 'spiffe://shop/web', fault: ''};

test('a certificate says whom it names, where it comes from and how long it is good', () => {
  assert.match(certificateWords(SVID, 1_700_000_000),
               /^spiffe:\/\/shop\/web, from unix:\/\/\/run\/spire\/agent.sock, expires in 1 h, 2023-11-1/);
  assert.match(certificateWords(SVID, 1_700_003_660), /agent.sock, expired 1 min ago$/);
});

test('a certificate that is not there yet says why', () => {
  assert.equal(certificateWords({...SVID, identity: '', expires: 0, fault: 'UNAVAILABLE: no agent'}, 1),
               'none yet from unix:///run/spire/agent.sock; no newer one: UNAVAILABLE: no agent');
});
