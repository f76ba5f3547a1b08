// SPDX-License-Identifier: Apache-2.0
// Reads what an Envoy cluster says of its connections: HTTP/2, their age, TLS.
#pragma once

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

// Reads keepalive and the age of connections, in their present form (HttpProtocolOptions) and in
// the one before it.
void ReadProtocolOptions(Section& cluster, UpstreamDraft& upstream);

// Reads the transport socket.
void ReadTransportSocket(Section& cluster, UpstreamDraft& upstream);

}  // namespace levee::importer
