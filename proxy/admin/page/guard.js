// SPDX-License-Identifier: Apache-2.0
// What is said of the guard of the upstream that is shown.
import {byId, setText} from './dom.js';
import * as format from './format.js';

// Whether the upstream has a guard, or had one in the time that is shown.
export function isGuarded(upstream, samples) {
  return Boolean(upstream.guard) || samples.some(({guard}) => Boolean(guard));
}

export function updateGuard(upstream, samples) {
  byId('guard').hidden = !isGuarded(upstream, samples);
  setText(byId('guard-facts'), guardText(upstream.guard));
}

// The guard's facts in sentences; `guard` as in the state, undefined if there is none any more.
export function guardText(guard) {
  if (!guard) return 'It has been removed.';
  return [slotsText(guard), refusalsText(guard), retriesText(guard)].filter(Boolean).join(' ');
}

function slotsText({limit, limit_min: least, in_flight: inFlight, queue_length: waiting,
                    queue_stands: stands}) {
  const serves = `The service works on ${format.plural(inFlight, 'call')}`;
  if (!limit) return `${serves}; nothing limits them.`;
  const bound = least > 0 && limit <= least ? ', the least that the policy allows' : '';
  const order = stands ? ', and the newest goes first' : '';
  return `${serves} of at most ${format.count(limit)}${bound}; ` +
      `${format.count(waiting)} ${waiting === 1 ? 'waits' : 'wait'}${order}.`;
}

const WHY = {
  concurrency: 'because no slot is free and no more may wait',
  queue: 'because too many calls wait',
};

function refusalsText({observing, refused_per_second: refused}) {
  const parts = Object.entries(refused ?? {}).sort(([, a], [, b]) => b - a)
      .map(([reason, rate]) => `${format.rate(rate)} calls/s ${WHY[reason] ?? `(${reason})`}`);
  if (observing) {
    return parts.length === 0 ? 'It only observes.'
                              : `It only observes; it would refuse ${parts.join(', and ')}.`;
  }
  return parts.length === 0 ? 'It refuses nothing.' : `It refuses ${parts.join(', and ')}.`;
}

function retriesText({limit, observing, scope, arrived_retry_share: arrived,
                      reported_retry_share: reported}) {
  const retries = `${format.percent(arrived ?? 0)} of the calls that come are retries, and callers ` +
      `report ${format.percent(reported ?? 0)} of their attempts as retries made or wanted`;
  if (!limit) return `${retries}.`;
  return `${retries}; a refusal ${observing ? 'would tell' : 'tells'} callers ` +
      `${scope === 'service' ? 'to give up' : 'to try another instance'}.`;
}
