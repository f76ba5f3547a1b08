// SPDX-License-Identifier: Apache-2.0
// The charts' values as a table, filled only while it is unfolded.
import {CHARTS, GUARD_CHARTS, valueText} from './chart_specs.js';
import {KeyedList, byId, el, setAttribute} from './dom.js';
import * as format from './format.js';

const SECONDS = 60;

const refusals = ({refused}) =>
    Object.entries(refused ?? {}).map(([reason, number]) => `${reason} ${number}`).join(', ');

const columnsOf = (charts, more = {}) => charts.flatMap(({series}) => series.map(
    (each) => ({name: each.label, text: (sample) => valueText(each, sample), ...more})));

// Columns of the class `guard` are shown where there is one.
const COLUMNS = [
  ...columnsOf(CHARTS.filter(({stacked}) => !stacked)),
  {name: 'p99', text: (sample) => format.duration(sample.p99_seconds)},
  {name: 'Levee’s retries', text: (sample) => format.count(sample.retries ?? 0)},
  {name: 'refused', text: (sample) => refusals(sample) || format.NOTHING},
  ...columnsOf(GUARD_CHARTS, {kind: 'guard'}),
];

export class NumbersTable {
  #details = byId('numbers');
  #started = 0;
  #samples = [];
  #table;
  #list;

  constructor() {
    const body = el('tbody');
    this.#table = el('table', {}, el('thead', {}, el(
        'tr', {}, ...[{name: 'time'}, ...COLUMNS].map(
            ({name, kind}) => el('th', {scope: 'col', text: name, class: kind ?? null})))), body);
    this.#details.append(el('div', {
      class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'The last minute as a table',
    }, this.#table));
    this.#list = new KeyedList(body, ({upstream, sample}) => `${upstream} ${sample.number}`,
                               ({sample}) => this.#row(sample));
    this.#details.addEventListener('toggle', () => this.#fill());
  }

  update(upstream, samples, started, guarded) {
    setAttribute(this.#table, 'data-guard', guarded ? '' : null);
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
               ...COLUMNS.map(({text, kind}) => el('td', {text: text(sample), class: kind ?? null}))),
    };
  }
}
