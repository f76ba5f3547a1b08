// SPDX-License-Identifier: Apache-2.0
// docs/metrics.md tells of every metric, and of none that is not there; docs/limits.md of every
// bound.
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "files/source_path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "telemetry/fake_gauges.h"
#include "telemetry/families.h"
#include "telemetry/metrics.h"

namespace levee {
namespace {

using testing::HasSubstr;

std::string Document(const std::string& name = "metrics.md") {
  std::ifstream file(SourcePath("docs/" + name));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Name -> "type, labels" of the families in the document's tables.
std::map<std::string, std::string> Documented() {
  std::map<std::string, std::string> families;
  const std::string document = Document();
  for (absl::string_view line : absl::StrSplit(document, '\n')) {
    if (!absl::ConsumePrefix(&line, "| `")) continue;
    std::vector<std::string> cells = absl::StrSplit(line, '|');
    for (std::string& cell : cells) absl::StripAsciiWhitespace(&cell);
    EXPECT_GE(cells.size(), 4u) << line;
    EXPECT_FALSE(cells[3].empty()) << line;
    const std::string name = cells[0].substr(0, cells[0].find('`'));
    EXPECT_TRUE(families.emplace(name, cells[1] + " of " + cells[2]).second) << line;
  }
  return families;
}

std::string TypeName(prometheus::MetricType type) {
  switch (type) {
    case prometheus::MetricType::Counter:
      return "counter";
    case prometheus::MetricType::Gauge:
      return "gauge";
    default:
      return "histogram";
  }
}

// The same of what is exported.
std::map<std::string, std::string> Exported() {
  Metrics metrics(
      {.settings = {.upstreams = {"cart"},
                    .otel_names = true,
                    .certificates = {{"cart", "client", absl::UnixEpoch(), absl::UnixEpoch()}}}});
  metrics.Upstream(0, "cart").tls.Count(tls::Result::kSuccess, tls::Version::k13,
                                        absl::Milliseconds(1));
  metrics.RateLimit(0, "default", "per-tenant");
  metrics.Guard(0, "cart");
  metrics.Dedupe(0, "cart");
  metrics.Shadow(0, "default", "candidate");
  metrics.Store("shared");
  FakeGauges gauges;
  gauges.guards = {{"cart", {.limit = 20, .least = 1}}};
  gauges.leases = {{"per-tenant", LeaseState::kLeased}};
  gauges.keys = {{"cart", {}}};
  gauges.budgets = {{.upstream = "cart"}};
  gauges.throttles = {{"cart", 0.0}};
  metrics.Show(&gauges);
  std::map<std::string, std::string> families;
  for (const prometheus::MetricFamily& family : metrics.Scrape()) {
    std::vector<std::string> labels;
    for (const auto& label : family.metric.at(0).label) labels.push_back(label.name);
    families[family.name] = TypeName(family.type) + " of " + absl::StrJoin(labels, ", ");
  }
  return families;
}

TEST(MetricsDocument, TellsOfEveryFamilyItsTypeAndLabels) {
  std::map<std::string, std::string> documented = Documented();
  // The metrics of the process do not belong to this layer.
  std::erase_if(documented, [](const auto& entry) { return entry.first.starts_with("process_"); });
  EXPECT_EQ(documented, Exported());
}

TEST(MetricsDocument, TellsEveryReason) {
  const std::string document = Document();
  for (int i = 0; i < kRefusalReasons; ++i) {
    const std::string name(RefusalReasonName(static_cast<RefusalReason>(i)));
    EXPECT_THAT(document, HasSubstr("`" + name + "`"));
  }
  for (int i = 0; i < kRejects; ++i) {
    const std::string name(RejectName(static_cast<Reject>(i)));
    EXPECT_THAT(document, HasSubstr("`" + name + "`"));
  }
}

TEST(LimitsDocument, HasARowForEveryBoundThatIsCounted) {
  const std::string document = Document("limits.md");
  for (int i = 0; i < kLimits; ++i) {
    const std::string name(LimitName(static_cast<Limit>(i)));
    EXPECT_THAT(document, HasSubstr("\n| `" + name + "` |"));
  }
}

TEST(MetricsDocument, TellsWhatRowsCost) {
  const std::string document = Document();
  const SeriesCost plain = CostOfRows(/*otel_names=*/false);
  const SeriesCost otel = CostOfRows(/*otel_names=*/true);
  EXPECT_THAT(document, HasSubstr(absl::StrFormat("A method has %d ", plain.method)));
  EXPECT_THAT(document, HasSubstr(absl::StrFormat(" %d with gRPC's names;", otel.method)));
  EXPECT_THAT(document, HasSubstr(absl::StrFormat("%d series (%d) for `other` and %d more",
                                                  plain.method, otel.method, plain.upstream)));
  EXPECT_THAT(document, HasSubstr(absl::StrFormat("%d for each rate limit", plain.rate_limit)));
  EXPECT_THAT(document, HasSubstr(absl::StrFormat("%d for each guarded upstream", plain.guard)));
}

}  // namespace
}  // namespace levee
