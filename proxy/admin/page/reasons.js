// SPDX-License-Identifier: Apache-2.0
// Why retries and calls were not made, and at whose wish. Pure.

// The layers of the chart, the bottom one first; `reasons` are those of the samples.
export const LAYERS = [
  {key: 'budget', name: 'budget', reasons: ['budget']},
  {key: 'app', name: 'application retries', reasons: ['app_retry']},
  {key: 'asked', name: 'asked by the service', reasons: ['overload_mark', 'pushback', 'advice']},
  {key: 'attempts', name: 'attempts used up', reasons: ['max_attempts', 'max_elapsed']},
  {key: 'guard', name: 'guard', reasons: ['guard_queue', 'guard_concurrency']},
  {key: 'rate', name: 'rate limit', reasons: ['rate_limit', 'throttle']},
  {key: 'other', name: 'other reasons', reasons: []},
];

const WORDS = {
  budget: ['Levee', 'retry budget used up'],
  app_retry: ['Levee', 'the application’s own retries, over the budget'],
  rate_limit: ['Levee', 'over a rate limit'],
  throttle: ['Levee', 'the service is overloaded, and the policy throttles'],
  guard_queue: ['Levee', 'the guard, because too many calls wait for the service'],
  guard_concurrency: ['Levee', 'the guard, because no slot is free and no more may wait'],
  max_attempts: ['Levee', 'all attempts of the policy made'],
  max_elapsed: ['Levee', 'the policy’s time for retries used up'],
  deadline: ['Levee', 'too little time left before the deadline'],
  committed: ['Levee', 'the answer had begun'],
  buffer: ['Levee', 'the request was too large to replay'],
  not_idempotent: ['Levee', 'the method may not be repeated'],
  draining: ['Levee', 'shutting down'],
  observe: ['Levee', 'the policy only observes'],
  overload_mark: ['the service', 'it sent “overloaded, do not retry”'],
  pushback: ['the service', 'it sent a pushback: no retry'],
  advice: ['the service', 'it asked for too long a wait'],
};

// The layer that refuses, and the reason in words.
export function explain(reason) {
  const [who, why] = WORDS[reason] ?? ['Levee', reason];
  return {who, why};
}

const layerOf = (reason) =>
    LAYERS.find(({reasons}) => reasons.includes(reason)) ?? LAYERS.at(-1);

// Sums of a sample's refusals, per layer in the order of LAYERS.
export function perLayer(refused) {
  const sums = new Map(LAYERS.map(({key}) => [key, 0]));
  for (const [reason, number] of Object.entries(refused ?? {})) {
    const {key} = layerOf(reason);
    sums.set(key, sums.get(key) + number);
  }
  return [...sums.values()];
}

// Sums over samples, per reason, the most frequent first: [{reason, number}].
export function total(samples) {
  const sums = new Map();
  for (const {refused} of samples) {
    for (const [reason, number] of Object.entries(refused ?? {})) {
      sums.set(reason, (sums.get(reason) ?? 0) + number);
    }
  }
  return [...sums].map(([reason, number]) => ({reason, number}))
      .sort((a, b) => b.number - a.number || a.reason.localeCompare(b.reason));
}
