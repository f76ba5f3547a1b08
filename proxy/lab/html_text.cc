// SPDX-License-Identifier: Apache-2.0
#include "lab/html_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace levee {
namespace {

// The colours are those of the page (proxy/admin/page/page.css), with contrasts of at least 4.5 for
// text and 3 for lines.
constexpr char kStyle[] = R"css(
:root {
  color-scheme: light dark;
  --ground: #f4f6f8; --surface: #ffffff; --line: #d5dbe1; --ink: #15202b; --muted: #55636f;
  --grid: #e6eaee; --calls: #0b62a8; --attempts: #c2500c; --limit: #66737f;
  --answers: #00786b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0d1218; --surface: #161d25; --line: #2c3742; --ink: #e7edf3; --muted: #9dabb8;
    --grid: #232d37; --calls: #58aef5; --attempts: #ff9a52; --limit: #97a5b2;
    --answers: #3fc7b6;
  }
}
* { box-sizing: border-box; }
html {
  background: var(--ground); color: var(--ink);
  font: 14px/1.45 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; -webkit-text-size-adjust: 100%;
}
body { margin: 0 auto; max-width: 60rem; padding: 0 1rem 1rem; }
h1 { font-size: 1.4rem; margin: 1rem 0 0.25rem; }
h2 { font-size: 1.1rem; margin: 0 0 0.5rem; }
h3 { font-size: 1rem; margin: 0.75rem 0 0; }
p { margin: 0 0 0.5rem; }
ul { margin: 0.5rem 0 0; padding-left: 1.2rem; }
code { font: 0.93em ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
section {
  background: var(--surface); border: 1px solid var(--line); border-radius: 6px;
  margin: 1rem 0; padding: 0.75rem 1rem;
}
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td {
  border-bottom: 1px solid var(--line); overflow-wrap: break-word; padding: 0.2rem 0.6rem 0.2rem 0;
  text-align: left;
}
th { color: var(--muted); font-weight: 600; }
.numbers th, .numbers td { text-align: right; white-space: nowrap; }
svg { display: block; margin: 0.75rem 0; max-width: 40rem; width: 100%; }
svg text { fill: var(--ink); font-size: 11px; }
svg .axis { fill: none; stroke: var(--limit); }
svg .grid { stroke: var(--grid); }
svg .bounds { stroke: var(--calls); stroke-width: 2; }
svg .median { fill: var(--calls); }
svg .p99, svg .without { fill: var(--attempts); }
svg .with { fill: var(--calls); }
svg polyline { fill: none; stroke-linejoin: round; stroke-width: 1.5; }
svg .requests { stroke: var(--calls); stroke-dasharray: 5 3; }
svg .attempts { stroke: var(--attempts); }
svg .answers { stroke: var(--answers); stroke-width: 2.5; }
svg .this { stroke: var(--answers); stroke-width: 2.5; }
svg .other { stroke: var(--limit); }
svg .trouble { fill: var(--limit); opacity: 0.2; }
svg .recovered { fill: var(--answers); opacity: 0.25; }
svg .slow { fill: var(--calls); opacity: 0.3; }
svg .stuck { fill: var(--attempts); opacity: 0.45; }
:focus-visible { outline: 2px solid var(--calls); outline-offset: 2px; }
)css";

std::string Cell(const std::string& kind, const std::string& text) {
  const std::string start = kind == "th" ? "th scope=\"col\"" : kind;
  return absl::StrCat("<", start, ">", EscapeHtml(text), "</", kind, ">");
}

}  // namespace

std::string EscapeHtml(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string HtmlFile(const std::string& title, const std::string& body) {
  return absl::StrCat(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>",
      EscapeHtml(title), "</title>\n<style>", kStyle, "</style>\n</head>\n<body>\n<main>\n", body,
      "</main>\n</body>\n</html>\n");
}

std::string HtmlSection(const std::string& title, const std::string& content) {
  return absl::StrCat("<section>\n<h2>", EscapeHtml(title), "</h2>\n", content, "</section>\n");
}

std::string HtmlTable(const std::string& label, const std::vector<std::string>& head,
                      const std::vector<std::vector<std::string>>& rows, bool numbers) {
  std::string html = absl::StrCat(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", EscapeHtml(label),
      "\">\n<table", numbers ? " class=\"numbers\"" : "", "><thead><tr>");
  for (const std::string& each : head) html += Cell("th", each);
  absl::StrAppend(&html, "</tr></thead>\n<tbody>\n");
  for (const std::vector<std::string>& row : rows) {
    absl::StrAppend(&html, "<tr>");
    for (const std::string& each : row) html += Cell("td", each);
    absl::StrAppend(&html, "</tr>\n");
  }
  return absl::StrCat(html, "</tbody></table>\n</div>\n");
}

std::string HtmlList(const std::vector<std::string>& sentences) {
  if (sentences.empty()) return "";
  std::string html = "<ul>\n";
  for (const std::string& each : sentences) absl::StrAppend(&html, Cell("li", each), "\n");
  return absl::StrCat(html, "</ul>\n");
}

}  // namespace levee
