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

void DownstreamConnection::Leave() {
  if (leaving_ == Leaving::kNo) {
    leaving_ = Leaving::kAsked;
    session().AnnounceShutdown();
  } else if (leaving_ == Leaving::kAsked) {
    leaving_ = Leaving::kTold;
    session().Shutdown();
  }
}

void DownstreamConnection::LimitAge(WorkerIo& io, Random& random) {
  const absl::Duration age = origin_.listener->max_connection_age;
  if (age == absl::InfiniteDuration()) return;
  age_ = std::make_unique<ConnectionAge>(io.wheel, io.loop.now(), age, random, [this] { Leave(); });
}

void DownstreamConnection::OnConnectionClosed(const std::string& reason) {
  worker_.OnDownstreamClosed(*this, reason);
}

}  // namespace levee
