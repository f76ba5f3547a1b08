// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet_command.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "cli/duration_option.h"
#include "cli/fleet_sources.h"
#include "cli/format_option.h"
#include "cli/output.h"
#include "fleet/prometheus.h"
#include "fleet/report_html.h"
#include "fleet/report_json.h"
#include "fleet/report_text.h"

namespace levee {
namespace {

constexpr double kLeastBound = 1, kMostBound = 1000;

void AddSidecars(Command fleet, FleetOptions& options) {
  const CommandOption sidecars =
      fleet
          .AddOption("sidecars", options.sidecars,
                     "metrics.address of each sidecar, with the name of its application; sidecars "
                     "of one application are added up")
          .Check(WhyNoSidecar)
          .ValueName("[NAME=]HOST:PORT");
  const CommandOption since = fleet.AddFlag("--since-start", options.since_start,
                                            "count all calls since the start of each sidecar");
  AddDuration(fleet, "--interval", options.interval, absl::Seconds(1), absl::Hours(1),
              "ask the sidecars twice, with this time between")
      .Excludes(since);
  const CommandOption prometheus =
      fleet
          .AddOption("--prometheus", options.prometheus,
                     "ask Prometheus instead of the sidecars, such as http://127.0.0.1:9090")
          .Check([](const std::string& text) {
            return std::string(fleet::ReadPrometheusUrl(text).status().message());
          })
          .ValueName("URL")
          .Excludes(sidecars)
          .Excludes(since);
  AddDuration(fleet, "--range", options.range, absl::Seconds(1), absl::Hours(24 * 7),
              "how far Prometheus looks back")
      .Needs(prometheus);
  fleet
      .AddOption("--by", options.by,
                 "the label of Prometheus' targets that names the application; without it, the "
                 "first of service, app, app_kubernetes_io_name, pod, job, instance")
      .ValueName("LABEL")
      .Needs(prometheus);
}

// Returns what is wrong with the command line as a whole; empty: nothing.
std::string WhyNotAsked(const FleetOptions& options) {
  if (!options.sidecars.empty() || !options.prometheus.empty()) return "";
  return "levee fleet: name sidecars, or give --prometheus";
}

}  // namespace

Command AddFleet(Command app, FleetOptions& options) {
  Command fleet = app.AddCommand(
      "fleet", "say which layer of many sidecars multiplies the load, and by whose retries");
  AddSidecars(fleet, options);
  fleet
      .AddOption("--join", options.joins,
                 "the application that an upstream is, if their names differ")
      .Check([](const std::string& text) {
        return SplitPair(text).has_value() ? std::string()
                                           : "\"" + text + "\" is not UPSTREAM=NAME";
      })
      .ValueName("UPSTREAM=NAME")
      .NamedEachTime();
  fleet
      .AddOption("--bound", options.bound,
                 "attempts per call above which a layer multiplies the load")
      .Within(kLeastBound, kMostBound)
      .ValueName("NUMBER")
      .ShowDefault();
  AddFormat(fleet, options.output);
  fleet.AddOption("--html", options.html, "also write the result with a picture to this file")
      .ValueName("OUT");
  fleet.Footer(
      "Exit code 0: no layer multiplies the load, 1: one layer does, or several together, or a "
      "sidecar or Prometheus could not be read.");
  return fleet;
}

int RunFleet(const FleetOptions& options) {
  if (const std::string why = WhyNotAsked(options); !why.empty()) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return 2;
  }
  absl::StatusOr<FleetReadings> readings =
      options.prometheus.empty()
          ? AskSidecars(options.sidecars,
                        options.since_start ? std::nullopt : std::optional(options.interval))
          : AskPrometheus(options.prometheus, options.range, options.by);
  if (!readings.ok()) {
    std::fprintf(stderr, "levee fleet: %s: %s\n", options.prometheus.c_str(),
                 std::string(readings.status().message()).c_str());
    return 1;
  }
  fleet::Joins joins;
  for (const std::string& join : options.joins) joins.insert(*SplitPair(join));
  const fleet::Report report = {.graph = fleet::MakeGraph(readings->sidecars, joins),
                                .sidecars = readings->reached,
                                .unread = std::move(readings->unread),
                                .seconds = readings->seconds,
                                .bound = options.bound};
  const bool json = options.output == "json";
  std::fputs((json ? ReportJson(report) : ReportText(report)).c_str(), stdout);
  const bool written =
      options.html.empty() || WriteOutput("levee fleet", options.html, ReportHtml(report));
  return report.ok() && written ? 0 : 1;
}

}  // namespace levee
