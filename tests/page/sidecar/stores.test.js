// SPDX-License-Identifier: Apache-2.0
// A real Redis that becomes unreachable and comes back, as the page shows it.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {createServer} from 'node:net';
import {test} from 'node:test';

import {axeViolations, openPage, sees, useBrowser} from '../harness.js';
import {Load, Sidecar, configOf, startService} from '../programs.js';

useBrowser();

const skip = spawnSync('redis-server', ['--version']).status === 0
    ? false : 'redis-server is not installed';

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

// A redis-server with nothing on disk; it may be started again at its port.
function startRedis(t, port) {
  const redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '',
                                       '--appendonly', 'no'], {stdio: 'ignore'});
  const kill = async () => {
    if (redis.exitCode !== null || redis.signalCode !== null) return;
    redis.kill('SIGKILL');
    await once(redis, 'exit');
  };
  t.after(kill);
  return kill;
}

const shared = (service, port) => configOf({
  listeners: [{name: 'ingress', address: '127.0.0.1:0', direction: 'inbound'}],
  stores: [{name: 'shared', redis: [`127.0.0.1:${port}`]}],
  upstreams: [{name: 'app', endpoints: [service]}],
  routes: [{match: {listener: 'ingress'}, upstream: 'app', policy: 'shared'}],
  policies: [{name: 'shared', rate_limit: [
    {name: 'all', rate: '1000/s', burst: 100, scope: 'global', store: 'shared'}],
    guard: {dedupe: {header: 'x-key', store: 'shared'}}}],
});

test('a store that becomes unreachable and comes back: its view, its lease and its keys tell of it', {skip},
     async (t) => {
  const port = await freePort();
  const kill = startRedis(t, port);
  const service = await startService(t);
  const sidecar = await Sidecar.start(t, shared(service.address, port));
  const {page, faults} = await openPage(t, sidecar.url);
  await page.goto(sidecar.url);
  await sees(page, '#shared li', new RegExp(`connected\\s*shared.*a server at 127.0.0.1:${port}`));
  new Load(t, sidecar.calls, 40);
  await sees(page, '#shared li', /leased\s*shared: all\s*by shared; [1-9][0-9.]* permits\/s granted/);
  await sees(page, '#shared li', /requests\/s; replies take/);
  await sees(page, '#shared li', /app\s*keys, 0 B; 0 calls with a key run/);
  assert.deepEqual(await axeViolations(page), []);

  await kill();
  await sees(page, '#shared li', /unreachable\s*shared.*connection refused/);
  await sees(page, '#shared li', /stale\s*shared: all.*calls go on at the last rate: [1-9]/);

  startRedis(t, port);
  await sees(page, '#shared li', /connected\s*shared/);
  await sees(page, '#shared li', /leased\s*shared: all/);
  assert.deepEqual(faults, []);
});
