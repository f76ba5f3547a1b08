// SPDX-License-Identifier: Apache-2.0
#include "sidecar/shared_stores.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "store/lease_script.h"
#include "store/sidecar_count.h"

namespace levee {
namespace {

// How often a sidecar shows that it is there. One that has not for three times as long is gone.
constexpr absl::Duration kShowEvery = absl::Seconds(5);

}  // namespace

void SharedStores::Observer::OnCommand(Result result, absl::Duration took) {
  const auto store_result = [result] {
    switch (result) {
      case Result::kOk:
        return StoreResult::kOk;
      case Result::kError:
        return StoreResult::kError;
      case Result::kTimeout:
        return StoreResult::kTimeout;
      case Result::kUnavailable:
        break;
    }
    return StoreResult::kUnavailable;
  }();
  watch_.OnRequest(store_result, took);
}

StoreView::Kind SharedStores::KindOf(const StoreSpec& spec) {
  if (!spec.master.empty()) return StoreView::Kind::kSentinels;
  return spec.servers.size() > 1 ? StoreView::Kind::kCluster : StoreView::Kind::kSingle;
}

// A server that was configured alone may turn out to be a cluster's.
void SharedStores::Observer::ShowNodes(const StoreSpec& spec, const RedisClient& client) {
  if (client.changes() == shown_) return;
  shown_ = client.changes();
  std::vector<StoreView::Node> nodes;
  for (RedisNode& node : client.Nodes()) {
    nodes.push_back({node.address.Text(), node.ready, std::move(node.reason)});
  }
  watch_.OnNodes(client.cluster() ? StoreView::Kind::kCluster : KindOf(spec), std::move(nodes));
}

SharedStores::SharedStores(const StoreWatch::Parts& told, std::function<void()> answered)
    : told_(told),
      thread_(std::move(answered)),
      wheel_(thread_.loop().now()),
      resolver_(thread_.loop(), wheel_),
      random_(net::RandomSeed()),
      own_name_(absl::StrCat(absl::Hex(random_.Next(), absl::kZeroPad16))),
      keys_(thread_.loop(), wheel_, [this](const std::string& name) { return PlaceOf(name); }) {
  thread_.loop().SetTurnHandler(this);
}

SharedStores::Store::Store(SharedStores& stores, const StoreSpec& store_spec, RedisTarget target)
    : spec(store_spec),
      observer(stores, spec),
      client({stores.thread_.loop(), stores.wheel_, stores.resolver_, stores.random_},
             std::move(target), &observer) {}

void SharedStores::Observer::OnConnected(bool connected, const std::string& reason) {
  watch_.OnConnected(connected, reason, stores_.thread_.loop().now());
  // Sidecars are counted at once, as the store may soon be away again.
  if (connected) stores_.wheel_.Arm(stores_, stores_.thread_.loop().now());
}

void SharedStores::Stop() {
  thread_.Stop([this] {
    keys_.Finish();
    stopping_ = true;
  });
}

void SharedStores::Configure(std::vector<StoreSpec> stores,
                             const std::vector<std::shared_ptr<RateLimiter>>& limits) {
  if (stores.empty() && !thread_.running()) return;
  std::vector<std::weak_ptr<RateLimiter>> shared;
  for (const auto& limit : limits) {
    if (limit->policy().shared.has_value()) shared.push_back(limit);
  }
  thread_.Run(
      [this, stores = std::move(stores), shared = std::move(shared)] { Apply(stores, shared); });
}

void SharedStores::Apply(const std::vector<StoreSpec>& stores,
                         std::vector<std::weak_ptr<RateLimiter>> limits) {
  std::map<std::string, std::unique_ptr<Store>> next;
  for (const StoreSpec& spec : stores) {
    const auto known = stores_.find(spec.name);
    if (known != stores_.end() && known->second->spec == spec) {
      known->second->client.SetTls(spec.tls);
      next[spec.name] = std::move(known->second);
      continue;
    }
    RedisTarget target = {
        .servers = spec.servers,
        .master = spec.master,
        .login = {spec.login.username, spec.login.password},
        .sentinel_login = {spec.sentinel_login.username, spec.sentinel_login.password},
        .timeout = spec.timeout,
        .tls = spec.tls};
    stores_.erase(spec.name);  // It tells of its end before the new one tells of its beginning.
    next[spec.name] = std::make_unique<Store>(*this, spec, std::move(target));
  }
  stores_ = std::move(next);
  limits_ = std::move(limits);
  KnowSidecars();
  wheel_.Arm(*this, thread_.loop().now());
}

Instant SharedStores::OnTurnEnd(Instant now) {
  wheel_.Advance(now);
  for (const auto& [name, store] : stores_) store->observer.ShowNodes(store->spec, store->client);
  for (const auto& [name, store] : stores_) store->client.Flush();
  thread_.EndTurn();
  if (stopping_ && keys_.settled()) {
    stopping_ = false;
    thread_.EndLoop();
  }
  return wheel_.NextWakeup();
}

void SharedStores::OnTimer(Instant now) {
  CountSidecars();
  wheel_.Arm(*this, now + kShowEvery);
}

// A limit that a reload has changed is another object. While its store is away nobody could tell it
// how many sidecars there are, and each of them would take the whole rate.
void SharedStores::KnowSidecars() {
  std::map<std::string, int> known = std::move(sidecars_);
  sidecars_.clear();
  for (const std::weak_ptr<RateLimiter>& held : limits_) {
    const std::shared_ptr<RateLimiter> limit = held.lock();
    if (limit == nullptr) continue;
    const auto count = known.find(limit->policy().shared->name);
    if (count == known.end()) continue;
    limit->SetSidecars(count->second);
    sidecars_.insert(*count);
  }
}

void SharedStores::CountSidecars() {
  for (const std::weak_ptr<RateLimiter>& held : limits_) {
    const std::shared_ptr<RateLimiter> limit = held.lock();
    Store* const store = limit == nullptr ? nullptr : StoreOf(*limit);
    if (store == nullptr) continue;
    const std::string key =
        absl::StrCat(store->spec.prefix, "sidecars:", limit->policy().shared->name);
    const std::string stays = absl::StrCat(3 * absl::ToInt64Milliseconds(kShowEvery));
    const std::string_view args[] = {own_name_, stays};
    store->client.Run(SidecarCountScript(), key, args,
                      [this, held](const absl::StatusOr<RedisReply>& reply) {
                        const std::shared_ptr<RateLimiter> counted = held.lock();
                        if (counted == nullptr || !reply.ok() || reply->integer < 1) return;
                        const int count = static_cast<int>(reply->integer);
                        counted->SetSidecars(count);
                        sidecars_[counted->policy().shared->name] = count;
                      });
  }
}

SharedStores::Store* SharedStores::StoreOf(const RateLimiter& limit) {
  const auto found = stores_.find(limit.policy().shared->store);
  return found == stores_.end() ? nullptr : found->second.get();
}

SharedKeys::Place SharedStores::PlaceOf(const std::string& name) {
  const auto found = stores_.find(name);
  if (found == stores_.end()) return {};
  return {.client = &found->second->client, .prefix = found->second->spec.prefix};
}

void SharedStores::Ask(Bucket bucket, const LeaseRequest& request) {
  thread_.Ask(std::move(bucket), [this, request](const RateLimiter& limit, const Bucket& asking) {
    Request(limit, asking, request);
  });
}

void SharedStores::Request(const RateLimiter& limit, const Bucket& bucket,
                           const LeaseRequest& request) {
  Store* const store = StoreOf(limit);
  if (store == nullptr) return thread_.Answer(bucket, absl::NotFoundError("the store is gone"));
  const std::vector<std::string> args = LeaseArguments(limit.policy().lease_rule(), request);
  const std::vector<std::string_view> views(args.begin(), args.end());
  store->client.Run(
      LeaseScript(),
      LeaseKey(store->spec.prefix, limit.policy().shared->name, bucket.key, bucket.shared_bucket),
      views, [this, bucket, want = request.want](const absl::StatusOr<RedisReply>& reply) {
        thread_.Answer(bucket, reply.ok() ? ReadLeaseReply(*reply, want) : reply.status());
      });
}

}  // namespace levee
