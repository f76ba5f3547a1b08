// SPDX-License-Identifier: Apache-2.0
// What the sidecar shares with others: the stores that it asks, the rate limits whose permits it
// leases, and the idempotency keys.
import {KeyedList, byId, el, setAttribute, setText} from './dom.js';
import * as format from './format.js';

export class SharedPanel {
  #parts = [
    part('Stores', ({name}) => name, storeFacts),
    part('Leases', ({policy, limit}) => `${policy} ${limit}`, limitFacts),
    part('Keys', ({upstream}) => upstream, keyFacts),
  ];

  constructor() {
    byId('shared').append(...this.#parts.map(({node}) => node));
  }

  update({time, sidecar = {}}) {
    const {stores = [], shared_limits: limits = [], keys = {}} = sidecar;
    const upstreams = Object.entries(keys).sort(([a], [b]) => a.localeCompare(b))
        .map(([upstream, kept]) => ({upstream, ...kept}));
    const lists = [stores, limits, upstreams];
    byId('shared').hidden = lists.every((list) => list.length === 0);
    this.#parts.forEach(({update}, i) => update(lists[i], time));
  }
}

// A heading and a list. `factsOf(item, time)` returns {state, mark, name, facts, failures}.
function part(title, keyOf, factsOf) {
  const body = el('ul', {class: 'endpoints'});
  const list = new KeyedList(body, ({key}) => key, row);
  const node = el('div', {class: 'shared'}, el('h3', {text: title}), body);
  return {
    node,
    update(items, time) {
      node.hidden = items.length === 0;
      list.update(items.map((item) => ({key: keyOf(item), ...factsOf(item, time)})));
    },
  };
}

function row() {
  const state = el('span', {class: 'state'});
  const name = el('span', {class: 'address'});
  const facts = el('small');
  const failures = el('small', {class: 'failure'});
  return {
    node: el('li', {}, state, name, facts, failures),
    update(item) {
      setText(state, item.state);
      setAttribute(state, 'data-state', item.mark);
      setText(name, item.name);
      setText(facts, item.facts);
      setText(failures, item.failures ?? '');
    },
  };
}

// `time` as in the state.
export function storeFacts(store, time) {
  const {name, connected = false, since = 0, failure = '', nodes = []} = store;
  const lost = nodes.filter((node) => !node.ready)
      .map(({address, failure: why}) => `${address}: ${why}`);
  return {
    state: connected ? 'connected' : 'unreachable', mark: connected ? 'ready' : 'failing', name,
    facts: `for ${format.age(time - since)}; ${kindText(store)}; ${requestText(store)}`,
    failures: lost.length > 0 ? lost.join('; ') : failure,
  };
}

function kindText({kind, nodes = [], nodes_left_out: leftOut = 0}) {
  const ready = nodes.filter((node) => node.ready).length;
  switch (kind) {
    case 'cluster': {
      const all = nodes.length + leftOut;
      return `a cluster of ${format.plural(all, 'node')}, ${format.count(ready + leftOut)} connected`;
    }
    case 'sentinels':
      return nodes.length === 0 ? 'no primary is known'
                                : `its primary is ${nodes.map(({address}) => address).join(', ')}`;
    case 'service':
      return 'a rate limit service';
    default:
      return nodes.length === 0 ? 'a server' : `a server at ${nodes[0].address}`;
  }
}

function requestText({requests_per_second: requests = {}, p50_seconds: p50 = 0,
                      p99_seconds: p99 = 0}) {
  const all = Object.values(requests).reduce((sum, rate) => sum + rate, 0);
  if (all === 0) return 'nothing is asked';
  const others = Object.entries(requests).filter(([result]) => result !== 'ok')
      .sort(([, a], [, b]) => b - a).map(([result, rate]) => `${format.rate(rate)}/s ${result}`);
  const times = p99 > 0
      ? `; replies take ${format.duration(p50)}, 99% at most ${format.duration(p99)}` : '';
  return `${format.rate(all)} requests/s${others.length > 0 ? `, of these ${others.join(', ')}` : ''}` +
      times;
}

const MARKS = {leased: 'ready', stale: 'ejected', fallback: 'failing'};

export function limitFacts(limit) {
  const {policy, limit: name, store, state, keys = 0, permits_left: left} = limit;
  const parts = [decidesText(limit)];
  if (left !== undefined) parts.push(`${format.plural(left, 'permit')} left`);
  if (keys > 0) parts.push(format.plural(keys, 'key'));
  return {
    state, mark: MARKS[state] ?? null, name: `${policy}: ${name}`,
    facts: `by ${store}; ${parts.join('; ')}`,
  };
}

function decidesText({state, on_failure: onFailure, per_second: rate}) {
  const permits = rate === undefined ? '' : `${format.rate(rate)} permits/s`;
  if (state === 'leased') return `${permits} granted`;
  if (onFailure === 'allow') return 'it is unreachable, so everything is admitted';
  if (onFailure === 'deny') return 'it is unreachable, so everything is refused';
  const way = state === 'stale' ? 'at the last rate' : 'at this sidecar’s share';
  return `it is unreachable, and calls go on ${way}${permits ? `: ${permits}` : ''}`;
}

const RESULTS = [
  ['first', 'first calls'], ['replayed', 'replayed'], ['waited', 'waited'], ['refused', 'refused'],
  ['mismatch', 'with another request'], ['lost', 'lost'], ['store_failed', 'without the store'],
];

export function keyFacts({upstream, keys = 0, bytes = 0, in_flight: inFlight = 0, results = {}}) {
  const told = RESULTS.filter(([result]) => results[result] > 0)
      .map(([result, words]) => `${format.count(results[result])} ${words}`);
  const since = told.length > 0 ? `; since the start ${told.join(', ')}` : '';
  return {
    state: format.count(keys), mark: 'count', name: upstream,
    facts: `${keys === 1 ? 'key' : 'keys'}, ${format.bytes(bytes)}; ` +
        `${format.plural(inFlight, 'call')} with a key ${inFlight === 1 ? 'runs' : 'run'}${since}`,
  };
}
