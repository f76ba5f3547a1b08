// SPDX-License-Identifier: Apache-2.0
// What a policy will do with a call, before it does it: the answer of `levee explain`.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "config/effective_values.h"
#include "lab/delay_table.h"
#include "lab/exhausted.h"
#include "lab/outage.h"
#include "settings/snapshot.h"

namespace levee {

struct ReadConfig;

// The call that is asked about. The routing facts that are not given match every route, but for
// headers: the call has those that are given.
struct ExplainQuestion {
  std::optional<std::string> authority;
  std::optional<std::string> method;    // "shop.Cart/Add", with or without a slash before it
  std::optional<std::string> listener;  // its name; not given: the first egress one, or the first
  std::optional<std::string> peer;      // the caller's name by its certificate
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  absl::Duration deadline = absl::InfiniteDuration();        // that the caller sets
};

// One route that was looked at.
struct ExplainedRoute {
  std::string path;     // "routes[0]"
  std::string from;     // where it is given
  std::string serves;   // the calls it is for
  std::string because;  // the reason for which it is not the call's; empty: it is
};

// The delays of one way to retry: that of the policy, or of one of its rules.
struct ExplainedRetries {
  std::string what;  // "retry", or "retry.rules[0]: codes [RESOURCE_EXHAUSTED]"
  int max_attempts = 1;
  DelayTable delays;
  std::vector<std::string> sentences;
};

// A heading with sentences below it.
struct ExplainedSection {
  std::string title;
  std::vector<std::string> sentences;
};

struct Explanation {
  std::vector<ExplainedRoute> routes;  // the last one is the call's, if `routed`
  bool routed = false;
  bool denied = false;  // by its route; there is nothing more to say of it
  std::string call;     // the facts that were asked about: `listener "egress", any authority, ...`

  // Returns what becomes of the call, in words.
  std::string Fate() const;

  // Whether the call has a policy, which the following is about.
  bool planned() const { return routed && !denied; }
  std::string upstream;  // of a split all of them: "cart or cart-v2"
  std::string policy;
  std::vector<EffectiveValue> values;
  std::vector<ExplainedRetries> retries;  // the policy's own first; none if calls are not retried
  std::vector<OutageLoad> outage;         // likewise
  std::vector<ExhaustedRow> exhausted;

  std::vector<ExplainedSection> sections;  // in the order in which they are read

  // Returns every sentence, also those of the retries.
  std::vector<std::string> AllSentences() const;
};

// `snapshot` was built from `complete` (CheckConfig). Returns an error whose message is half a
// sentence if the question names a listener that there is not.
absl::StatusOr<Explanation> Explain(const Snapshot& snapshot, const ReadConfig& complete,
                                    const ExplainQuestion& question);

}  // namespace levee
