// SPDX-License-Identifier: Apache-2.0
// The attempts of one call: when each ran, where, how it ended, and why it was made.
import {el} from './dom.js';
import * as format from './format.js';

const COLUMNS = ['', 'started', 'took', 'endpoint', 'code', 'because of', 'after waiting'];
const TRIGGERS = {
  status: 'the server’s status', http: 'the HTTP answer', refused: 'refused, not processed',
  connect: 'no connection', reset: 'a lost stream', timeout: 'the attempt’s timeout',
  hedge: 'no answer yet (hedge)',
};

// Nodes; none for a call without attempts.
export function attemptsTable(call) {
  const {attempts = []} = call;
  if (attempts.length === 0) return [el('p', {class: 'empty', text: 'It reached no endpoint.'})];
  const head = el('tr', {role: 'row'}, ...['#', ...COLUMNS.slice(1), 'timeline'].map(
      (text) => el('th', {scope: 'col', role: 'columnheader', text})));
  const rows = attempts.map((attempt, i) => row(attempt, i, call.duration_seconds));
  return [el('table', {role: 'table', class: 'attempts', 'aria-label': 'Attempts'},
             el('thead', {role: 'rowgroup'}, head), el('tbody', {role: 'rowgroup'}, ...rows))];
}

function row(attempt, index, callSeconds) {
  const first = index === 0;
  const values = [
    String(index + 1),
    `+${format.duration(attempt.start_seconds).replace(format.NOTHING, '0 ms')}`,
    format.duration(attempt.duration_seconds),
    attempt.endpoint || format.NOTHING,
    attempt.code || format.NOTHING,
    first && !attempt.trigger ? 'first attempt' : TRIGGERS[attempt.trigger] ?? attempt.trigger,
    format.duration(attempt.delay_seconds),
  ];
  const cells = values.map(
      (text, i) => el('td', {role: 'cell', 'data-label': COLUMNS[i] || null, text}));
  return el('tr', {role: 'row'}, ...cells,
            el('td', {role: 'cell', class: 'timeline'}, timeline(attempt, callSeconds)));
}

// A bar from the attempt's start to its end within the call.
function timeline(attempt, callSeconds) {
  const share = (seconds) => callSeconds > 0 ? Math.min(1, seconds / callSeconds) * 100 : 0;
  const bar = el('i', {'data-ok': attempt.code === 'OK' ? '' : null});
  bar.style.left = `${share(attempt.start_seconds)}%`;
  bar.style.width = `${share(attempt.duration_seconds)}%`;
  return el('span', {'aria-hidden': 'true'}, bar);
}
