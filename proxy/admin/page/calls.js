// SPDX-License-Identifier: Apache-2.0
// The last calls that were retried or refused, the newest first, each unfolding to its attempts.
import {attemptsTable} from './attempts.js';
import {Facts, KeyedList, byId, el, setAttribute, setText} from './dom.js';
import * as format from './format.js';

const keyOf = (call) => `${call.start} ${call.duration_seconds} ${call.authority}${call.method}`;

export class CallList {
  #section = byId('calls');
  #node = el('ol', {class: 'calls', tabindex: '0', 'aria-labelledby': 'calls-title'});
  #list = new KeyedList(this.#node, keyOf, row);
  #empty = el('p', {class: 'empty'});
  #only = el('input', {type: 'checkbox'});
  #onlyName = el('span');
  #held = el('p', {class: 'held', hidden: ''});
  #heldText = el('span');
  #shown = [];
  #update = null;  // the last arguments of update()

  constructor() {
    const release = el('button', {type: 'button', text: 'Show them'});
    release.addEventListener('click', () => this.#release());
    this.#held.append(this.#heldText, ' ', release);
    this.#only.addEventListener('change', () => this.#render(true));
    const filter = el('label', {class: 'filter'}, this.#only, ' only ', this.#onlyName);
    this.#section.querySelector('h2').after(filter, this.#held, this.#empty, this.#node);
  }

  // `upstream`: the one that is shown. `quiet`: nothing has been called.
  update(calls, upstream, quiet) {
    const other = this.#update !== null && this.#update.upstream !== upstream;
    this.#update = {calls, upstream, quiet};
    this.#render(other && this.#only.checked);
  }

  // A reader who points at the list, has scrolled it, has the focus in it or has unfolded a call is
  // reading it. Then it stays as it is.
  #isRead() {
    return this.#node.scrollTop > 0 || this.#node.matches(':focus-within, :has(details[open])') ||
        (matchMedia('(hover: hover)').matches && this.#node.matches(':hover'));
  }

  #release() {
    for (const details of this.#node.querySelectorAll('details[open]')) details.open = false;
    this.#node.scrollTop = 0;
    this.#render(true);
  }

  #render(anew) {
    const {calls, upstream, quiet} = this.#update;
    setText(this.#onlyName, upstream ?? '');
    this.#only.parentNode.hidden = upstream === null;
    const wanted = this.#only.checked ? calls.filter((call) => call.upstream === upstream) : calls;
    const shown = new Set(this.#shown);
    const fresh = wanted.filter((call) => !shown.has(call)).length;
    const hold = !anew && this.#shown.length > 0 && this.#isRead() && fresh > 0;
    this.#held.hidden = !hold;
    if (hold) {
      setText(this.#heldText, `Held still while you read; ${format.plural(fresh, 'newer call')}.`);
      return;
    }
    this.#shown = wanted;
    this.#list.update(wanted);
    this.#empty.hidden = wanted.length > 0;
    setText(this.#empty, quiet ? 'No calls.' : 'None was retried or refused so far.');
  }
}

function row(call) {
  const details = el('details', {}, el('summary', {}, ...summary(call)));
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1) details.append(body(call));
  });
  return {node: el('li', {}, details)};
}

function summary(call) {
  const {attempts = []} = call;
  const code = el('span', {class: 'code', text: call.code || format.NOTHING});
  setAttribute(code, 'data-ok', call.code === 'OK' ? '' : null);
  const time = new Date(call.start * 1000);
  return [
    el('time', {datetime: time.toISOString(), text: format.clock(call.start)}),
    code,
    el('span', {class: 'method'}, el('span', {class: 'upstream', text: call.upstream}),
       ' ', call.method),
    el('span', {class: 'why', text: call.why}),
    el('span', {class: 'took'}, format.plural(attempts.length, 'attempt'), ' · ',
       format.duration(call.duration_seconds)),
  ];
}

function body(call) {
  const facts = new Facts();
  facts.update([
    ['message', call.message],
    ['refused', call.refused],
    ['authority', call.authority],
    ['listener', call.listener],
    ['started', new Date(call.start * 1000).toISOString()],
    ['trace', call.trace_id],
  ]);
  return el('div', {class: 'call'}, facts.node, ...attemptsTable(call));
}
