// SPDX-License-Identifier: Apache-2.0
// How numbers and times read.
import assert from 'node:assert/strict';
import test from 'node:test';

import * as format from '../../../proxy/admin/page/format.js';

const cases = (name, call, pairs) => test(name, () => {
  for (const [input, output] of pairs) assert.equal(call(input), output, `of ${input}`);
});

cases('a share that is not all is never shown as 100%, nor something as 0%', format.percent, [
  [1, '100%'], [0.999996, '99.99%'], [0.99678, '99.67%'], [0.92, '92%'], [0.929, '93%'],
  [0.01, '1%'], [0.0003, '0.03%'], [0.000001, '0.01%'], [0, '0%'],
]);

cases('a rate has a decimal while that says something', format.rate, [
  [0, '0'], [0.01, '<0.1'], [0.4, '0.4'], [3.25, '3.3'], [24, '24'], [99.96, '100'],
  [1234.5, '1,235'],
]);

cases('bytes have the unit that suits them', format.bytes, [
  [0, '0 B'], [512, '512 B'], [1023, '1,023 B'], [1024, '1 KiB'], [1536, '1.5 KiB'],
  [64 * 1024 ** 2, '64 MiB'], [5 * 1024 ** 4, '5,120 GiB'],
]);

cases('a duration has the unit that suits it', format.duration, [
  [0, '–'], [0.00085, '850 µs'], [0.0012, '1.2 ms'], [0.0464, '46 ms'], [1.25, '1.25 s'],
  [0.9999, '1 s'], [75, '1 min 15 s'],
]);

cases('an age has at most two units', format.age, [
  [-1, '0 s'], [0, '0 s'], [40.9, '40 s'], [60, '1 min'], [200, '3 min 20 s'],
  [18120, '5 h 2 min'], [273600, '3 d 4 h'], [86400, '1 d'],
]);

cases('a time zone is told by its distance from UTC', format.zone, [
  [0, 'UTC'], [-120, 'UTC+2'], [210, 'UTC-3:30'], [-345, 'UTC+5:45'],
]);

test('one is singular, the rest plural', () => {
  assert.equal(format.plural(1, 'call'), '1 call');
  assert.equal(format.plural(0, 'call'), '0 calls');
  assert.equal(format.plural(1200, 'call'), '1,200 calls');
});

test('a time of day has two digits each', () => {
  const time = new Date(2023, 10, 4, 2, 3, 4).getTime() / 1000;
  assert.equal(format.clock(time), '02:03:04');
  assert.equal(format.moment(time), '2023-11-04 02:03:04');
});
