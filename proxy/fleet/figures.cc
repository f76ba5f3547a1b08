// SPDX-License-Identifier: Apache-2.0
#include "fleet/figures.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace levee::fleet {
namespace {

constexpr std::array kMembers = {&Figures::called,     &Figures::attempts,   &Figures::retries,
                                 &Figures::hedges,     &Figures::app_header, &Figures::app_loop,
                                 &Figures::app_refused};

double& AppRetriesOf(Figures& figures, const MetricLabels& labels) {
  if (LabelOf(labels, "action") == "refused") return figures.app_refused;
  return LabelOf(labels, "seen_by") == "loop" ? figures.app_loop : figures.app_header;
}

// Returns the number that the sample belongs to; nullptr if it is none of an upstream's.
double* MemberOf(const MetricSample& sample, Figures& figures) {
  if (sample.name == "levee_call_attempts_count") return &figures.called;
  if (sample.name == "levee_attempts_total") return &figures.attempts;
  if (sample.name == "levee_app_retries_total") return &AppRetriesOf(figures, sample.labels);
  if (sample.name != "levee_retries_total") return nullptr;
  return LabelOf(sample.labels, "trigger") == "hedge" ? &figures.hedges : &figures.retries;
}

}  // namespace

double Figures::Asked() const { return std::max(called - app_header - app_loop, 0.0); }

double Figures::PerCall() const {
  if (called <= 0) return 1;
  // The call that a loop began with may have been before the time that is looked at.
  return attempts / (Asked() < called ? std::max(Asked(), 1.0) : called);
}

Figures& operator+=(Figures& sum, const Figures& more) {
  for (const auto member : kMembers) sum.*member += more.*member;
  return sum;
}

Arrivals& operator+=(Arrivals& sum, const Arrivals& more) {
  sum.first += more.first;
  sum.retries += more.retries;
  return sum;
}

SidecarFigures AddUp(const std::vector<MetricSample>& samples) {
  SidecarFigures all;
  for (const MetricSample& sample : samples) {
    const std::string upstream(LabelOf(sample.labels, "upstream"));
    if (sample.name == "levee_guard_arrivals_total") {
      Arrivals& arrivals = all.served[upstream];
      (LabelOf(sample.labels, "attempt") == "0" ? arrivals.first : arrivals.retries) +=
          sample.value;
    } else if (Figures none; MemberOf(sample, none) != nullptr) {
      *MemberOf(sample, all.upstreams[upstream]) += sample.value;
    }
  }
  for (const auto& [upstream, arrivals] : all.served) all.upstreams.erase(upstream);
  return all;
}

SidecarFigures Growth(const SidecarFigures& before, SidecarFigures after) {
  for (auto& [upstream, figures] : after.upstreams) {
    const auto found = before.upstreams.find(upstream);
    if (found == before.upstreams.end()) continue;
    for (const auto member : kMembers) {
      figures.*member = std::max(figures.*member - found->second.*member, 0.0);
    }
  }
  for (auto& [upstream, arrivals] : after.served) {
    const auto found = before.served.find(upstream);
    if (found == before.served.end()) continue;
    arrivals.first = std::max(arrivals.first - found->second.first, 0.0);
    arrivals.retries = std::max(arrivals.retries - found->second.retries, 0.0);
  }
  return after;
}

}  // namespace levee::fleet
