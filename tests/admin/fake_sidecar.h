// SPDX-License-Identifier: Apache-2.0
// A sidecar as the admin servers see it, whose every fact the test sets.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "admin/sources.h"
#include "config/load.h"
#include "telemetry/record_call.h"

namespace levee {

// One upstream, `cart`, unless another configuration is given. Its clock begins at 1000 s, the wall
// clock at 2026-01-01.
class FakeSidecar {
 public:
  explicit FakeSidecar(const std::string& yaml =
                           "upstreams: [{name: cart, endpoints: [\"127.0.0.1:50051\"]}]\n"
                           "routes: [{upstream: cart}]\n") {
    const auto snapshot = ParseConfig("levee.yaml", yaml);
    if (snapshot.ok()) status_.snapshot = *snapshot;
    status_.loaded = sources.started_at;
    status_.files = {"levee.yaml"};
  }

  // Calls of one attempt that have ended, as their worker counts them.
  void Count(const std::string& upstream, StatusCode code, int ended = 1) {
    CallRecord record{.start = At(0), .end = At(0.002), .code = code};
    record.attempts.push_back({.start = record.start, .end = record.end, .code = code});
    for (int i = 0; i < ended; ++i) {
      RecordCall(metrics.Method(0, upstream, "/shop.Cart/Add"), metrics.Upstream(0, upstream),
                 metrics.Worker(0), record);
    }
  }

  // A call that was retried once, from `start` to `end` seconds after the sidecar's start.
  void Remember(double start, double end, const std::string& upstream = "cart") {
    CallRecord record{.start = sources.started + absl::Seconds(start),
                      .end = sources.started + absl::Seconds(end),
                      .code = StatusCode::kOk};
    const Instant middle = record.start + (record.end - record.start) / 2;
    record.attempts.push_back(
        {.start = record.start, .end = middle, .endpoint = 0, .code = StatusCode::kUnavailable});
    record.attempts.push_back({.start = middle,
                               .end = record.end,
                               .endpoint = 1,
                               .code = StatusCode::kOk,
                               .trigger = RetryTrigger::kStatus,
                               .after = StatusCode::kUnavailable,
                               .delay = absl::Milliseconds(25)});
    calls.Add({.start = sources.started_at + absl::Seconds(start),
               .listener = "egress",
               .upstream = upstream,
               .authority = "cart.shop:50051",
               .path = "/shop.Cart/Add"},
              record, [](int64_t endpoint) { return "10.0.0." + std::to_string(endpoint); });
  }

  Instant At(double seconds) const { return sources.started + absl::Seconds(seconds); }

  void SetEndpoints(std::vector<EndpointView> endpoints) {
    const std::lock_guard lock(mutex_);
    endpoints_ = std::move(endpoints);
  }
  void SetGuards(std::map<std::string, GuardState> guards) {
    const std::lock_guard lock(mutex_);
    guards_ = std::move(guards);
  }
  void SetShared(std::vector<StoreView> stores, std::vector<LimitView> limits) {
    const std::lock_guard lock(mutex_);
    stores_ = std::move(stores);
    limits_ = std::move(limits);
  }
  void SetStatus(const ConfigStatus& status) {
    const std::lock_guard lock(mutex_);
    status_ = status;
  }
  ConfigStatus status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

  Metrics metrics{{.workers = 2, .settings = {.upstreams = {"cart"}}}};
  RecentCalls calls;
  std::atomic<bool> ready = true;
  std::atomic<bool> draining = false;
  std::atomic<bool> drains_until_signal = false;

  AdminSources sources{
      .metrics = metrics,
      .calls = calls,
      .workers = 2,
      .version = "0.1.0",
      .commit = "abc",
      .started = Instant::FromNanos(0) + absl::Seconds(1000),
      .started_at = absl::FromUnixSeconds(1767225600),
      .clock = [this] { return At(0); },
      .wall_clock = [this] { return sources.started_at + absl::Seconds(60); },
      .budgets =
          [] {
            return std::vector<Metrics::BudgetGauges>{
                {.upstream = "cart", .available = 7, .limit = 10, .ratio = 0.1, .waiting = 4}};
          },
      .throttles =
          [] {
            return std::map<std::string, double>{{"cart", 0.25}};
          },
      .guards =
          [this] {
            const std::lock_guard lock(mutex_);
            return guards_;
          },
      .endpoints =
          [this] {
            const std::lock_guard lock(mutex_);
            return endpoints_;
          },
      .config = [this] { return status(); },
      .ready = [this] { return ready.load(); },
      .draining = [this] { return draining.load(); },
      .drain =
          [this](bool until_signal) {
            drains_until_signal = until_signal;
            return !draining.exchange(true);
          },
      .leases =
          [] {
            return std::map<std::string, LeaseState>{{"tenant", LeaseState::kStale}};
          },
      .keys =
          [] {
            return std::map<std::string, Metrics::DedupeGauges>{
                {"cart", {.keys = 3, .bytes = 4096, .in_flight = 2}}};
          },
      .stores =
          [this] {
            const std::lock_guard lock(mutex_);
            return stores_;
          },
      .limits =
          [this] {
            const std::lock_guard lock(mutex_);
            return limits_;
          },
  };

 private:
  mutable std::mutex mutex_;
  std::vector<EndpointView> endpoints_;
  std::map<std::string, GuardState> guards_;
  ConfigStatus status_;
  std::vector<StoreView> stores_;
  std::vector<LimitView> limits_;
};

}  // namespace levee
