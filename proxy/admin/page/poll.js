// SPDX-License-Identifier: Apache-2.0
// Asks once a second while the page can be seen.

const PERIOD_MS = 1000;
const PATIENCE_MS = 3000;  // for one answer

// `ask(signal)` returns a promise of an answer. `answered(answer)` gets that, or `failed(reason)` a
// sentence; `paused(hidden)` tells that the page is hidden or no more. Returns a function that asks
// at once, whatever has been asked and not answered yet.
export function poll({ask, answered, failed, paused}) {
  let timer;
  let running;

  async function round() {
    clearTimeout(timer);
    const mine = running = new AbortController();
    const begun = performance.now();
    const outcome = await attempt(ask, mine.signal);
    if (running !== mine) return;  // Hidden since, and perhaps seen again.
    // Before anything that might go wrong below.
    timer = setTimeout(round, Math.max(0, PERIOD_MS - (performance.now() - begun)));
    if (outcome.reason === undefined) answered(outcome.answer);
    else failed(outcome.reason);
  }

  function stop() {
    clearTimeout(timer);
    running?.abort();
    running = undefined;
  }

  document.addEventListener('visibilitychange', () => {
    stop();
    paused(document.hidden);
    if (!document.hidden) round();
  });
  if (document.hidden) paused(true);
  else round();
  return () => {
    if (document.hidden) return;
    stop();
    round();
  };
}

async function attempt(ask, hidden) {
  try {
    return {answer: await ask(AbortSignal.any([hidden, AbortSignal.timeout(PATIENCE_MS)]))};
  } catch (error) {
    const late = error.name === 'TimeoutError';
    return {reason: late ? `It did not answer within ${PATIENCE_MS / 1000} s.` : error.message};
  }
}

// Asks for the additions after second `since`, with the samples and endpoints of the upstream
// `details` only; null: of all upstreams.
export async function fetchState({since, details}, signal) {
  const of = details === null ? '' : `&details_of=${encodeURIComponent(details)}`;
  let response;
  try {
    response = await fetch(`/api/v1/state?since=${since}${of}`, {cache: 'no-store', signal});
  } catch (error) {
    if (error.name !== 'TypeError') throw error;
    throw new Error('It cannot be reached.');  // Browsers word this in their own ways.
  }
  if (!response.ok) throw new Error(`It answered with HTTP status ${response.status}.`);
  return response.json();
}
