// SPDX-License-Identifier: Apache-2.0
#include "admin/state_keeper.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "admin/certificate_message.h"
#include "admin/shared_message.h"
#include "admin/state_message.h"
#include "insight/verdict.h"

namespace levee {
namespace {

// Counters are read this long after a second is over. By then the calls that ended in it are
// counted.
constexpr absl::Duration kSettled = absl::Milliseconds(20);

// The bound on the endpoints of one answer.
constexpr size_t kMaxEndpoints = 1000;

// The bound on the bytes of the calls of one answer. With all that else is in it, an answer is then
// smaller than the 4 MiB that gRPC clients take.
constexpr size_t kMaxCallBytes = size_t{1} << 20;

// Adds the newest of `calls`, as many as the bound allows, the oldest of these first.
void AddCalls(const std::vector<NumberedCalls::Call>& calls, admin::v1::State& state) {
  std::vector<admin::v1::Call> newest;
  size_t bytes = 0;
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    admin::v1::Call message = CallMessage(*call->call, call->number);
    bytes += message.ByteSizeLong();
    if (bytes > kMaxCallBytes) break;
    newest.push_back(std::move(message));
  }
  for (auto call = newest.rbegin(); call != newest.rend(); ++call) {
    *state.add_calls() = std::move(*call);
  }
}

EndpointCounts ToCounts(const admin::v1::EndpointCounts& counts) {
  const auto number = [](uint32_t count) { return static_cast<int>(count); };
  return {.all = number(counts.ready() + counts.connecting() + counts.ejected() + counts.failing() +
                        counts.idle()),
          .ready = number(counts.ready()),
          .ejected = number(counts.ejected()),
          .failing = number(counts.failing())};
}

using EndpointsByUpstream = std::map<std::string_view, std::vector<const EndpointView*>>;

EndpointsByUpstream Group(const std::vector<EndpointView>& endpoints) {
  EndpointsByUpstream groups;
  for (const EndpointView& endpoint : endpoints) groups[endpoint.upstream].push_back(&endpoint);
  return groups;
}

admin::v1::Upstream UpstreamMessage(const UpstreamPast& past,
                                    std::vector<admin::v1::Endpoint> endpoints,
                                    size_t most_endpoints) {
  admin::v1::Upstream message;
  *message.mutable_endpoint_counts() = EndpointCountsMessage(endpoints);
  const Verdict verdict =
      Judge(past.recent, past.seconds, past.seconds_empty, ToCounts(message.endpoint_counts()));
  message.set_name(past.name);
  message.set_verdict(verdict.text);
  message.set_severity(SeverityMessage(verdict.severity));
  *message.mutable_budget() = BudgetMessage(past.recent.budget, past.seconds_empty);
  *message.mutable_rates() = RatesMessage(past.recent, past.seconds);
  for (const HistorySample& sample : past.samples) *message.add_samples() = SampleMessage(sample);
  message.set_samples_left_out(past.samples.size() < past.later);
  message.set_last_called(past.last_called);
  message.set_throttle_probability(past.recent.throttle_probability);
  message.set_retries_waiting(static_cast<uint32_t>(past.recent.budget.waiting));
  if (past.recent.guard.has_value()) {
    *message.mutable_guard() = GuardMessage(past.recent.added, *past.recent.guard, past.seconds);
  }
  AddEndpoints(std::move(endpoints), most_endpoints, message);
  return message;
}

bool WantsDetails(const admin::v1::GetStateRequest& request, const std::string& name) {
  return request.details_of().empty() || request.details_of() == name;
}

}  // namespace

StateKeeper::StateKeeper(const SidecarView& view, std::string instance)
    : view_(view), instance_(std::move(instance)) {}

StateKeeper::~StateKeeper() { Stop(); }

void StateKeeper::Start() {
  if (thread_.joinable()) return;
  stopping_ = false;
  Tick(view_.Now());
  thread_ = std::thread([this] { Run(); });
}

void StateKeeper::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  // Calls until the next Start are part of no sample.
  const std::lock_guard lock(mutex_);
  record_.Pause();
  stores_.Forget();
}

void StateKeeper::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const Instant next = view_.facts().started + absl::Seconds(record_.second() + 1) + kSettled;
    const absl::Duration rest = next - view_.Now();
    if (rest > absl::ZeroDuration()) {
      wake_.wait_for(lock, absl::ToChronoNanoseconds(rest));
      continue;
    }
    lock.unlock();
    Tick(view_.Now());
    lock.lock();
  }
}

void StateKeeper::Tick(Instant now) {
  if (!ReadCounters(now)) return;
  if (const std::unique_lock lock(endpoints_mutex_, std::try_to_lock); lock.owns_lock()) {
    endpoints_.reset();  // Perhaps no reader asks again, so the memory goes.
  }
  const std::lock_guard lock(listeners_mutex_);
  for (const auto& [number, heard] : listeners_) heard();
}

bool StateKeeper::ReadCounters(Instant now) {
  const auto whole = static_cast<uint32_t>((now - view_.facts().started) / absl::Seconds(1));
  uint64_t last_call = 0;
  {
    const std::lock_guard lock(mutex_);
    if (record_.begun() && whole <= record_.second()) return false;
    last_call = record_.last_call();
  }
  const std::vector<UpstreamTotals> totals = view_.facts().metrics.Totals();
  const std::vector<BudgetGauges> budgets = view_.Budgets();
  const std::map<std::string, double> throttles = view_.Throttles();
  const std::map<std::string, GuardState> guards = view_.Guards();
  const std::vector<RememberedCall> calls = view_.facts().calls.Read(last_call);
  const std::vector<StoreTotals> stores = view_.facts().metrics.Stores();
  const std::lock_guard lock(mutex_);
  stores_.Update(whole, stores);
  record_.Update(whole, view_.facts().started, totals, budgets, throttles, guards, calls);
  return true;
}

uint32_t StateKeeper::second() const {
  const std::lock_guard lock(mutex_);
  return record_.second();
}

std::shared_ptr<const std::vector<EndpointView>> StateKeeper::Endpoints() {
  const std::lock_guard lock(endpoints_mutex_);
  const uint32_t now = second();
  if (endpoints_ == nullptr || endpoints_second_ != now) {
    endpoints_ = std::make_shared<const std::vector<EndpointView>>(view_.Endpoints());
    endpoints_second_ = now;
  }
  return endpoints_;
}

RecentState StateKeeper::Recent(const admin::v1::GetStateRequest& request,
                                const Snapshot& snapshot) const {
  std::vector<std::string> configured;
  for (const UpstreamSpec& spec : snapshot.upstreams) configured.push_back(spec.name);
  const std::lock_guard lock(mutex_);
  return record_.Read({.upstream = request.upstream(),
                       .details_of = request.details_of(),
                       .since = request.since()},
                      configured);
}

void StateKeeper::AddCertificates(const ConfigStatus& config, admin::v1::State& state) const {
  for (admin::v1::Certificate& certificate : CertificateMessages(config, view_.IdentityFaults())) {
    *state.mutable_configuration()->add_certificates() = std::move(certificate);
  }
}

void StateKeeper::AddShared(admin::v1::Sidecar& sidecar) const {
  AddLimits(view_, sidecar);
  AddKeys(view_, sidecar);
  for (const StoreView& store : view_.Stores()) {
    const std::lock_guard lock(mutex_);
    *sidecar.add_stores() = StoreMessage(store, stores_.Read(store.name), view_.facts());
  }
}

absl::StatusOr<admin::v1::State> StateKeeper::Read(const admin::v1::GetStateRequest& request) {
  const std::lock_guard building(building_);
  const ConfigStatus config = view_.Config();
  const auto endpoints = Endpoints();
  const RecentState recent = Recent(request, *config.snapshot);
  if (!request.upstream().empty() && recent.upstreams.empty()) {
    return absl::NotFoundError(absl::StrCat("there is no upstream \"", request.upstream(), "\""));
  }
  admin::v1::State state;
  state.set_next(recent.second);
  state.set_instance(instance_);
  state.set_time(WallSeconds(view_.WallNow()));
  *state.mutable_sidecar() = SidecarMessage(view_);
  AddShared(*state.mutable_sidecar());
  *state.mutable_configuration() = ConfigurationMessage(config);
  AddCertificates(config, state);
  EndpointsByUpstream groups = Group(*endpoints);
  size_t endpoints_left = kMaxEndpoints;
  for (const UpstreamPast& past : recent.upstreams) {
    const size_t most = WantsDetails(request, past.name) ? endpoints_left : 0;
    *state.add_upstreams() = UpstreamMessage(past, EndpointMessages(groups[past.name]), most);
    endpoints_left -= static_cast<size_t>(state.upstreams().rbegin()->endpoints_size());
  }
  AddCalls(recent.calls, state);
  return state;
}

StateKeeper::Listening::Listening(StateKeeper& keeper, std::function<void()> heard)
    : keeper_(keeper) {
  const std::lock_guard lock(keeper_.listeners_mutex_);
  number_ = keeper_.next_listener_++;
  keeper_.listeners_.emplace(number_, std::move(heard));
}

StateKeeper::Listening::~Listening() {
  const std::lock_guard lock(keeper_.listeners_mutex_);
  keeper_.listeners_.erase(number_);
}

}  // namespace levee
