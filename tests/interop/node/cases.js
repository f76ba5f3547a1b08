// SPDX-License-Identifier: Apache-2.0
// Runs the interop cases with grpc-js.
//
// cases.js LEVEE TARGET    prints a line per case: "ok NAME", "failed NAME: WHY" or
//                          "skipped NAME: WHY"
'use strict';

const assert = require('node:assert');
const path = require('node:path');

const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const credentials = require('./credentials');

const {compressionAlgorithms: {gzip}, status} = grpc;
const NO_COMPRESSION = 2;  // The flag of gRPC's core for one message, as write() takes it.
const PATIENCE_MS = 300_000;
const LARGE = 300_000;
const SIZES = [31_000, 9, 2_500, 60_000];
const SPECIAL = '\t\ndykes hold 100% \r\n\u2713 and \u{1F30A}\t\n';
const BINARY = Buffer.from([0, 0xff, 0x0a, 0x2c]);

const definition = loader.loadSync(path.join(__dirname, '../interop.proto'), {keepCase: true});
const pb = grpc.loadPackageDefinition(definition).levee.interop.v1;

const [levee, target] = process.argv.slice(2);
function dial(Client, options = {}) {
  return new Client(levee, credentials.client(),
                    {'grpc.default_authority': target, ...options});
}

const test = dial(pb.TestService);
const missing = dial(pb.MissingService);
const compressing = dial(pb.TestService, {'grpc.default_compression_algorithm': gzip});

const patient = () => ({deadline: Date.now() + PATIENCE_MS});

const body = (size) => Buffer.alloc(size);

const asking = (sizes, form = 'ANY') => ({answers: sizes.map((size) => ({size, form}))});

// Makes a call with one answer; returns that, the headers and the trailers.
function single(client, method, request, metadata = new grpc.Metadata()) {
  return new Promise((resolve, reject) => {
    let head;
    let message;
    const call = client[method](request, metadata, patient(), (error, answer) => {
      if (error) reject(error);
      message = answer;
    });
    call.on('metadata', (fields) => head = fields);
    call.on('status', ({metadata: trailers}) => resolve({message, head, trailers}));
  });
}

async function unary(client, request) {
  const {message} = await single(client, 'UnaryCall', request);
  const size = (request.answers ?? []).reduce((sum, answer) => sum + answer.size, 0);
  assert(Buffer.from(message.body ?? '').equals(body(size)), `${message.body?.length} bytes`);
}

function streamingInput(client, send) {
  return new Promise((resolve, reject) => {
    send(client.StreamingInput(
        patient(), (error, total) => error ? reject(error) : resolve(Number(total.size))));
  });
}

async function output(request) {
  const sizes = [];
  for await (const answer of test.StreamingOutput(request, patient())) {
    sizes.push(answer.body.length);
  }
  assert.deepStrictEqual(sizes, request.answers.map((answer) => answer.size));
}

// A FullDuplex call whose requests are sent one by one.
class Duplex {
  constructor(metadata = new grpc.Metadata(), options = patient()) {
    this.call = test.FullDuplex(metadata, options);
    this.call.on('metadata', (head) => this.head = head);
    this.ended = new Promise((resolve) => this.call.on('status', resolve));
    this.answers = this.call[Symbol.asyncIterator]();
  }

  async exchange(request) {
    this.call.write(request);
    return (await this.answers.next()).value;
  }

  async end() {
    this.call.end();
    assert((await this.answers.next()).done, 'an answer too many');
    return {head: this.head, trailers: (await this.ended).metadata};
  }
}

function asksForMetadata() {
  const metadata = new grpc.Metadata();
  metadata.set('x-interop-head', 'at the head');
  metadata.set('x-interop-trailer-bin', BINARY);
  return metadata;
}

function checkMetadata({head, trailers}) {
  assert.deepStrictEqual(head.get('x-interop-head'), ['at the head']);
  assert.deepStrictEqual(trailers.get('x-interop-trailer-bin'), [BINARY]);
}

const unknown = (details) => ({code: status.UNKNOWN, details});

const cases = {
  empty_unary: () => single(test, 'EmptyCall', {}),

  large_unary: () => unary(test, {body: body(LARGE), form: 'PLAIN', ...asking([LARGE])}),

  async client_compressed_unary() {
    await unary(compressing, {body: body(LARGE), form: 'COMPRESSED'});
    await unary(test, {body: body(LARGE), form: 'PLAIN'});
  },

  async server_compressed_unary() {
    await unary(test, asking([LARGE], 'COMPRESSED'));
    await unary(test, asking([LARGE], 'PLAIN'));
  },

  async client_compressed_streaming() {
    const total = await streamingInput(compressing, (call) => {
      // Before Node 20 write() takes no flag in the place of an encoding.
      call.write({body: body(LARGE), form: 'COMPRESSED'}, () => {
        call._write({body: body(LARGE), form: 'PLAIN'}, NO_COMPRESSION, () => call.end());
      });
    });
    assert.strictEqual(total, 2 * LARGE);
  },

  server_compressed_streaming: () => output(
      {answers: [{size: LARGE, form: 'COMPRESSED'}, {size: LARGE, form: 'PLAIN'}]}),

  async client_streaming() {
    const total = await streamingInput(test, (call) => {
      for (const size of SIZES) call.write({body: body(size)});
      call.end();
    });
    assert.strictEqual(total, 93_509);
  },

  server_streaming: () => output(asking(SIZES)),

  async ping_pong() {
    const duplex = new Duplex();
    for (const size of SIZES) {
      const answer = await duplex.exchange({body: body(size), ...asking([size])});
      assert.strictEqual(answer.body.length, size);
    }
    await duplex.end();
  },

  empty_stream: () => new Duplex().end(),

  async custom_metadata() {
    checkMetadata(await single(test, 'EmptyCall', {}, asksForMetadata()));
    const duplex = new Duplex(asksForMetadata());
    await duplex.exchange(asking([1]));
    checkMetadata(await duplex.end());
  },

  async status_code_and_message() {
    const ending = {code: status.UNKNOWN, message: 'as asked for'};
    await assert.rejects(unary(test, {ending}), unknown('as asked for'));
    await assert.rejects(new Duplex().exchange({ending}), unknown('as asked for'));
  },

  special_status_message: () => assert.rejects(
      unary(test, {ending: {code: status.UNKNOWN, message: SPECIAL}}), unknown(SPECIAL)),

  unimplemented_method: () => assert.rejects(
      single(test, 'Missing', {}), {code: status.UNIMPLEMENTED}),

  unimplemented_service: () => assert.rejects(
      single(missing, 'Missing', {}), {code: status.UNIMPLEMENTED}),

  cancel_after_begin: () => assert.rejects(
      streamingInput(test, (call) => call.cancel()), {code: status.CANCELLED}),

  async cancel_after_first_response() {
    const duplex = new Duplex();
    await duplex.exchange(asking([9]));
    duplex.call.cancel();
    await assert.rejects(duplex.answers.next(), {code: status.CANCELLED});
  },

  async timeout_on_sleeping_server() {
    const duplex = new Duplex(new grpc.Metadata(), {deadline: Date.now() + 50});
    await assert.rejects(duplex.exchange({answers: [{size: 9, delay_ms: 5_000}]}),
                         {code: status.DEADLINE_EXCEEDED});
  },
};

async function main() {
  for (const [name, run] of Object.entries(cases)) {
    try {
      await run();
      console.log('ok', name);
    } catch (error) {
      console.log(`failed ${name}: ${error.message}`.replaceAll('\n', ' '));
    }
  }
  process.exit();  // Calls that were left would keep it running until their deadlines.
}

main();
