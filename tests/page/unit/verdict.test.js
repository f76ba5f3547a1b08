// SPDX-License-Identifier: Apache-2.0
// Which upstream is shown, in which order, and what the tab says.
import assert from 'node:assert/strict';
import test from 'node:test';

import {bySeverity, choose, severity, title, uneasy} from '../../../proxy/admin/page/verdict.js';

const upstream = (name, word, calls = 1) => (
    {name, severity: `SEVERITY_${word}`, rates: {calls_per_second: calls}});
const names = (upstreams) => upstreams.map(({name}) => name);

const CALM = upstream('calm', 'CALM', 500);
const BUSY = upstream('busy', 'CALM', 900);
const CONTAINED = upstream('contained', 'CONTAINED', 10);
const ALARM = upstream('alarm', 'ALARM', 2);

test('a severity of a later version is worth a look', () => {
  assert.equal(severity({severity: 'SEVERITY_PANIC'}), 'contained');
  assert.equal(severity({}), 'contained');
});

test('the worst upstream is shown, of equal ones the busiest', () => {
  assert.equal(choose([CALM, CONTAINED, ALARM], null, null), 'alarm');
  assert.equal(choose([CALM, BUSY], null, null), 'busy');
  assert.equal(choose([], null, null), null);
});

test('what the reader picked stays while it is there', () => {
  assert.equal(choose([CALM, ALARM], 'calm', 'alarm'), 'calm');
  assert.equal(choose([ALARM], 'calm', 'calm'), 'alarm');
});

test('what is shown changes only for a worse one', () => {
  assert.equal(choose([CALM, BUSY], null, 'calm'), 'calm');
  assert.equal(choose([CALM, ALARM], null, 'calm'), 'alarm');
});

test('what is shown without calls gives way to what has some', () => {
  assert.equal(choose([upstream('idle', 'CALM', 0), BUSY], null, 'idle'), 'busy');
});

test('rows are in the order of severity, equal ones as they came', () => {
  assert.deepEqual(names(bySeverity([CALM, CONTAINED, BUSY, ALARM])),
                   ['alarm', 'contained', 'calm', 'busy']);
});

test('sentences are for those that are not calm', () => {
  assert.deepEqual(names(uneasy([CALM, CONTAINED, ALARM])), ['alarm', 'contained']);
});

test('the tab names the worst severity and whose it is', () => {
  assert.equal(title([]), 'Levee');
  assert.equal(title([CALM, BUSY]), 'Calm · Levee');
  assert.equal(title([CALM, CONTAINED]), 'Contained: contained · Levee');
  assert.equal(title([upstream('a', 'ALARM', 2), upstream('b', 'ALARM', 1), CONTAINED]),
               'Alarm: a and 1 more · Levee');
});
