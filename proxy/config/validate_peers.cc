// SPDX-License-Identifier: Apache-2.0
#include "config/validate_peers.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"

namespace levee {
namespace {

namespace v1 = config::v1;

constexpr char kNoName[] =
    "callers show a certificate only to a listener whose tls has client_ca or spiffe";

// Returns the names of the listeners whose callers have names.
std::set<std::string> Asking(const v1::Config& config) {
  std::set<std::string> names;
  for (const v1::Listener& listener : config.listeners()) {
    for (const std::string* asks : {&listener.tls().client_ca(), &listener.tls().spiffe()}) {
      if (!asks->empty() && *asks != "none") names.insert(listener.name());
    }
  }
  return names;
}

// `key`: the parts of a key, at `path`.
void CheckKey(const std::string& path, const google::protobuf::RepeatedPtrField<std::string>& key,
              const Positions& positions, FaultList& faults) {
  const auto part = std::find_if(key.begin(), key.end(), [](const std::string& text) {
    return text == "peer" || text.ends_with("=peer");
  });
  if (part == key.end()) return;
  faults.Add(positions.Find(absl::StrCat(path, "[", part - key.begin(), "]")),
             CheckCode::kPeerUnknown,
             absl::StrCat("is the same for all calls of a route that has this policy: ", kNoName));
}

void CheckKeys(const std::string& policy, const v1::Policy& message, const Positions& positions,
               FaultList& faults) {
  for (int i = 0; i < message.rate_limit_size(); ++i) {
    CheckKey(absl::StrCat(policy, ".rate_limit[", i, "].key"), message.rate_limit(i).key(),
             positions, faults);
  }
  CheckKey(policy + ".guard.dedupe.scope", message.guard().dedupe().scope(), positions, faults);
}

}  // namespace

void ValidatePeers(const v1::Config& config, const Positions& positions, FaultList& faults) {
  const std::set<std::string> asking = Asking(config);
  std::set<std::string> policies;  // of routes whose callers have no names
  for (int i = 0; i < config.routes_size(); ++i) {
    const v1::Route& route = config.routes(i);
    const std::string match = absl::StrCat("routes[", i, "].match");
    if (asking.contains(route.match().listener()) || positions.Broken(match + ".listener")) {
      continue;
    }
    policies.insert(route.policy());
    if (route.match().peer() == "*") continue;
    faults.Add(positions.Find(match + ".peer"), CheckCode::kPeerUnknown,
               absl::StrCat("matches no call: ", kNoName,
                            route.match().has_listener() ? "" : "; name it in match.listener"));
  }
  for (int i = 0; i < config.policies_size(); ++i) {
    if (!policies.contains(config.policies(i).name())) continue;
    CheckKeys(absl::StrCat("policies[", i, "]"), config.policies(i), positions, faults);
  }
}

}  // namespace levee
