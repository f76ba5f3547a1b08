// SPDX-License-Identifier: Apache-2.0
// A client of one rate limit service, on a loop.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "conn/worker_io.h"
#include "net/resolver.h"
#include "policy/lease_request.h"
#include "telemetry/series.h"
#include "upstream/pool.h"

namespace levee {

// Calls ShouldRateLimit, through the HTTP/2 client of calls. Connects at once, and again whenever a
// connection is lost. One thread, that of the loop.
class LimitService {
 public:
  // DeadlineExceeded: no answer within the timeout; it may have been counted. Unavailable: there is
  // no connection, or it was lost. Others: the service's answer was none.
  using Done = absl::AnyInvocable<void(const absl::StatusOr<LeaseGrant>&)>;

  static constexpr size_t kMostPending = 10'000;

  // `host`: a name or an IP address. The references outlive it.
  LimitService(WorkerIo& io, net::Resolver& resolver, Random& random, const std::string& host,
               uint16_t port);
  ~LimitService();
  LimitService(const LimitService&) = delete;
  LimitService& operator=(const LimitService&) = delete;

  // Makes a call with this message, for `hits` permits. Calls `done` once, at the latest when this
  // is destroyed. `timeout`: from now to the answer.
  void Ask(std::string frame, int64_t hits, absl::Duration timeout, Done done);

  // Whether there is a connection. If not: `reason` says why.
  bool Connected(std::string& reason);

  // As it is named in metrics and events: "ratelimit.shop:8081".
  static std::string AddressText(const std::string& host, uint16_t port);

 private:
  class Question;

  void End(Question& question, const absl::StatusOr<LeaseGrant>& answer);

  WorkerIo& io_;
  const std::string address_;
  const std::vector<net::Address> own_listeners_;  // none: they belong to the workers
  const ConnectPolicy connect_;
  UpstreamSeries series_;  // of no metric: an upstream is of the configuration
  Pool pool_;
  std::map<Question*, std::unique_ptr<Question>> questions_;
};

}  // namespace levee
