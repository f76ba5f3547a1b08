// SPDX-License-Identifier: Apache-2.0
#include "lab/run_record.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lab/ratio.h"

namespace levee {
namespace {

// A run that has had no bad second for so long at its end is taken to have recovered.
constexpr int64_t kSettled = 5;

int64_t Sum(const PerSecond& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

// Returns the index of the quantile among so many values in order.
std::ptrdiff_t RankOf(double p, size_t count) {
  return static_cast<std::ptrdiff_t>(std::max(std::ceil(p * static_cast<double>(count)), 1.0)) - 1;
}

// Counts the attempts that a call of `service` makes at each service, the call itself included, if
// none fails.
void CountPaths(const Scenario& scenario, int service, std::vector<int64_t>& paths) {
  ++paths[static_cast<size_t>(service)];
  for (const ScenarioCall& call : scenario.services[static_cast<size_t>(service)].calls) {
    CountPaths(scenario, call.service, paths);
  }
}

}  // namespace

RunRecord::RunRecord(const Scenario& scenario)
    : duration_(scenario.duration), trouble_(scenario.Trouble()) {
  const auto seconds =
      static_cast<size_t>(absl::ToInt64Seconds(absl::Ceil(scenario.duration, absl::Seconds(1))));
  const PerSecond none(seconds);
  for (const ScenarioClient& client : scenario.clients) {
    clients_.push_back({none, none, none, {}});
    CountPaths(scenario, client.call.service, paths_.emplace_back(scenario.services.size()));
  }
  services_.assign(scenario.services.size(), {none, none});
  queue_ = none;
}

// The end of the run counts as of the last second.
size_t RunRecord::SecondOf(absl::Duration at) const {
  const size_t last = queue_.size() - 1;
  return std::min(static_cast<size_t>(absl::ToInt64Seconds(at)), last);
}

void RunRecord::Begin(size_t client, absl::Duration at) {
  const size_t second = SecondOf(at);
  ++clients_[client].begun[second];
  for (size_t i = 0; i < services_.size(); ++i) {
    services_[i].without_retries[second] += paths_[client][i];
  }
}

void RunRecord::Ok(size_t client, absl::Duration begun, absl::Duration at) {
  ++clients_[client].ok[SecondOf(begun)];
  if (at < duration_) ++clients_[client].answered[SecondOf(at)];
  clients_[client].latencies.push_back(absl::ToDoubleSeconds(at - begun));
}

void RunRecord::Attempt(size_t service, absl::Duration at) {
  ServiceRecord& record = services_[service];
  ++(at < duration_ ? record.attempts[SecondOf(at)] : record.late);
}

double RunRecord::Amplification(size_t service) const {
  const ServiceRecord& record = services_[service];
  return Ratio(Sum(record.attempts) + record.late, Sum(record.without_retries));
}

size_t RunRecord::WorstService() const {
  size_t worst = 0;
  for (size_t i = 1; i < services_.size(); ++i) {
    if (Amplification(i) > Amplification(worst)) worst = i;
  }
  return worst;
}

double RunRecord::WorstSecond(size_t service) const {
  double worst = 0;
  for (size_t i = 0; i < services_[service].attempts.size(); ++i) {
    worst = std::max(worst,
                     Ratio(services_[service].attempts[i], services_[service].without_retries[i]));
  }
  return worst;
}

double RunRecord::Success(int client, absl::Duration before) const {
  int64_t begun = 0;
  int64_t ok = 0;
  for (size_t c = 0; c < clients_.size(); ++c) {
    if (client >= 0 && c != static_cast<size_t>(client)) continue;
    for (size_t i = 0; i < clients_[c].begun.size(); ++i) {
      if (absl::Seconds(i + 1) > before) break;
      begun += clients_[c].begun[i];
      ok += clients_[c].ok[i];
    }
  }
  return begun == 0 ? 1 : Ratio(ok, begun);
}

// Returns the counts per second from the beginning to the end of the trouble; without trouble, of
// the whole run.
double RunRecord::InTrouble(const PerSecond& counts) const {
  const auto trouble = trouble_.value_or(Scenario::Span{absl::ZeroDuration(), duration_});
  const size_t first = SecondOf(trouble.begin);
  const size_t last = SecondOf(std::min(trouble.end, duration_) - absl::Nanoseconds(1));
  int64_t sum = 0;
  for (size_t i = first; i <= last; ++i) sum += counts[i];
  return Ratio(sum, static_cast<int64_t>(last - first + 1));
}

void RunRecord::Shadow(const ShadowRecord& counts) {
  const auto same = [&counts](const ShadowRecord& known) {
    return known.caller == counts.caller && known.policy == counts.policy &&
           known.shadow == counts.shadow;
  };
  const auto known = std::find_if(shadows_.begin(), shadows_.end(), same);
  if (known == shadows_.end()) {
    shadows_.push_back(counts);
    return;
  }
  for (size_t i = 0; i < counts.calls.size(); ++i) known->calls[i] += counts.calls[i];
}

PerSecond RunRecord::SumOf(PerSecond ClientRecord::*counts) const {
  PerSecond all(queue_.size());
  for (const ClientRecord& client : clients_) {
    for (size_t i = 0; i < all.size(); ++i) all[i] += (client.*counts)[i];
  }
  return all;
}

RunTimeline RunRecord::Timeline() const {
  return {.requests = SumOf(&ClientRecord::begun),
          .attempts = services_[WorstService()].attempts,
          .answers = SumOf(&ClientRecord::answered),
          .queue = queue_};
}

// Returns those of all clients if `client` is below 0.
std::vector<double> RunRecord::Latencies(int client) const {
  std::vector<double> all;
  for (size_t c = 0; c < clients_.size(); ++c) {
    if (client >= 0 && c != static_cast<size_t>(client)) continue;
    all.insert(all.end(), clients_[c].latencies.begin(), clients_[c].latencies.end());
  }
  return all;
}

std::optional<double> RunRecord::Quantile(int client, double p) const {
  std::vector<double> all = Latencies(client);
  if (all.empty()) return std::nullopt;
  const auto nth = all.begin() + RankOf(p, all.size());
  std::nth_element(all.begin(), nth, all.end());
  return *nth;
}

std::vector<double> RunRecord::Percentiles() const {
  std::vector<double> all = Latencies(-1);
  std::sort(all.begin(), all.end());
  std::vector<double> percentiles;
  for (int percent = 1; percent < 100 && !all.empty(); ++percent) {
    percentiles.push_back(all[static_cast<size_t>(RankOf(percent / 100.0, all.size()))]);
  }
  return percentiles;
}

// A second is bad if more than one of the requests that begin in it fail, and more than 1%.
void RunRecord::FindRecovery(RunFigures& figures) const {
  if (!trouble_.has_value()) return;
  const auto seconds = static_cast<int64_t>(queue_.size());
  int64_t good_from = 0;
  const PerSecond begun = SumOf(&ClientRecord::begun);
  const PerSecond ok = SumOf(&ClientRecord::ok);
  for (int64_t i = 0; i < seconds; ++i) {
    const auto second = static_cast<size_t>(i);
    const int64_t failed = begun[second] - ok[second];
    if (failed > 1 && Ratio(failed, begun[second]) > 0.01) good_from = i + 1;
  }
  const absl::Duration recovery =
      std::max(absl::Seconds(good_from) - trouble_->end, absl::ZeroDuration());
  const bool settled = good_from + kSettled <= seconds;
  figures.state = settled ? RunFigures::State::kRecovered : RunFigures::State::kStuck;
  if (settled) figures.recovery_s = absl::ToDoubleSeconds(recovery);
}

RunFigures RunRecord::Figures() const {
  RunFigures figures;
  const size_t worst = WorstService();
  figures.amplification = Amplification(worst);
  figures.worst_second = WorstSecond(worst);
  figures.success = Success(-1, absl::InfiniteDuration());
  figures.load = InTrouble(services_[worst].attempts);
  figures.goodput = InTrouble(SumOf(&ClientRecord::answered));
  figures.p50_s = Quantile(-1, 0.5);
  figures.p99_s = Quantile(-1, 0.99);
  FindRecovery(figures);
  return figures;
}

std::optional<double> RunRecord::ValueOf(const ScenarioExpectation& expectation) const {
  switch (expectation.figure) {
    case ScenarioFigure::kAmplification:
      return Amplification(expectation.of < 0 ? WorstService()
                                              : static_cast<size_t>(expectation.of));
    case ScenarioFigure::kRecovery: {
      RunFigures figures;
      FindRecovery(figures);
      return figures.state == RunFigures::State::kUndisturbed ? 0 : figures.recovery_s;
    }
    case ScenarioFigure::kSuccess:
      return Success(expectation.of, expectation.before);
    case ScenarioFigure::kGoodput:
      return InTrouble(SumOf(&ClientRecord::answered));
    case ScenarioFigure::kP50:
      return Quantile(expectation.of, 0.5);
    case ScenarioFigure::kP99:
      return Quantile(expectation.of, 0.99);
  }
  return std::nullopt;
}

}  // namespace levee
