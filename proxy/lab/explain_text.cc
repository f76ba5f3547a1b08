// SPDX-License-Identifier: Apache-2.0
#include "lab/explain_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lab/delay_cells.h"
#include "lab/text_layout.h"
#include "lab/words.h"

namespace levee {
namespace {

constexpr int kPlotCells = 48;

// One delay between its bounds on a scale up to `end`: its median and its p99.
std::string Bar(const DelayRow& row, absl::Duration end) {
  const auto cell = [end](absl::Duration at) {
    return static_cast<size_t>(std::lround(absl::FDivDuration(at, end) * (kPlotCells - 1)));
  };
  std::string bar(kPlotCells, ' ');
  const size_t from = cell(row.min);
  std::fill(bar.begin() + static_cast<long>(from),
            bar.begin() + static_cast<long>(cell(row.max)) + 1, '-');
  bar[cell(row.p99)] = '|';
  bar[cell(row.p50)] = 'o';
  bar.erase(bar.find_last_not_of(' ') + 1);
  return bar;
}

void AppendPlot(const std::vector<DelayRow>& delays, std::string& text) {
  absl::Duration end;
  for (const DelayRow& row : delays) end = std::max(end, row.max);
  if (end == absl::ZeroDuration()) return;
  const std::string label = DurationWords(end);
  absl::StrAppend(&text, "\n", std::string(6, ' '), "0",
                  std::string(kPlotCells - 1 - std::min<size_t>(label.size(), 20), ' '), label,
                  "   - bounds, o p50, | p99\n");
  for (const DelayRow& row : delays) {
    absl::StrAppend(&text, absl::StrFormat("%5d ", row.n), Bar(row, end), "\n");
  }
}

void AppendRoutes(const Explanation& explanation, std::string& text) {
  absl::StrAppend(&text, "call: ", explanation.call, "\n\nroutes\n");
  for (const ExplainedRoute& route : explanation.routes) {
    absl::StrAppend(&text, "  ", route.path, " (", route.from, ") for ", route.serves, "\n    ",
                    route.because.empty() ? "matches" : absl::StrCat("no: ", route.because), "\n");
  }
  absl::StrAppend(&text, explanation.Fate(), "\n");
}

void AppendValues(const std::vector<EffectiveValue>& values, std::string& text) {
  std::vector<std::vector<std::string>> rows;
  for (const EffectiveValue& value : values) rows.push_back({value.path, value.value, value.from});
  AppendTable(rows, /*numbers=*/false, text);
}

void AppendExhausted(const std::vector<ExhaustedRow>& rows, std::string& text) {
  if (rows.empty()) return;
  absl::StrAppend(&text, "\nwhat the caller gets when a retry is not made\n");
  for (const ExhaustedRow& row : rows) {
    AppendSentences({absl::StrCat(absl::StrJoin(row.why, ", "), ": ", row.answer)}, kTextColumns,
                    text);
  }
}

}  // namespace

std::string ExplanationText(const Explanation& explanation) {
  std::string text;
  AppendRoutes(explanation, text);
  if (!explanation.planned()) return text;
  absl::StrAppend(&text, "\nthe effective policy, and where its values come from\n");
  AppendValues(explanation.values, text);
  for (const ExplainedRetries& retries : explanation.retries) {
    absl::StrAppend(&text, "\ndelays of ", retries.what, "\n");
    if (!retries.delays.rows.empty()) {
      auto rows = DelayCells(retries.delays.rows);
      rows.insert(rows.begin(), DelayHead(retries.delays.rows));
      AppendTable(rows, /*numbers=*/true, text);
      AppendPlot(retries.delays.rows, text);
      absl::StrAppend(&text, "\n");
    }
    AppendSentences(retries.sentences, kTextColumns, text);
  }
  for (const ExplainedSection& section : explanation.sections) {
    absl::StrAppend(&text, "\n", section.title, "\n");
    AppendSentences(section.sentences, kTextColumns, text);
  }
  AppendExhausted(explanation.exhausted, text);
  return text;
}

}  // namespace levee
