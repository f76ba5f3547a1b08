// SPDX-License-Identifier: Apache-2.0
// Calls the test's service through Levee with grpc-js.
//
// client.js calls LEVEE TARGET                 one call of each kind, whose first attempt fails
// client.js storm LEVEE TARGET SERVICE_CONFIG  300 calls of which every attempt fails
'use strict';

const grpc = require('@grpc/grpc-js');

const SECONDS = 300;
const STORM_CALLS = 300;
const STORM_LOOPS = 10;

const bytes = (message) => message;

function dial(levee, target) {
  // DOCUMENT:
  const client = new grpc.Client(levee, grpc.credentials.createInsecure(),
                                 {'grpc.default_authority': target});
  // :DOCUMENT
  return client;
}

function dialRetrying(levee, target, serviceConfig) {
  return new grpc.Client(
      levee, grpc.credentials.createInsecure(),
      {'grpc.default_authority': target, 'grpc.service_config': serviceConfig});
}

function failFirst(attempts) {
  const metadata = new grpc.Metadata();
  metadata.set('x-fail-first', String(attempts));
  return metadata;
}

const options = () => ({deadline: Date.now() + SECONDS * 1000});

function unary(client, metadata) {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
        '/shop.Cart/Unary', bytes, bytes, Buffer.from('hello'), metadata, options(),
        (error, message) => error ? reject(error) : resolve(message));
  });
}

async function oneOfEachKind(client) {
  console.log('unary', String(await unary(client, failFirst(1))));

  const sizes = [];
  const stream = client.makeServerStreamRequest(
      '/shop.Cart/Stream', bytes, bytes, Buffer.from('3 5'), failFirst(1), options());
  for await (const message of stream) sizes.push(String(message));
  console.log('stream', ...sizes);

  const echoes = [];
  const chat = client.makeBidiStreamRequest(
      '/shop.Cart/Chat', bytes, bytes, failFirst(1), options());
  const heard = chat[Symbol.asyncIterator]();
  for (const word of ['one', 'two', 'three']) {  // Each once the answer to the last is heard.
    chat.write(Buffer.from(word));
    echoes.push(String((await heard.next()).value));
  }
  chat.end();
  for await (const message of heard) echoes.push(String(message));
  console.log('chat', ...echoes);
}

async function storm(client) {
  const counts = {};
  async function loop() {
    for (let i = 0; i < STORM_CALLS / STORM_LOOPS; ++i) {
      const code = await unary(client, failFirst(1000)).then(() => 0, (error) => error.code);
      counts[grpc.status[code]] = (counts[grpc.status[code]] ?? 0) + 1;
    }
  }
  await Promise.all(Array.from({length: STORM_LOOPS}, loop));
  for (const [name, count] of Object.entries(counts)) console.log(name, count);
}

async function main(scenario, ...where) {
  const client = scenario === 'calls' ? dial(...where) : dialRetrying(...where);
  await (scenario === 'calls' ? oneOfEachKind(client) : storm(client));
  client.close();
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);  // An open channel would keep it running.
});
