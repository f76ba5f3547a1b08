// SPDX-License-Identifier: Apache-2.0
// A gRPC service and a client that know nothing of Levee.
//
//   grpc.mjs serve ADDRESS FAILURES    answers a call with the metadata that came; the first calls fail
//   grpc.mjs call TARGET               prints the answer, or the status, as JSON
import {createRequire} from 'node:module';

const {default: grpc} = await import(
    createRequire(new URL('../page/package.json', import.meta.url)).resolve('@grpc/grpc-js'));

const bytes = (message) => message;
const method = {path: '/shop.Cart/Get', requestStream: false, responseStream: false,
                requestSerialize: bytes, requestDeserialize: bytes, responseSerialize: bytes,
                responseDeserialize: bytes};

function serve(address, failures) {
  const server = new grpc.Server();
  let calls = 0;
  server.addService({get: method}, {get: (call, answer) => {
    ++calls;
    if (calls <= failures) {
      answer({code: grpc.status.UNAVAILABLE, details: 'not yet'});
      return;
    }
    const head = {calls, text: call.request.toString(), metadata: call.metadata.getMap()};
    answer(null, Buffer.from(JSON.stringify(head)));
  }});
  server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error, port) => {
    if (error) throw error;
    console.log(`listening ${port}`);
  });
}

function call(target) {
  const client = new grpc.Client(target, grpc.credentials.createInsecure(),
                                 {'grpc.enable_retries': 0});
  client.makeUnaryRequest(method.path, bytes, bytes, Buffer.from('hello'),
                          {deadline: Date.now() + 300_000}, (error, answer) => {
                            console.log(error ? JSON.stringify({code: error.code,
                                                                details: error.details})
                                              : answer.toString());
                            client.close();
                          });
}

const [what, where, failures] = process.argv.slice(2);
if (what === 'serve') serve(where, Number(failures));
else call(where);
