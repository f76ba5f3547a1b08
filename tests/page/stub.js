// SPDX-License-Identifier: Apache-2.0
// Serves the page from the source tree, with the headers of the real one and scripted states.
import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

export const PAGE = fileURLToPath(new URL('../../proxy/admin/page/', import.meta.url));

// The headers of every answer of the admin server; the test against the real one compares them.
export const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; script-src 'self'; style-src 'self'; " +
      "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; " +
      "frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

// [{path, type, file}], as in files.txt; `own`: the file is in the page's folder.
export function pageFiles() {
  return readFileSync(`${PAGE}files.txt`, 'utf8').split('\n').filter((line) => line.startsWith('/'))
      .map((line) => line.split(/ +/))
      .map(([path, type, file]) => ({path, type, file: resolve(PAGE, file), own: !file.startsWith('/')}));
}

export class Stub {
  // Called with `since`; returns a state, an HTTP status, or a promise of either.
  state = () => 503;
  polls = [];  // the `since` of each
  details = [];  // the `details_of` of each; null: without
  posted = 0;  // requests that are neither GET nor HEAD
  #waiting = [];
  #server;

  static async start() {
    const stub = new Stub();
    stub.#server = createServer((request, response) => stub.#answer(request, response));
    await new Promise((resolve) => stub.#server.listen(0, '127.0.0.1', resolve));
    stub.url = `http://127.0.0.1:${stub.#server.address().port}/`;
    return stub;
  }

  stop() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  // Resolves with the `since` of the next poll.
  nextPoll() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async #answer(request, response) {
    const {pathname, searchParams} = new URL(request.url, this.url);
    if (!['GET', 'HEAD'].includes(request.method)) ++this.posted;
    if (pathname === '/api/v1/state') return this.#poll(searchParams, response);
    const found = pageFiles().find(({path}) => path === pathname);
    if (!found) return send(response, 404, 'text/plain', 'not found');
    send(response, 200, found.type, readFileSync(found.file));
  }

  async #poll(parameters, response) {
    const since = Number(parameters.get('since'));
    const details = parameters.get('details_of');
    this.polls.push(since);
    this.details.push(details);
    for (const resolve of this.#waiting.splice(0)) resolve(since);
    const state = await this.state(since);
    if (typeof state === 'number') return send(response, state, 'text/plain', 'scripted');
    send(response, 200, 'application/json', JSON.stringify(answer(state, since, details)));
  }
}

// As the sidecar does: only what came after second `since`, samples and endpoints of the upstream
// `details` only, or of all if there are few of them.
function answer(state, since, details) {
  const later = (entries) => entries.filter(({number}) => number > since);
  const wanted = ({name}) => [name, null].includes(details);
  const few = state.upstreams.filter(wanted).flatMap(({samples}) => later(samples)).length <= 3000;
  const withDetails = (each) => ({...each, samples: few ? later(each.samples) : [],
                                  samples_left_out: !few && later(each.samples).length > 0});
  const without = ({endpoints, ...each}) => ({
    ...each, samples: [], samples_left_out: later(each.samples).length > 0, endpoints: [],
    endpoints_left_out: endpoints.length});
  return {
    ...state, calls: later(state.calls),
    upstreams: state.upstreams.map((each) => wanted(each) ? withDetails(each) : without(each)),
  };
}

function send(response, status, type, body) {
  const charset = type.startsWith('image/') ? '' : '; charset=utf-8';
  response.writeHead(status, {...HEADERS, 'content-type': type + charset});
  response.end(body);
}
