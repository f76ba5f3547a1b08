// SPDX-License-Identifier: Apache-2.0
// A picture as SVG within HTML.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace levee {

// Its unit is a pixel of a narrow screen; on a wide one all grows alike. Kinds are classes of the
// style sheet (lab/html_text.cc).
class SvgCanvas {
 public:
  static constexpr double kWidth = 360;

  // `label`: text for readers who do not see it.
  SvgCanvas(const std::string& label, double height);

  void Text(double x, double y, const char* anchor, const std::string& text);
  void Line(const char* kind, double x1, double y1, double x2, double y2);
  void Rect(const char* kind, double x, double y, double width, double height);
  void Dot(const char* kind, double x, double y);
  void Path(const char* kind, const std::vector<std::pair<double, double>>& points);
  std::string End() const { return svg_ + "</svg>\n"; }

 private:
  std::string svg_;
};

}  // namespace levee
