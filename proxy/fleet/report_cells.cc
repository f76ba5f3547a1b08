// SPDX-License-Identifier: Apache-2.0
#include "fleet/report_cells.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lab/words.h"

namespace levee::fleet {
namespace {

std::string CountWords(double count, const Report& report) {
  if (count <= 0) return "-";
  if (!report.seconds.has_value()) return absl::StrFormat("%.0f", count);
  return absl::StrFormat("%.1f", *report.seconds > 0 ? count / *report.seconds : 0);
}

class Tree {
 public:
  explicit Tree(const Graph& graph) : graph_(graph) {}

  // Adds the nodes that nobody calls, then those that only call each other in a circle.
  std::vector<Place> Build() {
    for (const Node& node : graph_.nodes) {
      const bool called = std::any_of(graph_.edges.begin(), graph_.edges.end(),
                                      [&](const Edge& edge) { return edge.to == node.name; });
      if (!called) AddRoot(node.name);
    }
    for (const Edge& edge : graph_.edges) {
      if (edge.outside) Add(0, edge);
    }
    for (const Edge& edge : graph_.edges) {
      if (!edge.outside && !shown_.contains(edge.from)) AddRoot(edge.from);
    }
    return places_;
  }

 private:
  void AddRoot(const std::string& name) {
    places_.push_back({.name = name});
    AddCalls(1, name);
  }

  void Add(int depth, const Edge& edge) {
    const bool again = shown_.contains(edge.to);
    places_.push_back({depth, edge.to, &edge, again});
    if (!again) AddCalls(depth + 1, edge.to);
  }

  void AddCalls(int depth, const std::string& name) {
    shown_.insert(name);
    for (const Edge& edge : graph_.edges) {
      if (!edge.outside && edge.from == name) Add(depth, edge);
    }
  }

  const Graph& graph_;
  std::set<std::string> shown_;  // nodes whose calls are shown
  std::vector<Place> places_;
};

}  // namespace

std::string ExtentWords(const Report& report) {
  std::string words =
      absl::StrCat(report.sidecars, report.sidecars == 1 ? " sidecar" : " sidecars");
  if (!report.unread.empty()) {
    words =
        absl::StrCat(report.sidecars, " of ", report.sidecars + report.unread.size(), " sidecars");
  }
  return absl::StrCat(
      words, ", ", report.seconds.has_value() ? SpanWords(*report.seconds) : "since their start");
}

std::vector<std::string> EdgeHead(const Report& report) {
  const char* unit = report.seconds.has_value() ? "/s" : "";
  return {"per call",
          absl::StrCat("calls", unit),
          absl::StrCat("sent", unit),
          "Levee",
          "hedges",
          "header",
          "loop",
          "above"};
}

std::vector<std::string> EdgeCells(const Report& report, const Edge& edge) {
  std::vector<std::string> cells = {TwoDigits(edge.figures.PerCall())};
  const Figures& figures = edge.figures;
  for (const double count : {figures.Asked(), figures.attempts, figures.retries, figures.hedges,
                             figures.app_header, figures.app_loop, figures.above}) {
    cells.push_back(CountWords(count, report));
  }
  return cells;
}

std::vector<Place> TreeOf(const Graph& graph) { return Tree(graph).Build(); }

}  // namespace levee::fleet
