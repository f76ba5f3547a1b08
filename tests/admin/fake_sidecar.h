// SPDX-License-Identifier: Apache-2.0
// A sidecar as the admin servers see it, whose every fact the test sets.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "admin/sidecar_view.h"
#include "config/load.h"
#include "telemetry/record_call.h"

namespace levee {

struct FakeCounters {
  Metrics metrics{{.workers = 2, .settings = {.upstreams = {"cart"}}}};
  RecentCalls calls;
};

// One upstream, `cart`, unless another configuration is given. Its clock begins at 1000 s, the wall
// clock at 2026-01-01.
class FakeSidecar final : public FakeCounters, public SidecarView {
 public:
  explicit FakeSidecar(const std::string& yaml =
                           "upstreams: [{name: cart, endpoints: [\"127.0.0.1:50051\"]}]\n"
                           "routes: [{upstream: cart}]\n")
      : SidecarView({.metrics = metrics,
                     .calls = calls,
                     .workers = 2,
                     .version = "0.1.0",
                     .commit = "abc",
                     .started = Instant::FromNanos(0) + absl::Seconds(1000),
                     .started_at = absl::FromUnixSeconds(1767225600)}) {
    const auto snapshot = ParseConfig("levee.yaml", yaml);
    if (snapshot.ok()) status_.snapshot = *snapshot;
    status_.loaded = facts().started_at;
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
    CallRecord record{.start = facts().started + absl::Seconds(start),
                      .end = facts().started + absl::Seconds(end),
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
    calls.Add({.start = facts().started_at + absl::Seconds(start),
               .listener = "egress",
               .upstream = upstream,
               .authority = "cart.shop:50051",
               .path = "/shop.Cart/Add"},
              record, [](int64_t endpoint) { return "10.0.0." + std::to_string(endpoint); });
  }

  Instant At(double seconds) const { return facts().started + absl::Seconds(seconds); }

  void SetEndpoints(std::vector<EndpointView> views) {
    const std::lock_guard lock(mutex_);
    endpoints_ = std::move(views);
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

  Instant Now() const override { return now(); }
  absl::Time WallNow() const override { return facts().started_at + absl::Seconds(60); }
  std::vector<BudgetGauges> Budgets() const override { return budgets(); }
  std::map<std::string, double> Throttles() const override { return {{"cart", 0.25}}; }
  std::map<std::string, GuardState> Guards() const override { return Locked(guards_); }
  std::map<std::string, DedupeGauges> Keys() const override {
    return {{"cart", {.keys = 3, .bytes = 4096, .in_flight = 2}}};
  }
  std::map<std::string, LeaseState> Leases() const override {
    return {{"tenant", LeaseState::kStale}};
  }
  int64_t ReplayBytes() const override { return 0; }
  MemoryGauges Memory() const override { return {}; }
  LostLines Lost() const override { return {}; }
  std::vector<EndpointView> Endpoints() const override { return endpoints(); }
  ConfigStatus Config() const override { return status(); }
  bool Ready() const override { return ready; }
  bool Draining() const override { return draining; }
  bool StartDrain(bool until_signal) override {
    drains_until_signal = until_signal;
    return !draining.exchange(true);
  }
  std::vector<std::string> Listeners() const override { return listeners; }
  std::vector<std::string> TlsDestinations() const override { return {}; }
  std::map<std::string, std::string> IdentityFaults() const override { return {}; }
  std::vector<StoreView> Stores() const override { return Locked(stores_); }
  std::vector<LimitView> Limits() const override { return Locked(limits_); }

  std::atomic<bool> ready = true;
  std::atomic<bool> draining = false;
  std::atomic<bool> drains_until_signal = false;
  std::vector<std::string> listeners;

  // What a test may do in the place of the sidecar's own.
  std::function<Instant()> now = [this] { return At(0); };
  std::function<std::vector<BudgetGauges>()> budgets = [] {
    return std::vector<BudgetGauges>{
        {.upstream = "cart", .available = 7, .limit = 10, .ratio = 0.1, .waiting = 4}};
  };
  std::function<std::vector<EndpointView>()> endpoints = [this] { return Locked(endpoints_); };

 private:
  template <typename T>
  T Locked(const T& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }

  mutable std::mutex mutex_;
  std::vector<EndpointView> endpoints_;
  std::map<std::string, GuardState> guards_;
  ConfigStatus status_;
  std::vector<StoreView> stores_;
  std::vector<LimitView> limits_;
};

}  // namespace levee
