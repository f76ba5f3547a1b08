// SPDX-License-Identifier: Apache-2.0
#include "lab/replay_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "config/json_emitter.h"
#include "config/json_layout.h"
#include "lab/html_text.h"
#include "lab/json_writer.h"
#include "lab/stand_ins.h"
#include "lab/text_layout.h"
#include "lab/words.h"

namespace levee {
namespace {

// Returns "1 call" or "812 calls".
std::string CallCountWords(int64_t count) {
  return absl::StrCat(count, count == 1 ? " call" : " calls");
}

// Returns "812 more calls" or "3 fewer calls".
std::string Difference(int64_t now, int64_t before) {
  if (now == before) return "as many calls";
  const int64_t count = now > before ? now - before : before - now;
  return absl::StrCat(count, now > before ? " more " : " fewer ", count == 1 ? "call" : "calls");
}

std::string MillisecondWords(std::optional<double> seconds) {
  return seconds.has_value() ? absl::StrFormat("%.3gms", *seconds * 1e3) : "-";
}

std::vector<std::string> Sentences(const ReplayFigures& recorded, const ReplayedPolicy& policy) {
  const ReplayFigures& figures = policy.figures;
  std::vector<std::string> sentences;
  sentences.push_back(
      absl::StrCat(policy.name, " would have made ", TwoDigits(figures.amplification()),
                   " attempts per call instead of ", TwoDigits(recorded.amplification()), ", and ",
                   Difference(figures.good, recorded.good), " would have succeeded"));
  sentences.push_back(absl::StrCat(
      PercentWords(policy.drawn_share),
      " of its attempts are not in the log: they are drawn from what the same endpoint answered at "
      "that time"));
  sentences.push_back(absl::StrCat(PercentWords(policy.same_share),
                                   " of the calls end with as many attempts and the same code"));
  return sentences;
}

// The table has no room for folders.
std::string FileOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> PolicyRow(const std::string& name, const ReplayFigures& figures) {
  return {name,
          TwoDigits(figures.amplification()),
          TwoDigits(figures.worst_second),
          absl::StrFormat("%.4g%%", 100 * figures.success()),
          absl::StrCat(figures.rescued),
          absl::StrCat(figures.unsent),
          MillisecondWords(figures.p50_s),
          MillisecondWords(figures.p99_s)};
}

const std::vector<std::string>& Head() {
  static const std::vector<std::string> head = {"policy",  "per call", "worst", "success",
                                                "rescued", "unsent",   "p50",   "p99"};
  return head;
}

std::vector<std::vector<std::string>> PolicyRows(const Replay& replay) {
  std::vector<std::vector<std::string>> rows = {PolicyRow("as recorded", replay.recorded)};
  for (const ReplayedPolicy& policy : replay.replayed) {
    rows.push_back(PolicyRow(FileOf(policy.name), policy.figures));
  }
  return rows;
}

std::vector<std::string> AllSentences(const Replay& replay) {
  std::vector<std::string> all;
  if (replay.sample < 1) {
    all.push_back(absl::StrCat("The log has ", PercentWords(replay.sample),
                               " of the calls: each stands for those that it leaves out, within ",
                               DurationWords(kStandInReach), " of its time"));
  }
  for (const ReplayedPolicy& policy : replay.replayed) {
    for (std::string& each : Sentences(replay.recorded, policy)) all.push_back(std::move(each));
  }
  return all;
}

void WriteFigures(const ReplayFigures& figures, JsonWriter& json) {
  const auto ms = [](std::optional<double> seconds) {
    return seconds.has_value() ? std::optional(*seconds * 1e3) : std::nullopt;
  };
  json.Number("calls", static_cast<double>(figures.calls));
  json.Number("attempts", static_cast<double>(figures.attempts));
  json.Number("amplification", figures.amplification());
  json.Number("worst_second", figures.worst_second);
  json.Number("success", figures.success());
  json.Number("rescued", static_cast<double>(figures.rescued));
  json.Number("unsent", static_cast<double>(figures.unsent));
  json.Number("p50_ms", ms(figures.p50_s));
  json.Number("p99_ms", ms(figures.p99_s));
}

}  // namespace

std::string ReplayText(const Replay& replay) {
  std::string text = absl::StrCat("levee replay: ", CallCountWords(replay.recorded.calls), "\n");
  AppendSentences(AllSentences(replay), kTextColumns, text);
  absl::StrAppend(&text, "\n");
  std::vector<std::vector<std::string>> rows = PolicyRows(replay);
  rows.insert(rows.begin(), Head());
  size_t width = 0;  // of the names, which stand on the left
  for (const auto& row : rows) width = std::max(width, row.front().size());
  for (auto& row : rows) row.front().resize(width, ' ');
  AppendTable(rows, /*numbers=*/true, text);
  return text;
}

std::string ReplayJson(const Replay& replay) {
  JsonEmitter emitter;
  JsonWriter json(emitter.out());
  json.Begin();
  json.Key("recorded");
  json.Begin();
  WriteFigures(replay.recorded, json);
  json.End();
  json.Number("sample", replay.sample);
  json.List("replayed", replay.replayed, [&json](const ReplayedPolicy& policy) {
    json.Begin();
    json.Text("name", policy.name);
    WriteFigures(policy.figures, json);
    json.Number("drawn_share", policy.drawn_share);
    json.Number("same_share", policy.same_share);
    json.End();
  });
  json.End();
  return LayOutJson(emitter.text());
}

std::string ReplayHtml(const Replay& replay) {
  const std::string table =
      HtmlTable("figures of each policy", Head(), PolicyRows(replay), /*numbers=*/true);
  return HtmlFile(
      "levee replay",
      absl::StrCat("<h1>levee replay</h1>\n<p>", CallCountWords(replay.recorded.calls), "</p>\n",
                   HtmlSection("Result", HtmlList(AllSentences(replay)) + table)));
}

}  // namespace levee
