// SPDX-License-Identifier: Apache-2.0
// What the programs speak: plaintext, or mTLS with the files of the folder INTEROP_TLS.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const {credentials, ServerCredentials} = require('@grpc/grpc-js');

const folder = process.env.INTEROP_TLS;

// Null if it is not there: a client may have no certificate.
function read(name) {
  const file = path.join(folder, name);
  return fs.existsSync(file) ? fs.readFileSync(file) : null;
}

exports.client = () => folder ?
    credentials.createSsl(read('ca.pem'), read('own.key'), read('own.crt')) :
    credentials.createInsecure();

exports.server = () => folder ?
    ServerCredentials.createSsl(
        read('ca.pem'), [{private_key: read('own.key'), cert_chain: read('own.crt')}], true) :
    ServerCredentials.createInsecure();
