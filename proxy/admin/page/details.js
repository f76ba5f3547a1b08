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
  #marks = el('p', {class: 'marks'});

  constructor() {
    byId('refusals').append(this.#empty, this.#body, this.#marks);
  }

  // Samples of the last ten seconds.
  update(samples) {
    const refusals = total(samples);
    this.#list.update(refusals);
    this.#empty.hidden = refusals.length > 0;
    const sum = (field) => samples.reduce((all, sample) => all + (sample[field] ?? 0), 0);
    const [received, sent] = [sum('marks_received'), sum('marks_sent')];
    this.#marks.hidden = received + sent === 0;
    const told = [sent > 0 && `told to callers ${times(sent)}`,
                  received > 0 && `heard from the service ${times(received)}`];
    setText(this.#marks, `“Overloaded, do not retry” was ${told.filter(Boolean).join(', ')}.`);
  }
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
