// SPDX-License-Identifier: Apache-2.0
#include "lab/simulation_html.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lab/html_text.h"
#include "lab/simulation_cells.h"
#include "lab/simulation_charts.h"
#include "lab/stability_text.h"
#include "lab/words.h"

namespace levee {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string Expectations(const std::vector<SimulatedExpectation>& expectations) {
  Rows rows;
  for (const SimulatedExpectation& each : expectations) {
    rows.push_back({each.ok ? "ok" : "FAIL", each.text, ValueWords(each)});
  }
  return HtmlTable("expectations", {"result", "expected", "is"}, rows, /*numbers=*/false);
}

std::string Timelines(const Simulation& simulation) {
  int64_t top = 1;
  for (const SimulatedRule& rule : simulation.rules) {
    for (const PerSecond* counts : {&rule.timeline.requests, &rule.timeline.attempts}) {
      top = std::max(top, *std::max_element(counts->begin(), counts->end()));
    }
  }
  std::string html;
  for (const SimulatedRule& rule : simulation.rules) {
    absl::StrAppend(&html, "<h3>", EscapeHtml(rule.name), "</h3>\n",
                    TimelineChart(simulation, rule, top));
  }
  return html;
}

std::string StabilityMaps(const StabilityMap& map) {
  std::string html = absl::StrCat("<p>", AxesWords(map), "</p>\n");
  for (const StabilityMap::Rule& rule : map.rules) {
    absl::StrAppend(&html, "<h3>", EscapeHtml(rule.name), "</h3>\n<p>", StabilityWords(map, rule),
                    "</p>\n", StabilityChart(map, rule));
  }
  return html;
}

std::string Layers(const Simulation& simulation) {
  std::vector<std::string> head = {"policy"};
  head.insert(head.end(), simulation.services.begin(), simulation.services.end());
  Rows rows;
  for (const SimulatedRule& rule : simulation.rules) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(rule.name);
    for (const double layer : rule.layers) row.push_back(TwoDigits(layer));
  }
  return HtmlTable("attempts per call at each service", head, rows, /*numbers=*/true);
}

}  // namespace

std::string SimulationHtml(const Simulation& simulation) {
  std::string body = absl::StrCat("<h1>levee simulate</h1>\n<p>", EscapeHtml(simulation.name), ": ",
                                  EscapeHtml(RunWords(simulation)), "</p>\n");
  body +=
      HtmlSection("Result", absl::StrCat("<p>", EscapeHtml(simulation.verdict), "</p>\n",
                                         HtmlTable("figures of each policy", SimulationHead(),
                                                   SimulationCells(simulation), /*numbers=*/true)));
  if (!simulation.shadows.empty()) {
    body += HtmlSection("Shadow policies",
                        HtmlTable("calls by what shadow policies decided", ShadowHead(),
                                  ShadowCells(simulation), /*numbers=*/false));
  }
  if (!simulation.expectations.empty()) {
    body += HtmlSection("Expectations", Expectations(simulation.expectations));
  }
  if (simulation.map.has_value()) {
    body += HtmlSection("Where it recovers", StabilityMaps(*simulation.map));
  }
  body += HtmlSection("Second by second", Timelines(simulation));
  body += HtmlSection("Calls that wait", QueueChart(simulation));
  body += HtmlSection("Attempts per call at each service", Layers(simulation));
  body += HtmlSection("Time to a good answer", LatencyChart(simulation));
  return HtmlFile("levee simulate", body);
}

}  // namespace levee
