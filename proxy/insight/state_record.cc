// SPDX-License-Identifier: Apache-2.0
#include "insight/state_record.h"

#include <set>

namespace levee {

void StateRecord::Update(uint32_t second, Instant started,
                         const std::vector<UpstreamTotals>& totals,
                         const std::vector<BudgetGauges>& budgets,
                         const std::map<std::string, double>& throttles,
                         const std::map<std::string, GuardState>& guards,
                         const std::vector<RememberedCall>& calls) {
  calls_.Update(calls, second, started);
  if (begun_) {
    history_.Add(second, totals, budgets, throttles, guards);
  } else {
    begun_ = true;
    history_.Begin(second, totals);
  }
}

// The upstreams that are not configured are "none", and those that a reload removed.
std::vector<std::string> StateRecord::Shown(const std::string& upstream,
                                            const std::vector<std::string>& configured) const {
  std::vector<std::string> names;
  std::set<std::string> seen;
  const auto show = [&](const std::string& name) {
    if (!seen.insert(name).second) return;
    if (upstream.empty() || name == upstream) names.push_back(name);
  };
  for (const std::string& name : configured) show(name);
  for (const std::string& name : history_.CalledUpstreams()) show(name);
  return names;
}

UpstreamPast StateRecord::PastOf(const std::string& name, uint32_t since) const {
  const int seconds = history_.SecondsSeen(kRecentSeconds);
  return {.name = name,
          .recent = history_.Sum(name, seconds),
          .seconds = seconds,
          .seconds_empty = history_.SecondsEmpty(name),
          .last_called = history_.LastCalled(name),
          .later = history_.CountSamples(name, since),
          .samples = {}};
}

RecentState StateRecord::Read(const StateQuery& query,
                              const std::vector<std::string>& configured) const {
  RecentState state{.second = second(), .upstreams = {}, .calls = calls_.After(query.since)};
  const auto detailed = [&query](const UpstreamPast& past) {
    return query.details_of.empty() || past.name == query.details_of;
  };
  size_t wanted = 0;
  for (const std::string& name : Shown(query.upstream, configured)) {
    state.upstreams.push_back(PastOf(name, query.since));
    if (detailed(state.upstreams.back())) wanted += state.upstreams.back().later;
  }
  for (UpstreamPast& past : state.upstreams) {
    if (wanted <= kMaxSamples && detailed(past)) {
      past.samples = history_.Samples(past.name, query.since);
    }
  }
  std::erase_if(state.calls, [&query](const NumberedCalls::Call& call) {
    return !query.upstream.empty() && call.call->upstream != query.upstream;
  });
  return state;
}

}  // namespace levee
