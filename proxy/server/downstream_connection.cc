// SPDX-License-Identifier: Apache-2.0
#include "server/downstream_connection.h"

#include <utility>

#include "server/worker.h"

namespace levee {

h2::StreamHandler* DownstreamConnection::OnRequest(h2::Stream& stream, Metadata& head, bool end) {
  return worker_.OnRequest(*this, stream, head, end);
}

void DownstreamConnection::OnProtocolError(std::string_view what) {
  worker_.OnProtocolError(*this, what);
}

void DownstreamConnection::OnLimit(h2::SessionLimit limit) {
  worker_.OnLimit(limit);
  connection_.OnLimit();
}

void DownstreamConnection::LeaveAsIdle() {
  if (std::exchange(leaving_, true)) {
    session().Shutdown();
  } else {
    session().AnnounceShutdown();
  }
}

void DownstreamConnection::OnConnectionClosed(const std::string& reason) {
  worker_.OnDownstreamClosed(*this, reason);
}

}  // namespace levee
