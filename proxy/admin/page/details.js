// SPDX-License-Identifier: Apache-2.0
// The parts beside the charts of the upstream that is shown: its endpoints, and the refusals.
import {KeyedList, byId, el, setAttribute, setText} from './dom.js';
import * as format from './format.js';
import {explain, total} from './reasons.js';

const ENDPOINTS_SHOWN = 12;
const STATES = ['failing', 'ejected', 'connecting', 'idle', 'ready'];  // the worst first

export class EndpointList {
  #empty = el('p', {class: 'empty', text: 'None has been used yet.'});
  #more = el('p', {class: 'empty'});
  #body = el('ul', {class: 'endpoints'});
  #list = new KeyedList(this.#body, ({address, authority}) => `${authority} ${address}`,
                        endpointRow);

  constructor() {
    byId('endpoints').append(this.#empty, this.#body, this.#more);
  }

  update(upstream) {
    setText(byId('endpoints-title'), upstream ? `Endpoints of ${upstream.name}` : 'Endpoints');
    const all = worstFirst(upstream?.endpoints ?? []);
    this.#list.update(all.slice(0, ENDPOINTS_SHOWN));
    this.#empty.hidden = all.length > 0 || upstream?.endpoints_left_out > 0;
    const rest = all.slice(ENDPOINTS_SHOWN);
    const {endpoints_left_out: leftOut = 0} = upstream ?? {};
    this.#more.hidden = rest.length + leftOut === 0;
    const states = [...new Set(rest.map(({state}) => state))].join(', ');
    setText(this.#more, `and ${rest.length + leftOut} more${states ? `: ${states}` : ''}`);
  }
}

export function worstFirst(endpoints) {
  return [...endpoints].sort((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state) ||
                                          a.address.localeCompare(b.address));
}

function endpointRow() {
  const state = el('span', {class: 'state'});
  const address = el('span', {class: 'address'});
  const facts = el('small');
  const failure = el('small', {class: 'failure'});
  return {
    node: el('li', {}, state, address, facts, failure),
    update(endpoint) {
      setText(state, endpoint.state);
      setAttribute(state, 'data-state', endpoint.state);
      setText(address, endpoint.address);
      const latency = endpoint.latency_seconds > 0
          ? `, about ${format.duration(endpoint.latency_seconds)}` : '';
      const authority = endpoint.authority ? ` for ${endpoint.authority}` : '';
      setText(facts, `${endpoint.active ?? 0} active${latency}${authority}`);
      setText(failure, endpoint.failure ?? '');
    },
  };
}

export class RefusalList {
  #empty = el('p', {class: 'empty', text: 'Nothing.'});
  #body = el('ul', {class: 'refusals'});
  #list = new KeyedList(this.#body, ({reason}) => reason, refusalRow);
  #marks = el('p', {class: 'marks', id: 'marks'});
  #throttle = el('p', {class: 'marks', id: 'throttle'});
  #waits = el('p', {class: 'marks', id: 'waits'});

  constructor() {
    byId('refusals').append(this.#empty, this.#body, this.#throttle, this.#marks,
                          this.#waits);
  }

  // Samples of the last ten seconds of the upstream.
  update(samples, upstream) {
    const refusals = total(samples);
    this.#list.update(refusals);
    this.#empty.hidden = refusals.length > 0;
    const sum = (field) => samples.reduce((all, sample) => all + (sample[field] ?? 0), 0);
    const [received, sent] = [sum('marks_received'), sum('marks_sent')];
    this.#marks.hidden = received + sent === 0;
    const told = [sent > 0 && `told to callers ${times(sent)}`,
                  received > 0 && `heard from the service ${times(received)}`];
    setText(this.#marks, `“Overloaded, do not retry” was ${told.filter(Boolean).join(', ')}.`);
    show(this.#throttle, throttleText(upstream?.throttle_probability ?? 0,
                                      sum('throttle_rejected'), sum('throttle_observed')));
    show(this.#waits, waitsText(upstream?.retries_waiting ?? 0, sum('waits_released'),
                                sum('waits_expired')));
  }
}

function show(node, text) {
  node.hidden = text === '';
  setText(node, text);
}

// What the throttle does now, and how many calls it rejected, or would have; '' if nothing.
export function throttleText(probability, rejected, observed) {
  if (probability === 0 && rejected + observed === 0) return '';
  const would = rejected === 0;
  const number = would ? observed : rejected;
  return `The throttle ${would ? 'would reject' : 'rejects'} a call with probability ` +
      `${format.percent(probability)}; it ${would ? 'would have rejected' : 'rejected'} ` +
      `${format.plural(number, 'call')}.`;
}

// '' if no retry waits or waited.
export function waitsText(waiting, released, expired) {
  if (waiting + released + expired === 0) return '';
  const now = `${format.count(waiting)} ${waiting === 1 ? 'retry waits' : 'retries wait'}`;
  return `${now} for a success to pay; ${format.count(released)} waited and began, ` +
      `${format.count(expired)} waited in vain.`;
}

const times = (number) => number === 1 ? 'once' : `${format.count(number)} times`;

function refusalRow({reason}) {
  const {who, why} = explain(reason);
  const number = el('b');
  return {
    node: el('li', {}, number,
             el('span', {}, el('span', {class: 'who', text: who}), `: ${why} `,
                el('code', {text: reason}))),
    update: (refusal) => setText(number, format.count(refusal.number)),
  };
}
