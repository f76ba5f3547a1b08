// SPDX-License-Identifier: Apache-2.0
#include "config/store_warnings.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "config/checked.h"
#include "config/element.h"
#include "config/policy_warnings.h"

namespace levee {
namespace {

namespace v1 = config::v1;

class StoreWarnings {
 public:
  StoreWarnings(const v1::Config& config, const Positions& positions, FaultList& warnings)
      : config_(config), positions_(positions), warnings_(warnings) {
    for (const v1::Store& store : config.stores()) stores_[store.name()] = &store;
  }

  void CheckNames();
  void CheckUse();
  void CheckClaims();
  void CheckKeys();

 private:
  void Add(const std::string& path, CheckCode code, std::string text) {
    warnings_.Add(positions_.Find(path), code, std::move(text));
  }

  const v1::Config& config_;
  const Positions& positions_;
  FaultList& warnings_;
  std::map<std::string, const v1::Store*> stores_;
};

// Sentinels and the nodes of a cluster tell where the others are, and do so by IP addresses unless
// they are told to give names.
void StoreWarnings::CheckNames() {
  for (int i = 0; i < config_.stores_size(); ++i) {
    const v1::Store& store = config_.stores(i);
    const v1::UpstreamTls& tls = store.tls();
    const bool found = store.has_sentinel() || store.redis_size() > 1;
    const bool named = tls.server_name() != "none" || tls.subject_alt_names_size() > 0;
    if (!store.has_tls() || !found || named || tls.insecure_skip_verify()) continue;
    Add(Element("stores", i) + ".tls", CheckCode::kNodesByAddress,
        absl::StrCat("servers that ", store.has_sentinel() ? "sentinels" : "nodes of the cluster",
                     " name by IP address have no name to check in their certificates; give ",
                     "server_name or subject_alt_names, or configure host names in Redis"));
  }
}

void StoreWarnings::CheckUse() {
  std::set<std::string> used;
  for (const v1::Policy& policy : config_.policies()) {
    if (policy.guard().has_dedupe()) used.insert(policy.guard().dedupe().store());
    for (const v1::RateLimit& limit : policy.rate_limit()) used.insert(limit.store());
  }
  for (int i = 0; i < config_.stores_size(); ++i) {
    const std::string& name = config_.stores(i).name();
    if (used.contains(name)) continue;
    Add(Element("stores", i) + ".name", CheckCode::kUnusedStore,
        absl::StrCat("no rate limit and no guard.dedupe uses ", name,
                     "; use it there, or remove the store"));
  }
}

// A claim is renewed three times while it lasts.
void StoreWarnings::CheckClaims() {
  for (int i = 0; i < config_.policies_size(); ++i) {
    const v1::Guard::Dedupe& dedupe = config_.policies(i).guard().dedupe();
    const auto store = stores_.find(dedupe.store());
    if (store == stores_.end()) continue;
    if (3 * DurationOf(store->second->timeout()) <= DurationOf(dedupe.claim())) continue;
    Add(Element("policies", i) + ".guard.dedupe.claim", CheckCode::kClaimBelowTimeout,
        absl::StrCat(dedupe.claim(), " is less than three times the timeout of store ",
                     dedupe.store(), ", ", store->second->timeout(),
                     ", so one slow answer may lose the claim of a running call"));
  }
}

// A key is for calls that are repeated although they may have run. Where the policy says that none
// ever is, somebody else reads the key.
void StoreWarnings::CheckKeys() {
  for (int i = 0; i < config_.policies_size(); ++i) {
    v1::Policy policy = config_.policies(i);
    const bool meant = policy.has_hedge() || policy.retry().mode() == v1::Retry::MODE_OBSERVE ||
                       policy.idempotency().mode() == v1::Idempotency::MODE_NEVER;
    if (!policy.idempotency().has_key() || meant) continue;
    policy.mutable_idempotency()->clear_key();
    policy.mutable_idempotency()->set_mode(v1::Idempotency::MODE_AUTO);
    if (!UnsafeRetries(policy).empty()) continue;
    Add(Element("policies", i) + ".idempotency.key", CheckCode::kHalfOfKeys,
        absl::StrCat("policy ", policy.name(),
                     " gives each call an idempotency key, but never retries a call that may have "
                     "run; list reset and timeout in retry.failures, or leave the key out"));
  }
}

}  // namespace

void FindStoreWarnings(const v1::Config& config, const Positions& positions, FaultList& warnings) {
  StoreWarnings find(config, positions, warnings);
  find.CheckNames();
  find.CheckUse();
  find.CheckClaims();
  find.CheckKeys();
}

}  // namespace levee
