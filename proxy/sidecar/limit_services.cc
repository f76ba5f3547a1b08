// SPDX-License-Identifier: Apache-2.0
#include "sidecar/limit_services.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "rls/limit_message.h"

namespace levee {
namespace {

StoreResult ResultOf(const absl::Status& status) {
  if (status.ok()) return StoreResult::kOk;
  if (absl::IsDeadlineExceeded(status)) return StoreResult::kTimeout;
  const bool unsent = absl::IsUnavailable(status) || absl::IsResourceExhausted(status);
  return unsent ? StoreResult::kUnavailable : StoreResult::kError;
}

// The entries that the service gets. The keys that have no bucket of their own have one descriptor
// together, without the values that tell calls apart.
absl::InlinedVector<LimitKey::Entry, 2> DescriptorOf(const RateLimitPolicy& limit,
                                                     const LeaseSource::Bucket& bucket) {
  absl::InlinedVector<LimitKey::Entry, 2> entries;
  for (const auto& [name, value] : LimitKey::EntriesOf(bucket.key)) {
    const RateLimitKey& part = limit.key[entries.size()];
    const bool header = part.part() == RateLimitKey::Part::kHeader && !part.named();
    const bool same = part.part() == RateLimitKey::Part::kText || !bucket.shared_bucket;
    entries.push_back({header ? part.header() : name, same ? value : std::string_view()});
  }
  return entries;
}

std::string AddressOf(const RateService& service) {
  return LimitService::AddressText(service.host, service.port);
}

}  // namespace

LimitServices::Service::Service(LimitServices& services, const RateService& spec)
    : watch(services.told_, AddressOf(spec), StoreView::Kind::kService,
            services.thread_.loop().now()),
      client(services.io_, services.resolver_, services.random_, spec.host, spec.port) {}

LimitServices::LimitServices(const StoreWatch::Parts& told, std::function<void()> answered)
    : told_(told),
      thread_(std::move(answered)),
      io_(thread_.loop(), series_, silent_),
      resolver_(thread_.loop(), io_.wheel),
      random_(net::RandomSeed()) {
  thread_.loop().SetTurnHandler(this);
}

void LimitServices::Stop() {
  thread_.Stop([this] {
    services_.clear();
    thread_.EndLoop();
  });
}

void LimitServices::Configure(const std::vector<std::shared_ptr<RateLimiter>>& limits) {
  std::map<std::string, RateService> services;
  for (const auto& limit : limits) {
    const auto& shared = limit->policy().shared;
    if (!shared.has_value() || !shared->service.has_value()) continue;
    services.emplace(AddressOf(*shared->service), *shared->service);
  }
  if (services.empty() && !thread_.running()) return;
  thread_.Run([this, services = std::move(services)] { Apply(services); });
}

void LimitServices::Apply(const std::map<std::string, RateService>& services) {
  ServiceMap next;
  for (const auto& [address, spec] : services) {
    const auto known = services_.find(address);
    next[address] = known != services_.end() ? std::move(known->second)
                                             : std::make_unique<Service>(*this, spec);
  }
  services_ = std::move(next);
}

Instant LimitServices::OnTurnEnd(Instant now) {
  io_.EndTurn(now);
  for (const auto& [address, service] : services_) {
    std::string reason;
    const bool connected = service->client.Connected(reason);
    if (connected || !reason.empty()) service->watch.OnConnected(connected, reason, now);
  }
  thread_.EndTurn();
  return io_.wheel.NextWakeup();
}

void LimitServices::Ask(Bucket bucket, const LeaseRequest& request) {
  thread_.Ask(std::move(bucket), [this, request](const RateLimiter& limit, const Bucket& asking) {
    Request(limit, asking, request);
  });
}

void LimitServices::Request(const RateLimiter& limit, const Bucket& bucket,
                            const LeaseRequest& request) {
  const SharedRate& shared = *limit.policy().shared;
  const auto found = services_.find(AddressOf(*shared.service));
  if (found == services_.end()) {
    return thread_.Answer(bucket, absl::NotFoundError("the service is gone"));
  }
  Service& service = *found->second;
  service.client.Ask(
      LimitRequestFrame(shared.service->domain, DescriptorOf(limit.policy(), bucket), request.want),
      request.want, shared.timeout,
      [this, bucket, &service,
       asked = thread_.loop().now()](const absl::StatusOr<LeaseGrant>& answer) {
        service.watch.OnRequest(ResultOf(answer.status()), thread_.loop().now() - asked);
        thread_.Answer(bucket, answer);
      });
}

}  // namespace levee
