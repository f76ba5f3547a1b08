// SPDX-License-Identifier: Apache-2.0
#include "config/validate_stores.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/host_port.h"
#include "config/addresses.h"
#include "config/build_guard.h"
#include "policy/rate_limit_policy.h"

namespace levee {
namespace {

namespace v1 = config::v1;

class StoresValidator {
 public:
  StoresValidator(const v1::Config& config, const Positions& positions, FaultList& faults)
      : positions_(positions), faults_(faults) {
    for (const v1::Store& store : config.stores()) names_.insert(store.name());
  }

  void CheckDedupe(const std::string& path, const v1::Guard::Dedupe& dedupe);
  void CheckStore(const std::string& path, const v1::Store& store);
  void CheckLimit(const std::string& path, const v1::RateLimit& limit);

 private:
  void Add(const std::string& path, CheckCode code, std::string text) {
    faults_.Add(positions_.Find(path), code, std::move(text));
  }
  using Nodes = google::protobuf::RepeatedPtrField<std::string>;

  void CheckGlobal(const std::string& path, const v1::RateLimit& limit);
  void CheckNodes(const std::string& path, const Nodes& nodes);
  void CheckNames(const std::string& path, const v1::Store& store);
  void CheckService(const std::string& path, const v1::RateLimit& limit);
  void CheckNoService(const std::string& path, const v1::RateLimit& limit);
  void CheckPlainParts(const std::string& path,
                       const google::protobuf::RepeatedPtrField<std::string>& parts);

  const Positions& positions_;
  FaultList& faults_;
  std::set<std::string> names_;
};

void StoresValidator::CheckStore(const std::string& path, const v1::Store& store) {
  if (store.name() == kMemoryStore) {
    Add(path + ".name", CheckCode::kReservedName,
        "\"memory\" is where guard.dedupe keeps keys without a store; choose another");
  }
  if (!store.has_sentinel() && store.redis_size() == 0 && !positions_.Broken(path + ".redis") &&
      !positions_.Broken(path + ".sentinel")) {
    Add(path, CheckCode::kStoreAddress, "has no server; give redis or sentinel");
  }
  CheckNodes(path + ".redis", store.redis());
  CheckNodes(path + ".sentinel.nodes", store.sentinel().nodes());
  CheckNames(path, store);
}

// The nodes of one list.
void StoresValidator::CheckNodes(const std::string& path, const Nodes& nodes) {
  std::set<std::string> seen;
  for (int i = 0; i < nodes.size(); ++i) {
    const std::string& node = nodes[i];
    if (node.empty()) continue;  // That was reported.
    const std::string place = absl::StrCat(path, "[", i, "]");
    if (!SplitHostPort(node).has_value()) {
      Add(place, CheckCode::kStoreAddress,
          absl::StrCat("\"", node, "\" is not HOST:PORT, such as redis.shop:6379"));
    } else if (!seen.insert(node).second) {
      Add(place, CheckCode::kStoreAddress, absl::StrCat("\"", node, "\" is listed twice"));
    }
  }
}

// An IP address says nothing of who should be there.
void StoresValidator::CheckNames(const std::string& path, const v1::Store& store) {
  const v1::UpstreamTls& tls = store.tls();
  const bool named = tls.server_name() != "none" || tls.subject_alt_names_size() > 0;
  if (!store.has_tls() || tls.insecure_skip_verify() || named) return;
  for (const Nodes* nodes : {&store.redis(), &store.sentinel().nodes()}) {
    for (const std::string& node : *nodes) {
      const std::optional<HostPort> address = SplitHostPort(node);
      if (!address.has_value() || !ReadIp(std::string(address->host)).has_value()) continue;
      Add(path + ".tls", CheckCode::kNoNameToCheck,
          absl::StrCat("the certificate of \"", node,
                       "\" must have a name, and Levee does not know which; ",
                       "give server_name or subject_alt_names"));
      return;
    }
  }
}

void StoresValidator::CheckLimit(const std::string& path, const v1::RateLimit& limit) {
  if (limit.scope() == v1::RateLimit::SCOPE_RLS) {
    CheckService(path, limit);
    return;
  }
  CheckNoService(path, limit);
  if (limit.scope() == v1::RateLimit::SCOPE_GLOBAL) {
    CheckGlobal(path, limit);
  } else if (limit.has_store()) {
    Add(path + ".store", CheckCode::kGlobalLimit,
        "is not used, because the limit belongs to one sidecar; say scope: global, or leave store "
        "out");
  }
}

void StoresValidator::CheckDedupe(const std::string& path, const v1::Guard::Dedupe& dedupe) {
  CheckPlainParts(path + ".scope", dedupe.scope());
  if (dedupe.store().empty() || dedupe.store() == kMemoryStore || names_.contains(dedupe.store()) ||
      positions_.Broken("stores")) {
    return;
  }
  Add(path + ".store", CheckCode::kDanglingReference,
      absl::StrCat("\"", dedupe.store(), "\" is neither the name of a store nor memory"));
}

void StoresValidator::CheckGlobal(const std::string& path, const v1::RateLimit& limit) {
  if (!limit.has_store()) {
    Add(path + ".scope", CheckCode::kGlobalLimit,
        "is global, but the limit has no store that all sidecars share; give store");
  } else if (!names_.contains(limit.store()) && !positions_.Broken("stores")) {
    Add(path + ".store", CheckCode::kDanglingReference,
        absl::StrCat("\"", limit.store(), "\" is not the name of a store"));
  }
  const bool has_grace = positions_.Has(path + ".grace");
  if (has_grace && limit.on_failure() != v1::RateLimit::ON_FAILURE_LAST) {
    Add(path + ".grace", CheckCode::kGlobalLimit,
        "has no effect with this on_failure; only last keeps the last rate for a while");
  }
  if (limit.adaptive()) {
    Add(path + ".adaptive", CheckCode::kGlobalLimit,
        "does not work with a global limit: one sidecar would lower the rate of all");
  }
  if (limit.max_wait() != "none" && !limit.max_wait().empty()) {
    Add(path + ".max_wait", CheckCode::kGlobalLimit,
        "does not work with a global limit: its permits are leased, and calls do not queue for "
        "them");
  }
}

void StoresValidator::CheckService(const std::string& path, const v1::RateLimit& limit) {
  if (!limit.has_rls()) {
    Add(path + ".scope", CheckCode::kServiceLimit,
        "is rls, but the limit names no service; give rls with an address and a domain");
    return;
  }
  if (!limit.rls().address().empty() && !SplitHostPort(limit.rls().address()).has_value()) {
    Add(path + ".rls.address", CheckCode::kServiceLimit,
        absl::StrCat("\"", limit.rls().address(),
                     "\" is not HOST:PORT, such as ratelimit.shop:8081"));
  }
  if (limit.key_size() == 0 && !positions_.Broken(path + ".key")) {
    Add(path + ".rls", CheckCode::kServiceLimit,
        "has no key, by which the service finds the limit; give one, such as "
        "[\"generic_key=text:paid\"]");
  }
}

// Of a limit that no service keeps.
void StoresValidator::CheckNoService(const std::string& path, const v1::RateLimit& limit) {
  if (limit.has_rls()) {
    Add(path + ".rls", CheckCode::kServiceLimit,
        "is not used, because a limit of this scope asks no service; say scope: rls, or leave rls "
        "out");
  }
  CheckPlainParts(path + ".key", limit.key());
}

void StoresValidator::CheckPlainParts(
    const std::string& path, const google::protobuf::RepeatedPtrField<std::string>& parts) {
  for (int i = 0; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    if (equals == std::string::npos) continue;
    const std::string part = parts[i].substr(equals + 1);
    const bool text = part.starts_with(RateLimitKey::kTextPrefix);
    Add(absl::StrCat(path, "[", i, "]"), CheckCode::kServiceLimit,
        absl::StrCat("names an entry, which only rate limit services read; ",
                     text ? "leave it out" : absl::StrCat("say ", part)));
  }
}

}  // namespace

void ValidateStores(const v1::Config& config, const Positions& positions, FaultList& faults) {
  StoresValidator validator(config, positions, faults);
  for (int i = 0; i < config.stores_size(); ++i) {
    validator.CheckStore(absl::StrCat("stores[", i, "]"), config.stores(i));
  }
  for (int i = 0; i < config.policies_size(); ++i) {
    if (config.policies(i).guard().has_dedupe()) {
      validator.CheckDedupe(absl::StrCat("policies[", i, "].guard.dedupe"),
                            config.policies(i).guard().dedupe());
    }
    for (int j = 0; j < config.policies(i).rate_limit_size(); ++j) {
      validator.CheckLimit(absl::StrCat("policies[", i, "].rate_limit[", j, "]"),
                           config.policies(i).rate_limit(j));
    }
  }
}

}  // namespace levee
