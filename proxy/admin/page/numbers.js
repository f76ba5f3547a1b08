// SPDX-License-Identifier: Apache-2.0
// The charts' values as a table, filled only while it is unfolded.
import {CHARTS, valueText} from './chart_specs.js';
import {KeyedList, byId, el} from './dom.js';
import * as format from './format.js';

const SECONDS = 60;

const refusals = ({refused}) =>
    Object.entries(refused ?? {}).map(([reason, number]) => `${reason} ${number}`).join(', ');

const COLUMNS = [
  ...CHARTS.filter(({stacked}) => !stacked).flatMap(({series}) => series.map(
      (each) => ({name: each.label, text: (sample) => valueText(each, sample)}))),
  {name: 'p99', text: (sample) => format.duration(sample.p99_seconds)},
  {name: 'Levee’s retries', text: (sample) => format.count(sample.retries ?? 0)},
  {name: 'refused', text: (sample) => refusals(sample) || format.NOTHING},
];

export class NumbersTable {
  #details = byId('numbers');
  #started = 0;
  #samples = [];
  #list;

  constructor() {
    const names = ['time', ...COLUMNS.map(({name}) => name)];
    const body = el('tbody');
    this.#details.append(el('div', {
      class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'The last minute as a table',
    }, el('table', {}, el('thead', {}, el('tr', {}, ...names.map(
        (text) => el('th', {scope: 'col', text})))), body)));
    this.#list = new KeyedList(body, ({upstream, sample}) => `${upstream} ${sample.number}`,
                               ({sample}) => this.#row(sample));
    this.#details.addEventListener('toggle', () => this.#fill());
  }

  update(upstream, samples, started) {
    this.#samples = samples.slice(-SECONDS).reverse()
        .map((sample) => ({upstream, sample}));
    this.#started = started;
    this.#fill();
  }

  #fill() {
    if (this.#details.open) this.#list.update(this.#samples);
  }

  #row(sample) {
    return {
      node: el('tr', {},
               el('th', {scope: 'row', text: format.clock(this.#started + sample.number)}),
               ...COLUMNS.map(({text}) => el('td', {text: text(sample)}))),
    };
  }
}
