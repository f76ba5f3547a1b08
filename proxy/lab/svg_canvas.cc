// SPDX-License-Identifier: Apache-2.0
#include "lab/svg_canvas.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lab/html_text.h"

namespace levee {

SvgCanvas::SvgCanvas(const std::string& label, double height) {
  svg_ = absl::StrFormat("<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"%s\">\n", kWidth,
                         height, EscapeHtml(label));
}

void SvgCanvas::Text(double x, double y, const char* anchor, const std::string& text) {
  absl::StrAppendFormat(&svg_, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y,
                        anchor, EscapeHtml(text));
}

void SvgCanvas::Line(const char* kind, double x1, double y1, double x2, double y2) {
  absl::StrAppendFormat(&svg_,
                        "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                        kind, x1, y1, x2, y2);
}

void SvgCanvas::Rect(const char* kind, double x, double y, double width, double height) {
  absl::StrAppendFormat(
      &svg_, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", kind, x,
      y, width, height);
}

void SvgCanvas::Dot(const char* kind, double x, double y) {
  absl::StrAppendFormat(&svg_, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", kind, x,
                        y);
}

void SvgCanvas::Path(const char* kind, const std::vector<std::pair<double, double>>& points) {
  absl::StrAppend(&svg_, "<polyline class=\"", kind, "\" points=\"");
  for (const auto& [x, y] : points) absl::StrAppendFormat(&svg_, "%.1f,%.1f ", x, y);
  absl::StrAppend(&svg_, "\"/>\n");
}

}  // namespace levee
