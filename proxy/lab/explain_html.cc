// SPDX-License-Identifier: Apache-2.0
#include "lab/explain_html.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lab/delay_cells.h"
#include "lab/explain_charts.h"
#include "lab/html_text.h"
#include "lab/words.h"

namespace levee {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string Routes(const Explanation& explanation) {
  Rows rows;
  for (const ExplainedRoute& route : explanation.routes) {
    rows.push_back({route.path, route.from, route.serves,
                    route.because.empty() ? "matches" : absl::StrCat("no: ", route.because)});
  }
  return HtmlTable("routes", {"route", "from", "for", "the call's?"}, rows, /*numbers=*/false);
}

std::string PolicyValues(const std::vector<EffectiveValue>& values) {
  Rows rows;
  for (const EffectiveValue& value : values) rows.push_back({value.path, value.value, value.from});
  return HtmlTable("the effective policy", {"field", "value", "from"}, rows, /*numbers=*/false);
}

std::string Retries(const ExplainedRetries& retries) {
  const std::vector<DelayRow>& delays = retries.delays.rows;
  std::string html;
  if (!delays.empty()) {
    html = HtmlTable(retries.what, DelayHead(delays), DelayCells(delays), /*numbers=*/true);
    html += DelayChart(delays);
  }
  return HtmlSection(absl::StrCat("Delays of ", retries.what), html + HtmlList(retries.sentences));
}

std::string Outage(const std::vector<OutageLoad>& loads) {
  Rows rows;
  for (const OutageLoad& load : loads) {
    const auto calls = static_cast<double>(load.calls);
    rows.push_back({NumberWords(load.calls_per_second), NumberWords(load.allowed),
                    NumberWords(load.at_once), absl::StrCat(load.calls),
                    absl::StrCat(load.attempts),
                    absl::StrFormat("%.2f", static_cast<double>(load.attempts) / calls),
                    absl::StrFormat("%.2f", load.worst_second), absl::StrCat(load.unbounded)});
  }
  return HtmlTable("what an outage sends",
                   {"calls/s", "retries allowed", "at once", "calls", "attempts", "per call",
                    "worst second", "without budget"},
                   rows, /*numbers=*/true) +
         OutageChart(loads);
}

std::string Exhausted(const std::vector<ExhaustedRow>& exhausted) {
  Rows rows;
  for (const ExhaustedRow& row : exhausted) {
    rows.push_back({absl::StrJoin(row.why, ", "), row.answer});
  }
  return HtmlTable("what the caller gets", {"why no retry is made", "what the caller gets"}, rows,
                   /*numbers=*/false);
}

}  // namespace

std::string ExplanationHtml(const Explanation& explanation) {
  std::string body =
      absl::StrCat("<h1>levee explain</h1>\n<p>", EscapeHtml(explanation.call), "</p>\n");
  body += HtmlSection(
      "Route", absl::StrCat("<p>", EscapeHtml(explanation.Fate()), "</p>\n", Routes(explanation)));
  if (!explanation.values.empty())
    body += HtmlSection("Effective policy", PolicyValues(explanation.values));
  for (const ExplainedRetries& retries : explanation.retries) body += Retries(retries);
  if (!explanation.outage.empty()) {
    body += HtmlSection(absl::StrCat("An outage of ", kOutageSeconds, " s"),
                        Outage(explanation.outage));
  }
  for (const ExplainedSection& section : explanation.sections) {
    body += HtmlSection(section.title, HtmlList(section.sentences));
  }
  if (!explanation.exhausted.empty()) {
    body += HtmlSection("When no retry is made", Exhausted(explanation.exhausted));
  }
  return HtmlFile("levee explain", body);
}

}  // namespace levee
