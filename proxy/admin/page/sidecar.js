// SPDX-License-Identifier: Apache-2.0
// Facts of the sidecar itself: the line at the top and the panel of the configuration.
import {short} from './banners.js';
import {Facts, byId, el, setAttribute, setText} from './dom.js';
import * as format from './format.js';

export class SidecarFacts {
  #facts = new Facts();
  #hash = el('code', {class: 'hash'});
  #link = el('span', {}, this.#hash, ' ', el('a', {href: '/config', text: 'show it'}));

  constructor() {
    byId('configuration').append(this.#facts.node);
    setText(byId('zone'), format.zone(new Date().getTimezoneOffset()));
  }

  update({time, sidecar = {}, configuration = {}}) {
    setText(byId('sidecar'), [
      `${sidecar.version || 'unknown version'}${sidecar.commit ? ` (${sidecar.commit})` : ''}`,
      `up ${format.age(time - sidecar.started)}`,
      format.plural(sidecar.workers ?? 0, 'worker'),
      format.plural(sidecar.active_calls ?? 0, 'active call'),
      format.plural(sidecar.downstream_connections ?? 0, 'client connection'),
    ].join(' · '));
    setText(byId('config-short'), short(configuration.sha256));
    setText(byId('config-age'), `for ${format.age(time - configuration.loaded)}`);
    this.#updatePanel(time, sidecar, configuration);
  }

  #updatePanel(time, sidecar, configuration) {
    const {files = [], reloads = 0, refused_reloads: refused = 0} = configuration;
    setText(this.#hash, configuration.sha256 ?? format.NOTHING);
    this.#facts.update([
      ['sha256', this.#link],
      ['loaded', `${format.moment(configuration.loaded)}, ` +
                 `${format.age(time - configuration.loaded)} ago`],
      ['files', files.join(', ') || 'none: the built-in default'],
      ['reloads', `${reloads} took effect, ${refused} refused`],
      ['last reload', lastReload(configuration, time)],
      ['warnings', configuration.warnings?.length ? 'see above' : 'none'],
      ['limits reached', limitHits(sidecar.limit_hits)],
      ...(configuration.certificates ?? [])
          .map((one) => [`certificate of ${one.of}`, certificateWords(one, time)]),
      ...(sidecar.shadows ?? []).map((one) => [`shadow ${one.shadow}`, shadowWords(one)]),
    ]);
  }
}

function lastReload({last_attempt: at, last_reload_refused: refused}, now) {
  if (!(at > 0)) return 'none since the start';
  return `${refused ? 'refused' : 'took effect'} ${format.age(now - at)} ago`;
}

function limitHits(hits = {}) {
  return Object.entries(hits).sort(([a], [b]) => a.localeCompare(b))
      .map(([name, number]) => `${name} ${format.plural(number, 'time')}`).join(', ');
}

// Whom a certificate names, where it comes from, how long it is good, and what is wrong.
export function certificateWords({identity, source, expires = 0, fault}, now) {
  const left = expires - now;
  const life = left > 0 ? `expires in ${format.age(left)}, ${format.moment(expires)}`
                        : `expired ${format.age(-left)} ago`;
  const words = expires > 0 ? `${identity || 'nobody'}, from ${source}, ${life}`
                            : `none yet from ${source}`;
  return fault ? `${words}; no newer one: ${fault}` : words;
}

// What a policy that only decides beside another one would have done.
export function shadowWords({policy, same = 0, more = 0, fewer = 0}) {
  const calls = same + more + fewer;
  if (calls === 0) return `beside ${policy}: no call yet`;
  const share = (number) => format.percent(number / calls);
  return `beside ${policy}: of ${format.plural(calls, 'call')} ${share(more)} with more attempts, ` +
      `${share(fewer)} with fewer`;
}

// The mark at the top right that shows whether what is seen is fresh.
export function showPulse(state, text) {
  const pulse = byId('pulse');
  setAttribute(pulse, 'data-state', state);
  setText(pulse, text);
}
