// SPDX-License-Identifier: Apache-2.0
// The parts of answers that the page keeps.
import assert from 'node:assert/strict';
import test from 'node:test';

import {Store} from '../../../proxy/admin/page/store.js';
import {range} from '../states.js';

const numbered = (first, last) => range(first, last).map((number) => ({number}));

function answer(next, samples, more = {}) {
  return {next, time: 1000 + next, instance: 'a', configuration: {sha256: 'x'},
          upstreams: [{name: 'cart', samples}], calls: [], ...more};
}

const numbers = (entries) => entries.map(({number}) => number);

const next = (store) => store.question.since;

test('the first question is for all, the next for what came after the last answer', () => {
  const store = new Store();
  assert.equal(next(store), 0);
  assert.equal(store.take(answer(7, numbered(1, 7))), true);
  assert.equal(next(store), 7);
});

test('samples of later answers are appended', () => {
  const store = new Store();
  store.take(answer(2, numbered(1, 2)));
  store.take(answer(4, numbered(3, 4)));
  assert.deepEqual(numbers(store.samples('cart')), [1, 2, 3, 4]);
});

test('five minutes of samples are kept', () => {
  const store = new Store();
  store.take(answer(300, numbered(1, 300)));
  store.take(answer(302, numbered(301, 302)));
  assert.equal(store.samples('cart').length, 300);
  assert.deepEqual(numbers(store.samples('cart')).slice(0, 1), [3]);
});

test('samples that a sidecar left out stay out, and old ones still go', () => {
  const store = new Store();
  store.take(answer(2, numbered(1, 2)));
  store.take(answer(302, numbered(302, 302)));
  assert.deepEqual(numbers(store.samples('cart')), [302]);
});

test('calls are the newest first, and as many are kept as the sidecar keeps', () => {
  const store = new Store();
  store.take(answer(900, [], {calls: numbered(1, 900)}));
  store.take(answer(1800, [], {calls: numbered(901, 1800)}));
  assert.equal(store.calls.length, 1600);
  assert.equal(store.calls[0].number, 1800);
  assert.equal(store.calls[1599].number, 201);
});

test('what an answer repeats of a second that was not over is not shown twice', () => {
  const store = new Store();
  store.take(answer(5, [], {calls: numbered(5, 6)}));
  store.take(answer(6, [], {calls: [{number: 6}, {number: 6}]}));
  assert.deepEqual(numbers(store.calls), [6, 6, 5]);
});

test('one upstream is shown, and later only its details are asked for', () => {
  const store = new Store();
  assert.deepEqual(store.question, {since: 0, details: null});
  store.take(answer(2, numbered(1, 2)));
  assert.equal(store.show('cart'), true);
  assert.deepEqual(store.question, {since: 2, details: 'cart'});
  store.take(answer(3, numbered(3, 3)));
  assert.equal(store.show('cart'), true);
  assert.deepEqual(numbers(store.samples('cart')), [1, 2, 3]);
});

test('what the sidecar left out is asked for', () => {
  const store = new Store();
  store.take(answer(2, [], {upstreams: [{name: 'cart', samples: [], samples_left_out: true}]}));
  assert.equal(store.show('cart'), false);
  assert.deepEqual(store.question, {since: 0, details: 'cart'});
  store.take(answer(3, numbered(1, 3)));
  assert.deepEqual(store.question, {since: 3, details: 'cart'});
  assert.deepEqual(numbers(store.samples('cart')), [1, 2, 3]);
});

test('another upstream is asked for from the beginning, and so is the first one again', () => {
  const store = new Store();
  const both = (samples) => ({upstreams: [{name: 'cart', samples}, {name: 'stock', samples: []}]});
  store.take(answer(2, [], both(numbered(1, 2))));
  store.show('cart');
  store.take(answer(3, [], both(numbered(3, 3))));
  assert.equal(store.show('stock'), false);
  assert.deepEqual(store.question, {since: 0, details: 'stock'});
  assert.deepEqual(store.samples('cart'), []);
  assert.equal(store.show('cart'), false);
});

test('an answer to a question of before does not count for what is shown now', () => {
  const store = new Store();
  store.take(answer(2, numbered(1, 2)));
  store.show('cart');
  const {question} = store;
  store.take(answer(3, numbered(3, 3), {upstreams: [{name: 'cart', samples: []}, {name: 'b'}]}));
  store.show('b');
  store.take(answer(4, []), question);
  assert.deepEqual(store.question, {since: 0, details: 'b'});
});

test('an upstream that is gone takes its samples along', () => {
  const store = new Store();
  store.take(answer(2, numbered(1, 2)));
  store.take({...answer(3, []), upstreams: []});
  assert.deepEqual(store.samples('cart'), []);
});

test('a restarted sidecar makes all start anew', () => {
  const store = new Store();
  store.take(answer(50, numbered(1, 50), {calls: numbered(50, 50)}));
  assert.equal(store.take(answer(3, [], {instance: 'b'})), false);
  assert.equal(next(store), 0);
  assert.equal(store.restarted, 1003);
  assert.equal(store.take(answer(3, numbered(1, 3), {instance: 'b'})), true);
  assert.deepEqual(numbers(store.samples('cart')), [1, 2, 3]);
  assert.deepEqual(store.calls, []);
});

test('a configuration counts as changed until it is noted, also across a restart', () => {
  const store = new Store();
  store.take(answer(1, []));
  assert.equal(store.changed, false);
  const other = {instance: 'b', configuration: {sha256: 'y'}};
  store.take(answer(1, [], other));
  store.take(answer(1, [], other));
  assert.equal(store.changed, true);
  store.noteConfiguration();
  assert.equal(store.changed, false);
});

test('an answer without lists is taken as one with empty ones', () => {
  const store = new Store();
  store.take({next: 1, time: 1, instance: 'a'});
  assert.deepEqual(store.state.upstreams, []);
  assert.deepEqual(store.calls, []);
});
