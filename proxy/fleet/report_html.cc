// SPDX-License-Identifier: Apache-2.0
#include "fleet/report_html.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "fleet/graph_picture.h"
#include "fleet/report_cells.h"
#include "lab/html_text.h"

namespace levee::fleet {
namespace {

std::string Edges(const Report& report) {
  std::vector<std::string> head = EdgeHead(report);
  head.insert(head.begin(), "from, to");
  std::vector<std::vector<std::string>> rows;
  for (const Edge& edge : report.graph.edges) {
    std::vector<std::string>& row = rows.emplace_back(EdgeCells(report, edge));
    row.insert(row.begin(), absl::StrCat(CallerOf(edge), ", ", edge.to));
  }
  return absl::StrCat(HtmlTable("calls between applications", head, rows, /*numbers=*/true), "<p>",
                      EscapeHtml(kLegend), "</p>\n");
}

}  // namespace

std::string ReportHtml(const Report& report) {
  std::string body = absl::StrCat("<h1>levee fleet</h1>\n<p>", EscapeHtml(ExtentWords(report)),
                                  "</p>\n", HtmlSection("Result", HtmlList(Judge(report))));
  if (!report.graph.edges.empty()) {
    body += HtmlSection("Call graph, attempts for each call", GraphPicture(report));
    body += HtmlSection("Calls between applications", Edges(report));
  }
  return HtmlFile("levee fleet", body);
}

}  // namespace levee::fleet
