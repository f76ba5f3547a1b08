// SPDX-License-Identifier: Apache-2.0
// The table of upstreams, a row each; the one that is picked there is shown in detail below.
import {KeyedList, byId, el, setAttribute, setText} from './dom.js';
import * as format from './format.js';
import {SENTENCES, bySeverity, severity, uneasy} from './verdict.js';

const COLUMNS = ['Upstream', 'Calls', 'Retries by', 'Success seen by', 'Amplification',
                 'Retry budget', 'p99', 'Endpoints'];

export class UpstreamTable {
  #list;
  #body = el('tbody', {role: 'rowgroup'});

  // `pick(name)` is called when the reader has picked an upstream.
  constructor(pick) {
    const head = el('tr', {role: 'row'}, ...COLUMNS.map(
        (text) => el('th', {role: 'columnheader', scope: 'col', text})));
    const table = el('table', {role: 'table', 'aria-labelledby': 'upstreams-title'},
                     el('thead', {role: 'rowgroup'}, head), this.#body);
    byId('upstreams').append(el('div', {
      class: 'scroll', tabindex: '0', role: 'region', 'aria-labelledby': 'upstreams-title'}, table));
    this.#list = new KeyedList(this.#body, ({upstream}) => upstream.name,
                               ({upstream}) => row(upstream.name, pick));
  }

  // `shown`: the name of the one that is.
  update(upstreams, shown) {
    byId('upstreams').hidden = upstreams.length === 0;
    const above = uneasy(upstreams).slice(0, SENTENCES);
    this.#list.update(bySeverity(upstreams).map((upstream) => ({
      upstream, shown: shown === upstream.name,
      verdict: above.includes(upstream) ? severity(upstream) : upstream.verdict,
    })));
  }
}

// Cells keep their roles where CSS turns rows into cards, which makes browsers forget them.
const cell = (label, ...children) => el('td', {role: 'cell', 'data-label': label}, ...children);

function row(name, pick) {
  const radio = el('input', {type: 'radio', name: 'upstream', value: name});
  const verdict = el('span', {class: 'row-verdict'});
  const cells = [callsCell(), retriesCell(), successCell(), amplificationCell(), budgetCell(),
                 p99Cell(), endpointsCell()];
  const head = el('th', {role: 'rowheader', scope: 'row'},
                  el('label', {}, radio, el('span', {class: 'name', text: name})), verdict);
  const node = el('tr', {role: 'row'}, head, ...cells.map((each) => each.node));
  radio.addEventListener('change', () => pick(name));
  node.addEventListener('click', () => radio.checked || radio.click());
  return {
    node,
    update({upstream, shown, verdict: text}) {
      setAttribute(node, 'data-severity', severity(upstream));
      setAttribute(node, 'data-shown', shown ? '' : null);
      if (radio.checked !== shown) radio.checked = shown;
      setText(verdict, text ?? '');
      for (const each of cells) each.update(upstream);
    },
  };
}

// A number with its unit or meaning in smaller print.
function figure(label) {
  const number = el('b');
  const small = el('small', {text: label});
  return {
    node: el('span', {class: 'figure'}, number, ' ', small),
    update(text, meaning = label) {
      setText(number, text);
      setText(small, meaning);
    },
  };
}

function callsCell() {
  const calls = figure('/s');
  return {
    node: cell('Calls', calls.node),
    update: ({rates}) => calls.update(format.rate(rates?.calls_per_second ?? 0)),
  };
}

function retriesCell() {
  const levee = figure('/s Levee');
  const application = figure('/s application');
  return {
    node: cell('Retries by', levee.node, application.node),
    update({rates}) {
      levee.update(format.rate(rates?.retries_per_second ?? 0));
      application.update(format.rate(rates?.app_retries_per_second ?? 0));
    },
  };
}

function bar(kind) {
  const fill = el('i');
  return {
    node: el('span', {class: 'meter', 'data-kind': kind, 'aria-hidden': 'true'}, fill),
    update(share) {
      fill.style.width = `${Math.min(100, Math.max(0, share * 100)).toFixed(1)}%`;
    },
  };
}

function successCell() {
  const kinds = [['callers', 'callers_ok', 'calls_per_second'],
                 ['attempts', 'attempts_ok', 'attempts_per_second']];
  const lines = kinds.map(([label, field, rate]) => (
      {field, rate, bar: bar(label), figure: figure(label)}));
  return {
    node: cell('Success seen by', ...lines.map(
        (line) => el('span', {class: 'line'}, line.figure.node, line.bar.node))),
    update({rates}) {
      for (const line of lines) {
        const idle = !(rates?.[line.rate] > 0);
        const share = rates?.[line.field] ?? 1;
        line.figure.update(idle ? format.NOTHING : format.percent(share));
        line.bar.update(idle ? 0 : share);
      }
    },
  };
}

function amplificationCell() {
  const now = figure('');
  return {
    node: cell('Amplification', now.node),
    update({rates, budget}) {
      const limit = budget?.ratio > 0 ? `budget ${format.amplification(1 + budget.ratio)}` : '';
      now.update(format.amplification(rates?.amplification ?? 1), limit);
    },
  };
}

function budgetCell() {
  const left = figure('');
  const level = bar('budget');
  const node = cell('Retry budget', left.node, level.node);
  return {
    node,
    update({budget = {}}) {
      const {available = 0, at_once: most = 0, empty_seconds: empty = 0} = budget;
      const number = format.rate(Math.floor(available * 10) / 10);
      if (empty > 0) left.update('empty', `for ${format.age(empty)}`);
      else left.update(number, `of ${format.rate(most)} left`);
      level.update(most > 0 ? available / most : 0);
      setAttribute(node, 'data-empty', empty > 0 ? '' : null);
    },
  };
}

function p99Cell() {
  const p99 = figure('');
  return {
    node: cell('p99', p99.node),
    update: ({rates}) => p99.update(format.duration(rates?.p99_seconds ?? 0)),
  };
}

// "2 of 3 ready", and what the others are.
export function endpointCounts(counts = {}) {
  const {ready = 0, ...rest} = counts;
  const others = Object.entries(rest).filter(([, number]) => number > 0)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([state, number]) => `${number} ${state}`);
  return {ready, all: Object.values(rest).reduce((sum, number) => sum + number, ready), others};
}

function endpointsCell() {
  const ready = figure('');
  const others = el('small', {class: 'others'});
  return {
    node: cell('Endpoints', ready.node, others),
    update({endpoint_counts: states}) {
      const counts = endpointCounts(states);
      if (counts.all === 0) ready.update(format.NOTHING, 'none used yet');
      else ready.update(`${counts.ready} of ${counts.all}`, 'ready');
      setText(others, counts.others.join(', '));
    },
  };
}
