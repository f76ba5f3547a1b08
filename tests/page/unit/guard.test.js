// SPDX-License-Identifier: Apache-2.0
// What the page says of a guard.
import assert from 'node:assert/strict';
import test from 'node:test';

import {guardText, isGuarded} from '../../../proxy/admin/page/guard.js';
import {guardedUpstream} from '../states.js';

const textOf = (guard) => guardText(guardedUpstream('app', 400, {guard}).guard);

test('a guard that refuses says why, and what callers are told', () => {
  assert.equal(textOf({}),
               'The service works on 8 calls of at most 8; 12 wait, and the newest goes first. ' +
               'It refuses 240 calls/s because too many calls wait. 34% of the calls that come are ' +
               'retries, and callers report 50% of their attempts as retries made or wanted; a ' +
               'refusal tells callers to give up.');
});

test('the reason of most refusals comes first', () => {
  assert.match(textOf({refused_per_second: {concurrency: 3, queue: 0.5}}),
               /3 calls\/s because no slot is free .*, and 0\.5 calls\/s because too many calls wait\./);
});

test('a guard that only observes refuses nothing', () => {
  assert.match(textOf({observing: true}), /It only observes; it would refuse 240 calls\/s .*would tell/);
  assert.match(textOf({observing: true, refused_per_second: {}}), /It only observes\. /);
});

test('a guard with room says so, and that its limit is the least', () => {
  const text = textOf({limit: 1, in_flight: 1, queue_length: 1, queue_stands: false,
                       refused_per_second: {}, scope: 'endpoint'});
  assert.match(text, /^The service works on 1 call of at most 1, the least that the policy allows; 1 waits\. /);
  assert.match(text, /It refuses nothing\./);
  assert.match(text, /tells callers to try another instance\.$/);
});

test('a guard without a limit tells nobody anything', () => {
  const text = textOf({limit: 0, limit_min: 0, in_flight: 3, refused_per_second: {}});
  assert.match(text, /^The service works on 3 calls; nothing limits them\. /);
  assert.doesNotMatch(text, /a refusal/);
});

test('a guard that is gone is shown while its samples are', () => {
  const {samples} = guardedUpstream('app', 400);
  assert.equal(isGuarded({}, samples), true);
  assert.equal(isGuarded({}, []), false);
  assert.match(guardText(undefined), /removed/);
});
