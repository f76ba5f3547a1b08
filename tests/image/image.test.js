// SPDX-License-Identifier: Apache-2.0
// The contents of the image, and that it runs as a locked-down container: read-only, without
// privileges, as an unprivileged user. tests/image/run builds it and starts this.
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {after, before, test} from 'node:test';

const {default: grpc} = await import(
    createRequire(new URL('../page/package.json', import.meta.url)).resolve('@grpc/grpc-js'));

const IMAGE = 'localhost/levee:test';
const [program, ...general] = process.env.PODMAN.split(' ');
const UNDER_TEST = process.env.UNDER_TEST.split(/\s+/);
const bytes = (message) => message;

function podman(...parameters) {
  return execFileSync(program, [...general, ...parameters], {encoding: 'utf8', timeout: 60_000,
                                                            maxBuffer: 1 << 26}).trim();
}

const image = JSON.parse(podman('image', 'inspect', IMAGE))[0];
let files;  // path -> type and mode, as tar lists them
let unpacked;

before(() => {
  unpacked = mkdtempSync(`${tmpdir()}/levee-image-`);
  const container = podman('create', ...UNDER_TEST, IMAGE);
  podman('export', '--output', `${unpacked}/image.tar`, container);
  podman('rm', container);
  const list = execFileSync('tar', ['--list', '--verbose', '--file', `${unpacked}/image.tar`],
                            {encoding: 'utf8'});
  files = new Map(list.trim().split('\n').map((line) => {
    const [mode, , , , , ...name] = line.split(/ +/);
    return [name.join(' ').split(' -> ')[0], mode];
  }));
  execFileSync('tar', ['--extract', '--directory', unpacked, '--file', `${unpacked}/image.tar`]);
});
after(() => rmSync(unpacked, {recursive: true}));

// The port of a service that answers each call with its own bytes after `delay_ms`.
async function startService(t, delay_ms, onCall = () => {}) {
  const server = new grpc.Server();
  const method = {path: '/shop.Cart/Add', requestStream: false, responseStream: false,
                  requestSerialize: bytes, requestDeserialize: bytes, responseSerialize: bytes,
                  responseDeserialize: bytes};
  server.addService({add: method}, {add: (call, answer) => {
    onCall();
    setTimeout(() => answer(null, call.request), delay_ms);
  }});
  t.after(() => server.forceShutdown());
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(),
                     (error, port) => (error ? reject(error) : resolve(port)));
  });
}

function call(text) {
  const client = new grpc.Client('127.0.0.1:9460', grpc.credentials.createInsecure());
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest('/shop.Cart/Add', bytes, bytes, Buffer.from(text),
                            {deadline: Date.now() + 300_000}, (error, answer) => {
                              client.close();
                              return error ? reject(error) : resolve(answer.toString());
                            });
  });
}

// Runs the image as deploy/kubernetes does, in front of the service, and waits until it is ready.
function runLockedDown(t, port) {
  const container = podman('run', '--detach', ...UNDER_TEST, '--read-only',
                           '--read-only-tmpfs=false', '--cap-drop=all',
                           '--security-opt=no-new-privileges', IMAGE, 'run',
                           `--to=127.0.0.1:${port}`);
  t.after(() => podman('rm', '--force', '--time=0', container));
  const deadline = Date.now() + 300_000;
  while (probe(container, '--ready').status !== 0) {
    assert(Date.now() < deadline, podman('logs', container));
  }
  return container;
}

function probe(container, ...parameters) {
  return spawnSync(program, [...general, 'exec', container, '/usr/bin/levee', 'probe',
                             ...parameters], {encoding: 'utf8', timeout: 20_000});
}

test('it is smaller than 60 MB', () => {
  assert(image.Size < 60e6, `${image.Size}`);
  console.log(`image size: ${(image.Size / 1e6).toFixed(1)} MB`);
});

test('it runs levee as the user that Kubernetes can see is not root', () => {
  assert.equal(image.Config.User, '65532:65532');
  assert.deepEqual(image.Config.Entrypoint, ['/usr/bin/levee']);
  assert.deepEqual(image.Config.Cmd, ['run']);
});

test('its health check needs no shell', () => {
  assert.deepEqual(image.HealthCheck?.Test ?? image.Healthcheck.Test,
                   ['CMD', '/usr/bin/levee', 'probe']);
});

test('its labels say what it is', () => {
  const project = readFileSync('CMakeLists.txt', 'utf8').match(/project\(levee VERSION (\S+)/)[1];
  const labels = image.Config.Labels;
  assert.equal(labels['org.opencontainers.image.version'], project);
  assert.equal(labels['org.opencontainers.image.title'], 'levee');
  assert.equal(labels['org.opencontainers.image.licenses'], 'Apache-2.0');
  assert.match(labels['org.opencontainers.image.revision'], /^[0-9a-f]{12}$/);
});

test('it holds one program, the objects that it loads, and nothing that root could be had by', () => {
  const programs = [...files].filter(([, mode]) => /^-.*x/.test(mode)).map(([path]) => path);
  const others = programs.filter((path) => !/^usr\/lib(64)?\/.*\.so[.0-9]*$/.test(path));
  assert.deepEqual(others, ['usr/bin/levee']);
  for (const [path, mode] of files) {
    assert(!/s|t/.test(mode.slice(1)), `${mode} ${path}`);
    assert(mode[0] === 'l' || mode[8] !== 'w', `${mode} ${path}`);
  }
});

test('its list of contents names the packages of every object and of what is linked in', () => {
  const list = JSON.parse(readFileSync(`${unpacked}/usr/share/doc/levee/levee.spdx.json`, 'utf8'));
  const names = list.packages.map(({name}) => name);
  for (const name of ['levee', 'libc6', 'libstdc++6', 'libgrpc++-dev', 'libprotobuf-dev',
                      'libabsl-dev', 'libssl-dev', 'libcli11-dev', 'ca-certificates', 'libjs-dygraphs']) {
    assert(names.includes(name), name);
  }
  for (const {name, versionInfo} of list.packages) {
    assert.match(versionInfo, /^\S+$/, name);
    if (name !== 'levee') {
      assert(files.has(`usr/share/doc/${name}/copyright`), `licence of ${name}`);
    }
  }
});

test('it carries a call, read-only and without any privilege', async (t) => {
  const container = runLockedDown(t, await startService(t, 0));
  assert.equal(await call('hello'), 'hello');
  const pid = podman('inspect', '--format', '{{.State.Pid}}', container);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  assert.match(status, /^Uid:\t65532\t65532\t65532\t65532$/m);
  assert.match(status, /^Cap(Inh|Prm|Eff|Bnd|Amb):\t0+$/m);
  assert.match(status, /^CapBnd:\t0+$/m);
  assert.match(status, /^NoNewPrivs:\t1$/m);
  assert.match(readFileSync(`/proc/${pid}/mountinfo`, 'utf8'), /^\S+ \S+ \S+ \/ \/ ro/m);
});

test('its probe says that it is healthy', async (t) => {
  const container = runLockedDown(t, await startService(t, 0));
  const answer = probe(container);
  assert.equal(answer.stdout.trim(), 'healthy');
  assert.equal(answer.status, 0);
});

test('it ends the calls under way before it stops', async (t) => {
  let arrived;
  const underWay = new Promise((resolve) => { arrived = resolve; });
  const container = runLockedDown(t, await startService(t, 2000, arrived));
  const answer = call('slow');
  await underWay;
  podman('kill', '--signal=TERM', container);
  assert.equal(await answer, 'slow');
  assert.equal(podman('wait', container), '0');
});

test('the image levee-capture redirects connections without being root', () => {
  const capture = (...options) => spawnSync(
      program, [...general, 'run', '--rm', ...UNDER_TEST, '--read-only', '--cap-drop=all',
                '--cap-add=net_admin', '--security-opt=no-new-privileges',
                'localhost/levee-capture:test', 'capture', '--backend=nft', ...options],
      {encoding: 'utf8', timeout: 20_000});
  const done = capture('--ports=50051', '--to=9470', '--uid=9470');
  assert.equal(done.status, 0, done.stderr);
  assert.match(execFileSync('nft', ['list', 'ruleset'], {encoding: 'utf8'}),
               /tcp dport 50051 redirect to :9470/);
  assert.equal(capture('--remove').status, 0);
  assert.equal(podman('image', 'inspect', '--format', '{{.Config.User}}',
                      'localhost/levee-capture:test'), '65532:65532');
});

test('a policy with a fault starts nothing and says why', async () => {
  const ended = spawnSync(program, [...general, 'run', '--rm', '--interactive', ...UNDER_TEST,
                                    IMAGE, 'check', '-'],
                          {input: 'limit: {}\n', encoding: 'utf8', timeout: 20_000});
  assert.equal(ended.status, 1);
  assert.match(ended.stdout, /limit: unknown field/);
});
