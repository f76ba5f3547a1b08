// SPDX-License-Identifier: Apache-2.0
// The page: asks for the state once a second and shows it.
import {Banners, bannersOf} from './banners.js';
import {CallList} from './calls.js';
import {Charts} from './charts.js';
import {EndpointList, RefusalList} from './details.js';
import {byId, setText} from './dom.js';
import * as format from './format.js';
import {isGuarded, updateGuard} from './guard.js';
import {NumbersTable} from './numbers.js';
import {fetchState, poll} from './poll.js';
import {SharedPanel} from './shared.js';
import {SidecarFacts, showPulse} from './sidecar.js';
import {Store} from './store.js';
import {UpstreamTable} from './upstreams.js';
import {choose} from './verdict.js';
import {VerdictLines} from './verdict_lines.js';

const RECENT_SECONDS = 10;  // what the sidecar's rates are of

class Page {
  #store = new Store();
  #picked = null;  // by the reader
  #shown = null;
  #askNow = null;
  #failure = null;  // {reason, begun} while the sidecar does not answer

  #banners = new Banners();
  #sidecar = new SidecarFacts();
  #verdict = new VerdictLines((name) => this.#pick(name));
  #table = new UpstreamTable((name) => this.#pick(name));
  #charts = new Charts();
  #numbers = new NumbersTable();
  #endpoints = new EndpointList();
  #refusals = new RefusalList();
  #calls = new CallList();
  #shared = new SharedPanel();

  run() {
    this.#askNow = poll({
      ask: async (signal) => {
        const {question} = this.#store;
        return {question, answer: await fetchState(question, signal)};
      },
      answered: ({answer, question}) => this.#answered(answer, question),
      failed: (reason) => this.#failed(reason),
      paused: (hidden) => showPulse(hidden ? 'paused' : 'waiting', hidden ? 'paused' : 'asking'),
    });
  }

  #answered(answer, question) {
    this.#failure = null;
    if (this.#store.take(answer, question)) this.#render();
    else this.#renderBanners();
  }

  #failed(reason) {
    this.#failure ??= {begun: performance.now()};
    this.#failure.reason = reason;
    this.#renderBanners();
    showPulse('failing', 'no answer');
  }

  #pick(name) {
    this.#picked = name;
    this.#render();
  }

  #render() {
    const {state, quiet} = this.#store;
    this.#shown = choose(state.upstreams, this.#picked, this.#shown);
    const complete = this.#store.show(this.#shown);
    this.#renderBanners();
    this.#sidecar.update(state);
    this.#shared.update(state);
    this.#verdict.update(state.upstreams,
                         {quiet, seconds: state.next, listeners: state.sidecar?.listeners});
    this.#table.update(state.upstreams, this.#shown);
    this.#renderShown(state.upstreams.find(({name}) => name === this.#shown));
    this.#calls.update(this.#store.calls, this.#shown, quiet);
    if (this.#failure === null) this.#showPulse(state);
    if (!complete) this.#askNow();
  }

  #showPulse({snapshot, time}) {
    if (snapshot) showPulse('paused', `snapshot of ${format.clock(time)}`);
    else showPulse('live', `live, ${format.clock(time)}`);
  }

  #renderShown(upstream) {
    const {state} = this.#store;
    byId('selected').hidden = upstream === undefined;
    this.#endpoints.update(upstream);
    this.#refusals.update(this.#recent(this.#shown), upstream);
    if (upstream === undefined) return;
    setText(byId('selected-title'), upstream.name);
    const samples = this.#store.samples(upstream.name);
    const guarded = isGuarded(upstream, samples);
    updateGuard(upstream, samples);  // Before its charts, which take their width as they are drawn.
    this.#charts.update(samples, state.sidecar.started, state.next, guarded);
    this.#numbers.update(upstream.name, samples, state.sidecar.started, guarded);
  }

  #renderBanners() {
    const failure = this.#failure &&
        {reason: this.#failure.reason, seconds: (performance.now() - this.#failure.begun) / 1000};
    this.#banners.update(bannersOf({
      store: this.#store, failure,
      note: () => { this.#store.noteConfiguration(); this.#renderBanners(); },
      forget: () => { this.#store.restarted = 0; this.#renderBanners(); },
    }));
    this.#verdict.showTitle(this.#store.state?.upstreams ?? [], failure !== null);
  }

  #recent(name) {
    const {next} = this.#store.state;
    return this.#store.samples(name).filter(({number}) => number > next - RECENT_SECONDS);
  }
}

new Page().run();
