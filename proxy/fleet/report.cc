// SPDX-License-Identifier: Apache-2.0
#include "fleet/report.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "lab/words.h"

namespace levee::fleet {
namespace {

// Fewer retries are no finding, whatever their share is.
constexpr double kMany = 10;

// A layer within the default budget adds no more than this to another one.
constexpr double kCompound = 1.1;

// From this on, a share of the calls is worth a sentence.
constexpr double kMuch = 0.2;

// "all" or "98%" of the retries.
std::string ShareWords(double part, double whole) {
  return part >= 0.995 * whole ? "all" : PercentWords(part / whole);
}

// Says whose most of the edge's retries are.
std::string Whose(const Edge& edge) {
  const Figures& figures = edge.figures;
  const std::string share_of = " of the retries are ";
  if (edge.outside) {
    return absl::StrCat(ShareWords(figures.app_header, figures.More()), share_of,
                        "those of callers outside this fleet");
  }
  const std::string own = absl::StrCat("those of the application ", edge.from, " itself, ");
  const std::array<std::pair<double, std::string>, 4> causes = {{
      {figures.retries, absl::StrCat("Levee's own, by the policy for ", edge.upstream,
                                     " in the sidecar of ", edge.from)},
      {figures.hedges, absl::StrCat("Levee's hedges, by the policy for ", edge.upstream,
                                    " in the sidecar of ", edge.from)},
      {figures.app_header, own + "which says so (grpc-previous-rpc-attempts)"},
      {figures.app_loop, own + "in a loop"},
  }};
  const auto most =
      std::max_element(causes.begin(), causes.end(),
                       [](const auto& one, const auto& other) { return one.first < other.first; });
  return absl::StrCat(ShareWords(most->first, figures.More()), share_of, most->second);
}

std::string Headline(const Edge& edge) {
  return absl::StrCat(
      edge.outside ? "Callers of " + edge.to + " multiply" : edge.from + " multiplies",
      " the load: ", edge.to, " gets ", TwoDigits(edge.figures.PerCall()),
      " attempts for each call, and ", Whose(edge), ".");
}

std::string TimeWords(const Report& report) {
  if (!report.seconds.has_value()) return "since their start";
  return absl::StrCat("in ", SpanWords(*report.seconds));
}

// Says that no layer multiplies.
std::string Calm(const Report& report) {
  const std::vector<Edge>& edges = report.graph.edges;
  const auto worst = std::max_element(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.figures.PerCall() < b.figures.PerCall();
  });
  if (report.sidecars == 0) return "No sidecar was read.";
  if (worst == edges.end()) {
    return absl::StrCat("No call went through the sidecars ", TimeWords(report), ".");
  }
  return absl::StrCat("No layer multiplies the load: there are at most ",
                      TwoDigits(worst->figures.PerCall()), " attempts for each call, from ",
                      CallerOf(*worst), " to ", worst->to, ".");
}

bool WayMultiplies(const Report& report, const Way& way) {
  const bool many = std::all_of(way.begin(), way.end(), [](const Edge* edge) {
    return edge->figures.PerCall() <= 1 || edge->figures.attempts >= kMany;
  });
  return way.size() > 1 && many && Product(way) > report.bound;
}

// Whether a way comes to clearly more than its worst edge alone.
bool Compounds(const Way& way) {
  double most = 1;
  for (const Edge* edge : way) most = std::max(most, edge->figures.PerCall());
  return Product(way) > kCompound * most;
}

std::string Together(const Way& way) {
  std::vector<std::string> parts;
  for (const Edge* edge : way) {
    parts.push_back(absl::StrCat(TwoDigits(edge->figures.PerCall()), " from ", CallerOf(*edge),
                                 " to ", edge->to));
  }
  return absl::StrCat("Together the layers make up to ", TwoDigits(Product(way)), " attempts at ",
                      way.back()->to, " of one call: ", ListWords(parts), ".");
}

void AddRefused(const Edge& edge, std::vector<std::string>& sentences) {
  const Figures& figures = edge.figures;
  if (figures.app_refused < kMany || figures.app_refused < kMuch * figures.Asked()) return;
  const double all = figures.app_refused + figures.app_header + figures.app_loop;
  sentences.push_back(absl::StrCat("The application ", edge.from, " retries its calls to ", edge.to,
                                   " itself, and Levee refuses ",
                                   ShareWords(figures.app_refused, all), " of these retries."));
}

void AddAbove(const Edge& edge, std::vector<std::string>& sentences) {
  const Figures& figures = edge.figures;
  if (figures.above < kMany || figures.above < kMuch * figures.Asked()) return;
  sentences.push_back(absl::StrCat(PercentWords(figures.above / figures.Asked()),
                                   " of the calls of ", edge.from, " to ", edge.to,
                                   " are there because callers of ", edge.from, " retry."));
}

}  // namespace

bool Report::Multiplies(const Edge& edge) const {
  return edge.figures.PerCall() > bound && edge.figures.More() >= kMany;
}

bool Report::ok() const {
  return unread.empty() && sidecars > 0 && !WayMultiplies(*this, LargestWay(graph)) &&
         std::none_of(graph.edges.begin(), graph.edges.end(),
                      [this](const Edge& edge) { return Multiplies(edge); });
}

std::vector<std::string> Judge(const Report& report) {
  std::vector<const Edge*> edges;
  for (const Edge& edge : report.graph.edges) {
    if (report.Multiplies(edge)) edges.push_back(&edge);
  }
  std::sort(edges.begin(), edges.end(), [](const Edge* one, const Edge* other) {
    return one->figures.PerCall() > other->figures.PerCall();
  });
  std::vector<std::string> sentences;
  for (const Edge* edge : edges) sentences.push_back(Headline(*edge));
  const Way way = LargestWay(report.graph);
  const bool together = WayMultiplies(report, way) && (edges.empty() || Compounds(way));
  if (edges.empty() && !together) sentences.push_back(Calm(report));
  if (together) sentences.push_back(Together(way));
  for (const Edge& edge : report.graph.edges) AddAbove(edge, sentences);
  for (const Edge& edge : report.graph.edges) AddRefused(edge, sentences);
  for (const Unread& each : report.unread) {
    const bool named = each.application != each.address;
    sentences.push_back(absl::StrCat(named ? each.application + " at " : "", each.address,
                                     " was not read: ", each.reason, "."));
  }
  return sentences;
}

std::string SpanWords(double seconds) {
  constexpr absl::Duration kTenth = absl::Milliseconds(100);
  return DurationWords(absl::Floor(absl::Seconds(seconds) + kTenth / 2, kTenth));
}

std::string CallerOf(const Edge& edge) { return edge.outside ? "callers outside" : edge.from; }

}  // namespace levee::fleet
