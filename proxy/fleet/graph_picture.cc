// SPDX-License-Identifier: Apache-2.0
#include "fleet/graph_picture.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fleet/report_cells.h"
#include "lab/svg_canvas.h"
#include "lab/words.h"

namespace levee::fleet {
namespace {

// As the canvas has it.
constexpr double kTop = 16;  // below the label of the bound
constexpr double kRow = 20;
constexpr double kBar = 12;
constexpr double kIndent = 12;
constexpr double kBarsLeft = 206, kBarsRight = 314;
constexpr double kCharacter = 6.4;  // as wide as most
constexpr size_t kShortestName = 6;

class Picture {
 public:
  Picture(const Report& report, std::vector<Place> places)
      : report_(report),
        places_(std::move(places)),
        canvas_("call graph, with the attempts for each call",
                kTop + kRow * static_cast<double>(places_.size()) + 2) {
    for (const Edge& edge : report.graph.edges) most_ = std::max(most_, edge.figures.PerCall());
    most_ = std::max(most_, report.bound);
  }

  std::string Draw() {
    const double bound = X(report_.bound);
    canvas_.Line("axis", kBarsLeft, kTop, kBarsLeft, Bottom());
    canvas_.Line("requests", bound, kTop, bound, Bottom());
    canvas_.Text(bound, kTop - 4, "middle", TwoDigits(report_.bound));
    for (size_t row = 0; row < places_.size(); ++row) DrawRow(row);
    return canvas_.End();
  }

 private:
  double X(double per_call) const {
    return kBarsLeft + (kBarsRight - kBarsLeft) * per_call / most_;
  }
  double Bottom() const { return kTop + kRow * static_cast<double>(places_.size()); }
  static double Middle(size_t row) { return kTop + kRow * (static_cast<double>(row) + 0.5); }
  static double Left(const Place& place) { return 2 + kIndent * place.depth; }

  void DrawRow(size_t row) {
    const Place& place = places_[row];
    if (place.depth > 0) DrawBranch(row);
    const bool outside = place.edge != nullptr && place.edge->outside;
    DrawName(Left(place), Middle(row),
             absl::StrCat(place.name, outside       ? " (from outside)"
                                      : place.again ? " (above)"
                                                    : ""));
    if (place.edge == nullptr) return;
    const double end = X(place.edge->figures.PerCall());
    canvas_.Rect(report_.Multiplies(*place.edge) ? "stuck" : "slow", kBarsLeft,
                 Middle(row) - kBar / 2, end - kBarsLeft, kBar);
    canvas_.Text(SvgCanvas::kWidth - 2, Middle(row) + 4, "end",
                 TwoDigits(place.edge->figures.PerCall()));
  }

  // Draws the line from the caller, which is the last one above that stands further left.
  void DrawBranch(size_t row) {
    size_t caller = row;
    while (places_[caller].depth >= places_[row].depth) --caller;
    const double x = Left(places_[row]) - kIndent + 4;
    canvas_.Path("other",
                 {{x, Middle(caller) + 6}, {x, Middle(row)}, {x + kIndent - 6, Middle(row)}});
  }

  void DrawName(double x, double y, const std::string& name) {
    const double room = (kBarsLeft - 4 - x) / kCharacter;
    const size_t most = room < kShortestName ? kShortestName : static_cast<size_t>(room);
    canvas_.Text(x, y + 4, "start", name.size() <= most ? name : name.substr(0, most - 2) + "..");
  }

  const Report& report_;
  const std::vector<Place> places_;
  SvgCanvas canvas_;
  double most_ = 1;
};

}  // namespace

std::string GraphPicture(const Report& report) {
  return Picture(report, TreeOf(report.graph)).Draw();
}

}  // namespace levee::fleet
