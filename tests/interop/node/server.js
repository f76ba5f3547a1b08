// SPDX-License-Identifier: Apache-2.0
// Serves interop.proto with grpc-js: prints "listening HOST:PORT", and ends with its standard input.
'use strict';

const path = require('node:path');
const {setTimeout: sleep} = require('node:timers/promises');

const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const credentials = require('./credentials');

const definition = loader.loadSync(path.join(__dirname, '../interop.proto'));
const {TestService} = grpc.loadPackageDefinition(definition).levee.interop.v1;

// Returns the trailers that the caller asks for, after sending the headers that it does.
function echoMetadata(call) {
  const head = call.metadata.get('x-interop-head');
  if (head.length > 0) {
    const metadata = new grpc.Metadata();
    metadata.set('x-interop-head', head[0]);
    call.sendMetadata(metadata);
  }
  const trailers = new grpc.Metadata();
  for (const value of call.metadata.get('x-interop-trailer-bin')) {
    trailers.set('x-interop-trailer-bin', value);
  }
  return trailers;
}

function failure(request) {
  const {code, message} = request.ending ?? {};
  return code ? {code, details: message} : null;
}

// grpc-js compresses no answer, whatever form is asked for.
async function responseTo(answer) {
  await sleep(answer.delayMs ?? 0);
  return {body: Buffer.alloc(answer.size ?? 0)};
}

// Ends the call with the failure that it asks for, if any, and says whether it has.
async function sendAnswers(call, request) {
  for (const answer of request.answers ?? []) call.write(await responseTo(answer));
  const failed = failure(request);
  if (failed) call.emit('error', failed);
  return failed !== null;
}

const service = {
  EmptyCall: (call, done) => done(null, {}, echoMetadata(call)),

  async UnaryCall(call, done) {
    const trailers = echoMetadata(call);
    const [answer] = call.request.answers ?? [];
    done(failure(call.request), answer ? await responseTo(answer) : {}, trailers);
  },

  StreamingInput(call, done) {
    const trailers = echoMetadata(call);
    let size = 0;
    call.on('data', (request) => size += request.body?.length ?? 0);
    call.on('end', () => done(null, {size}, trailers));
  },

  async StreamingOutput(call) {
    const trailers = echoMetadata(call);
    if (!await sendAnswers(call, call.request)) call.end(trailers);
  },

  async FullDuplex(call) {
    const trailers = echoMetadata(call);
    try {
      // Otherwise the end of the requests would destroy the answers as well.
      for await (const request of call.iterator({destroyOnReturn: false})) {
        if (await sendAnswers(call, request)) return;
      }
    } catch {
      return;  // The caller has cancelled.
    }
    call.end(trailers);
  },
};

const server = new grpc.Server();
server.addService(TestService.service, service);
server.bindAsync('127.0.0.1:0', credentials.server(), (error, port) => {
  if (error) throw error;
  console.log(`listening 127.0.0.1:${port}`);
});
process.stdin.on('end', () => process.exit()).resume();
