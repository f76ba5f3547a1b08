// SPDX-License-Identifier: Apache-2.0
// Lines above everything else, for facts that must not be overlooked.
import {KeyedList, byId, el, setText} from './dom.js';
import * as format from './format.js';

export class Banners {
  #list = new KeyedList(byId('banners'), ({id}) => id, create);

  // Each: {id, kind: 'alarm' | 'warn' | 'info', text, lines: [...], dismiss: function}.
  update(banners) {
    this.#list.update(banners);
  }
}

function create({kind, dismiss}) {
  const text = el('p');
  const lines = el('ul');
  const list = new KeyedList(lines, (line) => line, (line) => ({node: el('li', {text: line})}));
  const node = el('div', {class: 'banner', 'data-kind': kind}, text, lines);
  if (dismiss) {
    const button = el('button', {type: 'button', text: 'Noted'});
    button.addEventListener('click', dismiss);
    node.append(button);
  }
  return {
    node,
    update(banner) {
      setText(text, banner.text);
      lines.hidden = !banner.lines?.length;
      list.update(banner.lines ?? []);
    },
  };
}

// Returns the lines that the facts demand. `failure`: {reason, seconds} while the sidecar does not
// answer, else null. `note` and `forget` are called when the reader has taken note of a change or a
// restart.
export function bannersOf({store, failure, note, forget}) {
  const {state} = store;
  return [
    failure && unreachable(failure, state),
    state?.snapshot && {
      id: 'snapshot', kind: 'info',
      text: `This is a snapshot of ${format.moment(state.time)}; nothing on this page goes on.`,
    },
    state?.configuration?.last_reload_refused && refused(state.configuration, state.time),
    state?.sidecar?.phase === 'PHASE_DRAINING' && {
      id: 'draining', kind: 'warn',
      text: 'Draining: the sidecar finishes its calls and then ends.',
    },
    store.changed && changed(store, note),
    store.restarted > 0 && {
      id: 'restarted', kind: 'info', dismiss: forget,
      text: `The sidecar was found restarted at ${format.clock(store.restarted)}; ` +
            'numbers have started anew.',
    },
    state?.sidecar?.tls_destinations?.length > 0 && {
      id: 'tls', kind: 'warn', lines: state.sidecar.tls_destinations,
      text: 'Calls in tunnels are encrypted, so they are neither retried nor counted:',
    },
    state?.configuration?.warnings?.length > 0 && {
      id: 'warnings', kind: 'warn', text: 'The running configuration is dangerous:',
      lines: state.configuration.warnings,
    },
  ].filter(Boolean);
}

function unreachable({reason, seconds}, state) {
  const since = state === null ? 'Nothing has been heard from it yet.'
                               : `Everything below is of ${format.clock(state.time)}.`;
  return {
    id: 'unreachable', kind: 'alarm',
    text: `No answer from the sidecar for ${format.age(seconds)}. ${reason} ${since}`,
  };
}

function refused({faults, last_attempt: at}, now) {
  return {
    id: 'refused', kind: 'alarm', lines: faults,
    text: `A new configuration was refused at ${format.clock(at)}, ${format.age(now - at)} ago; ` +
          'the one before it still runs.',
  };
}

function changed({state, noted}, note) {
  const {sha256, loaded} = state.configuration;
  return {
    id: 'changed', kind: 'info', dismiss: note,
    text: `The configuration has changed: ${short(sha256)} since ${format.clock(loaded)}, ` +
          `before ${short(noted.sha256)} (as of ${format.clock(noted.at)}).`,
  };
}

// Enough of a hash to tell configurations apart.
export const short = (sha256) => sha256 ? sha256.slice(0, 8) : format.NOTHING;
