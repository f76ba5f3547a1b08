// SPDX-License-Identifier: Apache-2.0
#include "random_ledger/random_config.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "call/drawn_config.h"
#include "ledger/schedule.h"

namespace levee::ledger {
namespace {

// Of each direction; those of the application come after the others.
constexpr size_t kPolicies = kMethods;

std::string NameOf(size_t policy) { return absl::StrCat("drawn", policy); }

std::string DrawLimits(const Draws& draws) {
  return absl::StrCat(
      "limits: {replay_bytes: ", draws.OneOf({"0B", "4KiB", "16MiB", "16MiB", "16MiB"}),
      ", waiting_calls: ", draws.OneOf({"0", "1", "5", "1000", "1000"}), "}\n");
}

}  // namespace

RandomConfig::RandomConfig(uint64_t seed, Places places)
    : random_(seed), places_(std::move(places)), limits_(DrawLimits(draws_)) {}

std::string RandomConfig::Upstreams() const {
  const std::string more =
      absl::StrCat(", connect_timeout: 500ms, reconnect: {initial: 5ms, max: 50ms}, ejection: ",
                   draws_.OneOf({"none", "{base: 100ms, failures: 3}", "{attempts: 1}"}),
                   ", connect_wait: ", draws_.OneOf({"none", "none", "20ms", "2s"}), "}\n");
  std::string text = "upstreams:\n";
  absl::StrAppend(&text, "  - {name: services, endpoints: [");
  // At least one of them.
  const size_t left_out = draws_.below(places_.endpoints.size());
  for (size_t i = left_out; i < places_.endpoints.size(); ++i) {
    absl::StrAppend(&text, i == left_out ? "\"" : ", \"", places_.endpoints[i], "\"");
  }
  absl::StrAppend(&text, "]", more, "  - {name: application, endpoints: [\"", places_.application,
                  "\"]", more);
  return text;
}

std::string RandomConfig::Routes() const {
  std::string text = "routes:\n";
  for (size_t i = 0; i < kMethods; ++i) {
    const std::string path(PathOf(static_cast<Method>(i)));
    const size_t other = (i + 1 + draws_.below(kPolicies - 1)) % kPolicies;
    const std::string shadow = draws_.Chance(0.2) ? absl::StrCat(", shadow: ", NameOf(other)) : "";
    absl::StrAppend(&text, "  - {match: {listener: egress, method: ", path,
                    "}, upstream: services, policy: ", NameOf(i), shadow, "}\n");
    absl::StrAppend(&text, "  - {match: {listener: inbound, method: ", path,
                    "}, upstream: application, policy: ", NameOf(kPolicies + i), "}\n");
  }
  return text;
}

// Most limits reject most calls, so that few would be left for the other fields if half of the
// policies had some.
std::string RandomConfig::Policy(size_t number) const {
  const Side side = number < kPolicies ? Side::kEgress : Side::kInbound;
  const bool limits = draws_.Chance(0.2);
  std::string text;
  do {
    text = DrawPolicyText(draws_, side, number);
  } while (!limits && absl::StrContains(text, "rate_limit: "));
  return text;
}

std::string RandomConfig::Next() {
  std::string text =
      "listeners:\n"
      "  - {name: egress, address: \"127.0.0.1:0\"}\n"
      "  - {name: inbound, address: \"127.0.0.1:0\", direction: inbound}\n"
      "metrics: {address: \"127.0.0.1:0\"}\n"
      "admin: {address: none}\n";
  absl::StrAppend(&text, "stores: [{name: shared, redis: [\"", places_.nowhere, "\"]}]\n", limits_,
                  "access_log: {path: ", places_.access_log, ", when: [all]}\n", Upstreams(),
                  Routes(), "overload: ", DrawOverloadText(draws_), "\npolicies:\n");
  for (size_t i = 0; i < 2 * kPolicies; ++i) absl::StrAppend(&text, "  - ", Policy(i), "\n");
  // The schema's values name a limit service at a port of its own, where somebody may listen.
  return absl::StrReplaceAll(text, {{"127.0.0.1:8081", places_.nowhere}});
}

}  // namespace levee::ledger
