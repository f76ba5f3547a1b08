// SPDX-License-Identifier: Apache-2.0
// The sentences at the top, the title of the tab, and what is announced to screen readers.
import {KeyedList, byId, el, setAttribute, setText} from './dom.js';
import {SECONDS_KEPT} from './store.js';
import {CALM, SENTENCES, severity, title, uneasy} from './verdict.js';

export class VerdictLines {
  #list;
  #more = el('p', {class: 'more'});
  #announced = '';

  // `pick(name)` is called when the reader wants to see an upstream.
  constructor(pick) {
    const lines = el('div');
    byId('verdict').append(lines, this.#more);
    this.#list = new KeyedList(lines, ({key}) => key, ({name}) => line(name, pick));
  }

  // `quiet`: nothing has been called in the last five minutes, or `seconds` if they are fewer.
  // `listeners`: where calls are taken.
  update(upstreams, {quiet, seconds, listeners = []}) {
    const all = uneasy(upstreams);
    this.#list.update(all.length > 0 ? all.slice(0, SENTENCES).map(ofUpstream)
                                     : [calm(upstreams, quiet, seconds, listeners)]);
    this.#more.hidden = all.length <= SENTENCES;
    setText(this.#more, `and ${all.length - SENTENCES} more, in the table`);
    this.#announce(all);
  }

  // `unheard`: the sidecar does not answer.
  showTitle(upstreams, unheard) {
    const text = unheard ? 'No answer · Levee' : title(upstreams);
    if (document.title !== text) document.title = text;
  }

  // Only what has changed in kind: the numbers change every second.
  #announce(all) {
    const words = all.map((upstream) => `${upstream.name}: ${severity(upstream)}`);
    const text = words.join(', ') || 'All calm';
    if (text === this.#announced) return;
    this.#announced = text;
    setText(byId('announcer'), text);
  }
}

const ofUpstream = (upstream) => ({
  key: `upstream ${upstream.name}`, name: upstream.name, severity: severity(upstream),
  text: upstream.verdict,
});

function calm(upstreams, quiet, seconds, listeners) {
  if (quiet) {
    const since = seconds < SECONDS_KEPT ? 'yet' : 'in the last five minutes';
    return {key: 'none', severity: CALM, text: `No calls ${since}: point a client at ` +
            `${listeners.join(', ') || 'a listener of the configuration'}.`};
  }
  if (upstreams.length === 1) return ofUpstream(upstreams[0]);
  return {key: 'all calm', severity: CALM, text: `All ${upstreams.length} upstreams are calm.`};
}

function line(name, pick) {
  const text = el('span', {class: 'sentence'});
  const node = el('p', {class: 'verdict'}, el('span', {class: 'sign', 'aria-hidden': 'true'}));
  const word = el('span', {class: 'visually-hidden'});
  node.append(word);
  if (name !== undefined) {
    const button = el('button', {type: 'button', text: name});
    button.addEventListener('click', () => pick(name));
    node.append(button, ': ');
  }
  node.append(text);
  return {
    node,
    update(verdict) {
      setAttribute(node, 'data-severity', verdict.severity);
      setText(word, `${verdict.severity}: `);
      setText(text, verdict.text ?? '');
    },
  };
}
