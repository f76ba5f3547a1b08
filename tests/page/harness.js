// SPDX-License-Identifier: Apache-2.0
// A page in a real Chromium before a stub, on a clock that the test moves.
import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
import {after, before} from 'node:test';
import {chromium} from 'playwright-core';

import {Stub} from './stub.js';

export const SCREENSHOTS = process.env.PAGE_SCREENSHOTS ??
    fileURLToPath(new URL('../../build/page-screenshots/', import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WATCHDOG_MS = 300_000;  // It ends what hangs, and decides nothing else.

const PAUSED_AT_MS = 3_600_000;

let browser;

// To be called once per test file.
export function useBrowser() {
  before(async () => {
    mkdirSync(SCREENSHOTS, {recursive: true});
    browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--disable-lcd-text', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])],
    });
  });
  after(() => browser?.close());
}

// An empty page that ends with the test `t`. Its complaints, and its requests to other servers than
// `url`, are collected in `faults`. `options` as of a browser context.
export async function openPage(t, url, options = {}) {
  const context = await browser.newContext({
    viewport: {width: 1280, height: 900}, timezoneId: 'UTC', locale: 'en-GB', ...options});
  context.setDefaultTimeout(WATCHDOG_MS);
  const page = await context.newPage();
  const faults = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.stack));
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) faults.push(`asked for ${request.url()}`);
  });
  t.after(() => context.close());
  return {page, faults};
}

// A page that has shown its first answer, `state(second)` at `second`, on a clock that stands still.
export class Stage {
  second = 400;

  static async open(t, state, options) {
    const stage = new Stage();
    stage.stub = await Stub.start();
    t.after(() => stage.stub.stop());
    stage.show(state);
    Object.assign(stage, await openPage(t, stage.stub.url, options));
    const {page} = stage;
    // From here it goes on until it is paused, at a time that no busy machine lets pass before that.
    await page.clock.install({time: 0});
    await page.addInitScript(followClock);
    await page.clock.pauseAt(PAUSED_AT_MS);
    return stage;
  }

  // From the next poll on the sidecar is in that state.
  show(state) {
    this.stub.state = () => state(this.second);
  }

  async load() {
    await this.page.goto(this.stub.url);
    if (typeof this.stub.state() !== 'number') await this.#shown();
    return this;
  }

  // Lets `seconds` pass, each with a poll that is answered and shown.
  async pass(seconds = 1) {
    for (let i = 0; i < seconds; ++i) {
      ++this.second;
      await this.ask();
      await this.#shown();
    }
  }

  // Lets a second pass and waits for the question, whatever becomes of it.
  // The page sets its timer when it has read an answer, also the one to a pick, which asks at once.
  async ask() {
    const poll = this.stub.nextPoll();
    await this.page.waitForFunction(() => globalThis.timersSet > 0);
    await this.page.clock.runFor(1000);
    return poll;
  }

  #shown() {
    const {time} = this.stub.state();
    const text = new Date(time * 1000).toISOString().slice(11, 19);
    return this.page.locator('#pulse[data-state="live"]', {hasText: text}).waitFor();
  }
}

// Runs in the page before its own scripts. Counts the timers that are set and have neither fired nor been
// cleared, and makes a signal's timeout one of the clock that the test moves: how long the stub takes to
// answer decides nothing.
function followClock() {
  const {setTimeout: set, clearTimeout: clear} = globalThis;
  AbortSignal.timeout = (milliseconds) => {
    const controller = new AbortController();
    set(() => controller.abort(new DOMException('timed out', 'TimeoutError')), milliseconds);
    return controller.signal;
  };
  const timers = new Set();
  const forget = (timer) => {
    timers.delete(timer);
    globalThis.timersSet = timers.size;
  };
  globalThis.setTimeout = (call, ...rest) => {
    const timer = set(() => {
      forget(timer);
      call();
    }, ...rest);
    timers.add(timer);
    globalThis.timersSet = timers.size;
    return timer;
  };
  globalThis.clearTimeout = (timer) => {
    forget(timer);
    clear(timer);
  };
}

// Opens a page before a stub in that state and waits until it is shown.
export async function stage(t, state, options) {
  return (await Stage.open(t, state, options)).load();
}

// What axe finds of a page that not everybody can read. Run from outside the page: its own policy
// would not allow it.
export async function axeViolations(page) {
  await page.evaluate(AXE);
  const {violations} = await page.evaluate(() => globalThis.axe.run({resultTypes: ['violations']}));
  return violations.flatMap(({id, nodes}) => nodes.map(
      (node) => `${id}: ${node.target} ${node.failureSummary}`));
}

// White space as one sees it in one line.
export const flat = (words) => words.replace(/\s+/g, ' ').trim();

export const text = async (page, selector) => flat(await page.locator(selector).innerText());

// What the canvas of each chart shows, as a hash. A second canvas lies over it, with the dots at the
// cursor.
export const chartHashes = async (page) => (
    await page.locator('canvas:first-of-type').evaluateAll(
        (canvases) => canvases.map((canvas) => canvas.toDataURL()))).map(
    (url) => createHash('sha256').update(url).digest('hex'));

export const sees = (page, selector, hasText) =>
    page.locator(selector, {hasText}).first().waitFor();
