// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet_sources.h"

#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "base/host_port.h"
#include "cli/admin_port.h"
#include "cli/client_loop.h"
#include "cli/dial.h"
#include "cli/http_batch.h"
#include "fleet/prometheus.h"
#include "fleet/scrape.h"
#include "fleet/targets.h"

namespace levee {
namespace {

using fleet::Scrape;
using fleet::Unread;

constexpr absl::Duration kLookUpPatience = absl::Seconds(3);
constexpr absl::Duration kScrapePatience = absl::Seconds(3);
// A query over many series takes Prometheus some time.
constexpr absl::Duration kQueryPatience = absl::Seconds(20);

// One address to ask.
struct Target {
  std::string application;
  HttpQuestion question;
  absl::StatusOr<Scrape> before = absl::UnknownError("");
  absl::StatusOr<Scrape> after = absl::UnknownError("");
};

struct NamedAddress {
  std::string application;
  std::string host;
  uint16_t port;
};

NamedAddress ReadSidecar(const std::string& text) {
  const auto pair = SplitPair(text);
  const std::string address = pair.has_value() ? pair->second : text;
  const HostPort parts = *SplitHostPort(address);
  NamedAddress named = {"", std::string(parts.host), parts.port};
  const bool bare =
      parts.host == "localhost" || net::Address::FromIp(parts.host, parts.port).has_value();
  named.application = pair.has_value() ? pair->first : bare ? text : named.host;
  return named;
}

// Returns the addresses of all sidecars, each once. `unread` gets those that cannot be looked up.
std::vector<Target> LookUpAll(const std::vector<std::string>& sidecars,
                              std::vector<Unread>& unread) {
  std::vector<Target> targets;
  for (const std::string& text : sidecars) {
    const NamedAddress named = ReadSidecar(text);
    const auto found = LookUp(named.host, named.port, kLookUpPatience);
    if (!found.ok()) {
      unread.push_back({named.application, absl::StrCat(named.host, ":", named.port),
                        std::string(found.status().message())});
      continue;
    }
    for (const net::Address& address : *found) {
      const bool known = std::any_of(targets.begin(), targets.end(), [&](const Target& each) {
        return each.question.address == address;
      });
      if (!known) targets.push_back({named.application, {address, "/metrics"}});
    }
  }
  return targets;
}

void ScrapeAll(ClientLoop& loop, std::vector<Target>& targets,
               absl::StatusOr<Scrape> Target::*scrape) {
  std::vector<HttpQuestion> questions;
  for (const Target& target : targets) questions.push_back(target.question);
  const auto answers = AskAll(loop, questions, kScrapePatience);
  for (size_t i = 0; i < targets.size(); ++i) {
    targets[i].*scrape = answers[i].ok() ? fleet::ReadScrape(*answers[i]) : answers[i].status();
  }
}

// Waits, and tells a user who would wonder why.
void Wait(ClientLoop& loop, absl::Duration interval) {
  const bool shown = isatty(STDERR_FILENO) != 0;
  const Instant end = loop.now() + interval;
  while (loop.now() < end) {
    if (shown) {
      const absl::Duration left = absl::Ceil(end - loop.now(), absl::Seconds(1));
      std::fprintf(stderr, "\rlevee fleet: %s left ", absl::FormatDuration(left).c_str());
    }
    loop.WaitUntil(std::min(end, loop.now() + absl::Seconds(1)));
  }
  if (shown) std::fputs("\r\033[K", stderr);
}

absl::StatusOr<fleet::SidecarFigures> FiguresOf(const Target& target, bool twice) {
  if (!target.after.ok()) return target.after.status();
  if (!twice) return target.after->figures;
  if (!target.before.ok()) return target.before.status();
  return fleet::Between(*target.before, *target.after);
}

// Returns a question for each metric, and behind these the one for targets that are not reached.
std::vector<HttpQuestion> QuestionsTo(const fleet::PrometheusUrl& at, const net::Address& address,
                                      absl::Duration range) {
  std::vector<HttpQuestion> questions;
  const auto add = [&](const std::string& query) {
    questions.push_back({address, absl::StrCat(at.path, "/api/v1/query?query=", QueryText(query))});
  };
  for (const char* metric : fleet::kMetrics) add(fleet::GrowthQuery(metric, range));
  add(fleet::UnreachedQuery());
  return questions;
}

}  // namespace

std::optional<std::pair<std::string, std::string>> SplitPair(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return std::nullopt;
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

std::string WhyNoSidecar(const std::string& text) {
  const auto pair = SplitPair(text);
  const bool named = text.find('=') != std::string::npos;
  if (pair.has_value() == named && SplitHostPort(named ? pair->second : text).has_value())
    return "";
  return absl::StrCat("\"", text, "\" is not HOST:PORT or NAME=HOST:PORT");
}

FleetReadings AskSidecars(const std::vector<std::string>& sidecars,
                          std::optional<absl::Duration> interval) {
  FleetReadings readings;
  std::vector<Target> targets = LookUpAll(sidecars, readings.unread);
  ClientLoop loop;
  if (interval.has_value()) {
    const Instant begin = loop.now();
    ScrapeAll(loop, targets, &Target::before);
    Wait(loop, begin + *interval - loop.now());
    readings.seconds = absl::ToDoubleSeconds(loop.now() - begin);
  }
  ScrapeAll(loop, targets, &Target::after);
  for (const Target& target : targets) {
    auto figures = FiguresOf(target, interval.has_value());
    if (figures.ok()) {
      readings.sidecars.push_back({target.application, *std::move(figures)});
      ++readings.reached;
    } else {
      readings.unread.push_back({target.application, target.question.address.ToString(),
                                 std::string(figures.status().message())});
    }
  }
  return readings;
}

absl::StatusOr<FleetReadings> AskPrometheus(const std::string& url, absl::Duration range,
                                            const std::string& by) {
  const auto at = fleet::ReadPrometheusUrl(url);
  if (!at.ok()) return at.status();
  const auto addresses = LookUp(at->host, at->port, kLookUpPatience);
  if (!addresses.ok()) return addresses.status();
  ClientLoop loop;
  const auto answers = AskAll(loop, QuestionsTo(*at, addresses->front(), range), kQueryPatience);
  std::vector<MetricSample> samples, unreached;
  for (size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].ok()) return answers[i].status();
    const bool of_metric = i < fleet::kMetrics.size();
    const auto read =
        fleet::ReadPrometheusAnswer(*answers[i], of_metric ? fleet::kMetrics.at(i) : "up");
    if (!read.ok()) return read.status();
    std::vector<MetricSample>& to = of_metric ? samples : unreached;
    to.insert(to.end(), read->begin(), read->end());
  }
  return FleetReadings{.sidecars = fleet::SidecarsOf(samples, by),
                       .reached = fleet::CountReached(samples, unreached),
                       .unread = fleet::UnreadTargets(unreached, by),
                       .seconds = absl::ToDoubleSeconds(range)};
}

}  // namespace levee
