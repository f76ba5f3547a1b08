// SPDX-License-Identifier: Apache-2.0
// Charts and lists made from samples.
import assert from 'node:assert/strict';
import test from 'node:test';

import {CHARTS, GUARD_CHARTS, ceiling, rows, tick, valueText} from '../../../proxy/admin/page/chart_specs.js';
import {LAYERS, explain, perLayer, total} from '../../../proxy/admin/page/reasons.js';

const [LOAD, MOMENT, SUCCESS, BUDGET, WAITING, REFUSED] = CHARTS;
const [SLOTS, DECISIONS, RETRIES] = GUARD_CHARTS;
const SAMPLE = {
  number: 7, calls: 100, calls_ok: 92, attempts: 110, attempts_ok: 34, retries: 10, app_retries: 3,
  budget_available: 1.5, budget_at_once: 40, refused: {budget: 50, pushback: 2, overload_mark: 3,
                                                     committed: 1},
};
const IDLE = {number: 8, calls: 0, calls_ok: 0, attempts: 0, attempts_ok: 0, app_retries: 0,
              budget_available: 40, budget_at_once: 40, refused: {}};

test('times are of the wall clock', () => {
  assert.deepEqual(rows(LOAD, [SAMPLE, IDLE], 1000).map(([time]) => time), [1007, 1008]);
});

test('the first chart has attempts, calls and the application’s retries', () => {
  assert.deepEqual(rows(LOAD, [SAMPLE], 0), [[7, 110, 100, 3]]);
});

test('attempts per call are those of each second, beside what the budget allows', () => {
  const storm = {...SAMPLE, amplification: 1.094, budget_ratio: 0.1};
  assert.deepEqual(rows(MOMENT, [storm, {...IDLE, amplification: 0, budget_ratio: 0.1}], 0),
                   [[7, 1.094, 1.1], [8, null, 1.1]]);
  assert.equal(valueText(MOMENT.series[0], storm), '1.09');
  assert.deepEqual(rows(MOMENT, [SAMPLE], 0), [[7, null, null]]);
});

test('retries that wait are shown beside those that ended their wait', () => {
  const sample = {...SAMPLE, retries_waiting: 12, waits_released: 4, waits_expired: 2};
  assert.deepEqual(rows(WAITING, [sample, IDLE], 0), [[7, 12, 4, 2], [8, 0, 0, 0]]);
});

test('success is a share, and nothing while nothing is called', () => {
  assert.deepEqual(rows(SUCCESS, [SAMPLE, IDLE], 0), [[7, 0.92, 34 / 110], [8, null, null]]);
  assert.equal(valueText(SUCCESS.series[0], IDLE), '–');
  assert.equal(valueText(SUCCESS.series[0], SAMPLE), '92%');
});

test('the budget has what is left and what that is at most', () => {
  assert.deepEqual(rows(BUDGET, [SAMPLE], 0), [[7, 1.5, 40]]);
});

test('refusals are stacked, the budget’s at the bottom', () => {
  assert.equal(REFUSED.stacked, true);
  assert.deepEqual(rows(REFUSED, [SAMPLE], 0), [[7, 1, 0, 0, 0, 5, 0, 50]]);
  assert.equal(REFUSED.series.at(-1).label, 'budget');
  assert.equal(valueText(REFUSED.series[0], SAMPLE), '1/s');
});

test('a guard shows its slots, its decisions and how many of the calls are retries', () => {
  const sample = {...SAMPLE, guard: {
    limit: 8, in_flight: 7, queue_length: 3, arrived_retry_share: 0.25, reported_retry_share: 0.2,
    admitted: 5, queued: 2, refused: {queue: 4}}};
  assert.deepEqual(rows(SLOTS, [sample], 0), [[7, 7, 8, 3]]);
  assert.deepEqual(rows(DECISIONS, [sample], 0), [[7, 0, 4, 2, 5]]);
  assert.deepEqual(rows(RETRIES, [sample], 0), [[7, 0.25, 0.2]]);
  assert.equal(valueText(RETRIES.series[0], sample), '25%');
});

test('nothing is said of a guard that is not there, or of a limit of none', () => {
  assert.deepEqual(rows(SLOTS, [SAMPLE], 0), [[7, null, null, null]]);
  assert.deepEqual(rows(RETRIES, [SAMPLE], 0), [[7, null, null]]);
  const quiet = {...IDLE, guard: {limit: 0, in_flight: 0, queue_length: 0}};
  assert.deepEqual(rows(SLOTS, [quiet], 0), [[8, 0, null, 0]]);
});

test('what a guard refused has a layer of its own', () => {
  assert.equal(perLayer({guard_queue: 3, guard_concurrency: 1})[
    LAYERS.findIndex(({key}) => key === 'guard')], 4);
  assert.match(explain('guard_concurrency').why, /no slot is free/);
});

test('a chart without samples has a row without values', () => {
  assert.deepEqual(rows(BUDGET, [], 1000), [[1000, null, null]]);
});

test('a chart has room for its highest value, or for the highest sum where values are stacked', () => {
  assert.equal(ceiling(LOAD, [IDLE, SAMPLE, IDLE]), 110 * 1.08);
  assert.equal(ceiling(REFUSED, [SAMPLE, IDLE]), 56 * 1.08);
  assert.equal(ceiling(SUCCESS, [SAMPLE]), 1.05);
  assert.equal(ceiling(LOAD, [IDLE]), 1);
  assert.equal(ceiling(LOAD, []), 1);
});

test('a reason without a layer of its own is among the others', () => {
  assert.deepEqual(perLayer({committed: 1, from_the_future: 2}), [0, 0, 0, 0, 0, 0, 3]);
  assert.equal(LAYERS.at(-1).name, 'other reasons');
});

test('reasons add up over samples, the most frequent first', () => {
  assert.deepEqual(total([SAMPLE, {refused: {pushback: 60}}, {}]),
                   [{reason: 'pushback', number: 62}, {reason: 'budget', number: 50},
                    {reason: 'overload_mark', number: 3}, {reason: 'committed', number: 1}]);
});

test('who refuses is Levee or the service', () => {
  assert.equal(explain('budget').who, 'Levee');
  assert.equal(explain('overload_mark').who, 'the service');
  assert.deepEqual(explain('from_the_future'), {who: 'Levee', why: 'from_the_future'});
});

test('ticks are short', () => {
  assert.equal(tick(0.25), '0.25');
  assert.equal(tick(400), '400');
  assert.equal(tick(1500), '1.5k');
});
