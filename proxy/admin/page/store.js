// SPDX-License-Identifier: Apache-2.0
// The answers of the sidecar so far: five minutes of samples of one upstream, and the last calls.
// Pure.

export const SECONDS_KEPT = 300;
export const CALLS_KEPT = 1600;  // as many as the sidecar

export class Store {
  state = null;  // the newest answer, without what is kept below
  // The configuration that ran as the page was opened, or that its reader has taken note of.
  noted = null;
  restarted = 0;  // when the sidecar was found to be another one; 0: it is the first
  #samples = new Map();
  #calls = [];
  #shown = null;  // the upstream whose details are asked for; null: that of the sidecar's choice
  #complete = false;  // all its samples are here

  // The next question to ask.
  get question() {
    return {since: this.#shown === null || this.#complete ? this.#next : 0, details: this.#shown};
  }

  get #next() {
    return this.state?.next ?? 0;
  }

  // From now on the details of the upstream `name` are kept. False: they have to be asked for.
  show(name) {
    if (name === this.#shown) return this.#complete || name === null;
    this.#shown = name;
    const upstream = this.state.upstreams.find((each) => each.name === name);
    this.#complete = this.#samples.has(name) && !upstream.samples_left_out;
    const samples = this.samples(name);
    this.#samples.clear();
    if (this.#complete) this.#samples.set(name, samples);
    return this.#complete;
  }

  // Takes in an answer to `question`. False: it is of a sidecar that has been restarted since, what
  // was kept is of no use any more, and all has to be asked for.
  take(answer, {since, details} = this.question) {
    if (this.state !== null && this.state.instance !== answer.instance) {
      this.restarted = answer.time;
      this.#forget();
      return false;
    }
    const {upstreams = [], calls = [], ...rest} = answer;
    this.state = {...rest, upstreams: upstreams.map(({samples, ...upstream}) => upstream)};
    this.#takeSamples(upstreams.filter(({name}) => [name, null].includes(details)), since);
    this.#complete = details !== null && details === this.#shown;
    // An answer holds all that came after `since`, also what the last one held of a second that
    // was not over.
    this.#calls = after(this.#calls, since, calls).slice(-CALLS_KEPT);
    this.noted ??= {sha256: this.state.configuration?.sha256, at: answer.time};
    return true;
  }

  // The oldest first.
  samples(upstream) {
    return this.#samples.get(upstream) ?? [];
  }

  // Nothing has been called in the last five minutes.
  get quiet() {
    return this.state.upstreams.every(({last_called: last = 0}) => last === 0);
  }

  // The newest first.
  get calls() {
    return [...this.#calls].reverse();
  }

  // The configuration is another one than that which was noted.
  get changed() {
    return this.state !== null && this.noted.sha256 !== this.state.configuration?.sha256;
  }

  noteConfiguration() {
    this.noted = {sha256: this.state.configuration?.sha256, at: this.state.time};
  }

  #takeSamples(upstreams, since) {
    const oldest = this.state.next - SECONDS_KEPT;
    this.#samples = new Map(upstreams.map(({name, samples = []}) => [
      name, after(this.samples(name), since, samples).filter(({number}) => number > oldest)]));
  }

  #forget() {
    this.state = null;
    this.#shown = null;
    this.#complete = false;
    this.#samples.clear();
    this.#calls = [];
  }
}

function after(kept, since, added) {
  return [...kept.filter(({number}) => number <= since), ...added];
}
