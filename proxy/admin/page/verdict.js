// SPDX-License-Identifier: Apache-2.0
// Finds the upstream that deserves attention, and words for it. Pure.

export const CALM = 'calm';
export const CONTAINED = 'contained';
export const ALARM = 'alarm';

const ORDER = [CALM, CONTAINED, ALARM];

// "SEVERITY_ALARM" -> "alarm". A word of a later version is worth a look.
export function severity(upstream) {
  const word = (upstream.severity ?? '').replace('SEVERITY_', '').toLowerCase();
  return ORDER.includes(word) ? word : CONTAINED;
}

const rank = (upstream) => ORDER.indexOf(severity(upstream));
const load = (upstream) => upstream.rates?.calls_per_second ?? 0;

// The worst first, of equal ones the busiest.
export function byUrgency(upstreams) {
  return [...upstreams].sort((a, b) => rank(b) - rank(a) || load(b) - load(a));
}

// The name of the upstream to show in detail: what the reader has picked while it is there, else
// what is shown unless another one has become worse, so that the charts do not flit about.
export function choose(upstreams, picked, shown) {
  if (upstreams.some(({name}) => name === picked)) return picked;
  const [first] = byUrgency(upstreams);
  const present = upstreams.find(({name}) => name === shown);
  if (present && rank(present) >= rank(first) && (load(present) > 0 || load(first) === 0)) {
    return shown;
  }
  return first?.name ?? null;
}

// The order of rows: what is worse is further up, the rest stays where it is.
export function bySeverity(upstreams) {
  return [...upstreams].sort((a, b) => rank(b) - rank(a));
}

// The upstreams that get a sentence at the top: the worst of those that are not calm.
export const SENTENCES = 3;

export function uneasy(upstreams) {
  return byUrgency(upstreams).filter((upstream) => severity(upstream) !== CALM);
}

// The title of the tab.
export function title(upstreams) {
  const [worst] = byUrgency(upstreams);
  if (!worst) return 'Levee';
  const word = severity(worst);
  const more = upstreams.filter((upstream) => severity(upstream) === word).length - 1;
  const what = {[ALARM]: 'Alarm', [CONTAINED]: 'Contained', [CALM]: 'Calm'}[word];
  if (word === CALM) return `${what} · Levee`;
  return `${what}: ${worst.name}${more > 0 ? ` and ${more} more` : ''} · Levee`;
}
