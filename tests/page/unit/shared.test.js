// SPDX-License-Identifier: Apache-2.0
// What the page says of stores, leases and keys.
import assert from 'node:assert/strict';
import test from 'node:test';

import {keyFacts, limitFacts, storeFacts} from '../../../proxy/admin/page/shared.js';

const store = (more) => storeFacts({name: 'shared', kind: 'single', connected: true, since: 40,
                                    nodes: [{address: '10.0.0.7:6379', ready: true}], ...more}, 100);

test('a store that is connected says since when, and that nobody asks it', () => {
  assert.deepEqual(store({}), {
    state: 'connected', mark: 'ready', name: 'shared', failures: '',
    facts: 'for 1 min; a server at 10.0.0.7:6379; nothing is asked'});
});

test('the results of requests that are not well come with their rates, the largest first', () => {
  const {facts} = store({requests_per_second: {ok: 7, timeout: 1, error: 2}});
  assert.match(facts, /; 10 requests\/s, of these 2\/s error, 1\/s timeout$/);
});

test('a store that is unreachable says why', () => {
  const {state, mark, failures, facts} = store({
    connected: false, kind: 'sentinels', nodes: [], failure: 'no sentinel has named the primary yet'});
  assert.deepEqual([state, mark], ['unreachable', 'failing']);
  assert.equal(failures, 'no sentinel has named the primary yet');
  assert.match(facts, /no primary is known/);
});

test('sentinels say which server is the primary', () => {
  assert.match(store({kind: 'sentinels'}).facts, /its primary is 10\.0\.0\.7:6379/);
});

test('nodes of a cluster that are left out count as connected', () => {
  assert.match(store({kind: 'cluster', nodes_left_out: 30}).facts, /a cluster of 31 nodes, 31 connected/);
});

const limit = (more) => limitFacts({policy: 'p', limit: 'all', store: 'shared', state: 'leased',
                                    on_failure: 'last', per_second: 12.34, permits_left: 1, ...more});

test('a leased limit says what it gets and has', () => {
  assert.deepEqual(limit({}), {state: 'leased', mark: 'ready', name: 'p: all',
                               facts: 'by shared; 12.3 permits/s granted; 1 permit left'});
});

test('a limit whose store is unreachable says how it goes on', () => {
  const away = (more) => limit({state: 'fallback', permits_left: 0, ...more}).facts;
  assert.match(away({}), /it is unreachable, and calls go on at this sidecar’s share: 12\.3 permits\/s;/);
  assert.match(away({on_failure: 'allow', per_second: undefined}), /everything is admitted/);
  assert.match(away({on_failure: 'deny', per_second: undefined}), /everything is refused/);
  assert.match(away({per_second: undefined, permits_left: undefined, keys: 20000}),
               /at this sidecar’s share; 20,000 keys$/);
});

test('keys say how many calls run with one, and what became of the others', () => {
  assert.deepEqual(keyFacts({upstream: 'pay', keys: 1, bytes: 512, in_flight: 1,
                             results: {first: 2, store_failed: 1}}), {
    state: '1', mark: 'count', name: 'pay',
    facts: 'key, 512 B; 1 call with a key runs; since the start 2 first calls, 1 without the store'});
  assert.equal(keyFacts({upstream: 'pay'}).facts, 'keys, 0 B; 0 calls with a key run');
});
