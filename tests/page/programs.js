// SPDX-License-Identifier: Apache-2.0
// Starts the service and a real Levee before it, loads them, and ends what was started.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {createInterface} from 'node:readline';
import {tmpdir} from 'node:os';
import {fileURLToPath} from 'node:url';
import grpc from '@grpc/grpc-js';

const BUILD = fileURLToPath(new URL('../../build/', import.meta.url));
const LEVEE = process.env.LEVEE_BINARY ?? `${BUILD}levee`;
const SERVICE = process.env.INTEROP_SERVICE ?? `${BUILD}tests/interop_service`;

class Program {
  constructor(t, command, ...parameters) {
    this.child = spawn(command, parameters, {stdio: ['pipe', 'pipe', 'pipe']});
    this.ended = once(this.child, 'exit');
    this.errors = '';
    this.child.stderr.on('data', (bytes) => { this.errors += bytes; });
    this.lines = createInterface({input: this.child.stdout})[Symbol.asyncIterator]();
    t.after(() => this.kill());
  }

  // Returns what the group of `pattern` matches in the next line that is printed.
  async said(pattern) {
    const {value: line = ''} = await this.lines.next();
    const found = line.match(pattern);
    if (!found) throw new Error(`it printed "${line}", not ${pattern}\n${this.errors}`);
    return found[1];
  }

  async kill() {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}

// interop_service: fails as often as a call's x-fail-first says.
export async function startService(t) {
  const service = new Program(t, SERVICE);
  service.address = await service.said(/^listening (\S+)$/);
  return service;
}

// A sidecar with a configuration that can be replaced while it runs.
export class Sidecar extends Program {
  static async start(t, config) {
    const folder = mkdtempSync(`${tmpdir()}/levee-page-`);
    t.after(() => rmSync(folder, {recursive: true}));
    writeFileSync(`${folder}/levee.yaml`, JSON.stringify(config));  // JSON is YAML.
    const sidecar = new Sidecar(t, LEVEE, 'run', '--config', `${folder}/levee.yaml`);
    sidecar.#file = `${folder}/levee.yaml`;
    sidecar.calls = await sidecar.said(/^listening (?:egress|ingress) (\S+)$/);
    await sidecar.said(/^listening metrics (\S+)$/);
    sidecar.admin = await sidecar.said(/^listening admin (\S+)$/);
    sidecar.url = `http://${sidecar.admin}/`;
    return sidecar;
  }

  #file;

  configure(text) {
    writeFileSync(`${this.#file}.new`, text);
    renameSync(`${this.#file}.new`, this.#file);
  }
}

// What `levee snapshot` writes of the sidecar at `admin`, in a file.
export async function takeSnapshot(t, admin) {
  const folder = mkdtempSync(`${tmpdir()}/levee-snapshot-`);
  t.after(() => rmSync(folder, {recursive: true}));
  const file = `${folder}/snapshot.json`;
  const program = new Program(t, LEVEE, 'snapshot', '--address', admin, '-o', file);
  const [code] = await program.ended;
  if (code !== 0) throw new Error(program.errors);
  return file;
}

// `levee page FILE`; its url is that of the page.
export async function startPage(t, file) {
  const page = new Program(t, LEVEE, 'page', file);
  page.url = await page.said(/ (http:\S+) \(Ctrl-C ends it\)$/);
  return page;
}

// The parts of a configuration that all tests share; `rest` adds upstreams and routes.
export const configOf = (rest) => ({
  listeners: [{name: 'egress', address: '127.0.0.1:0'}],
  metrics: {address: '127.0.0.1:0'}, admin: {address: '127.0.0.1:0'}, ...rest,
});

const bytes = (message) => message;

// Calls at a constant rate, `failing` of them (0 to 1) such that no attempt succeeds, and `rescued`
// such that the first one fails.
export class Load {
  failing = 0;
  rescued = 0;
  #client;
  #timer;
  #number = 0;

  constructor(t, address, perSecond) {
    this.#client = new grpc.Client(address, grpc.credentials.createInsecure(),
                                   {'grpc.enable_retries': 0});
    this.#timer = setInterval(() => this.#call(), 1000 / perSecond);
    t.after(() => this.stop());
  }

  stop() {
    clearInterval(this.#timer);
    this.#client.close();
  }

  #call() {
    const share = (this.#number++ * 0.618034) % 1;  // Evenly spread, and the same each time.
    const fails = share < this.failing ? 1000 : share < this.failing + this.rescued ? 1 : 0;
    const metadata = new grpc.Metadata();
    metadata.set('x-fail-first', String(fails));
    const method = share * 10 % 1 < 0.7 ? '/shop.Cart/Unary' : '/shop.Checkout/Unary';
    this.#client.makeUnaryRequest(method, bytes, bytes, Buffer.from('hello'), metadata,
                                  {deadline: Date.now() + 300_000}, () => {});
  }
}
