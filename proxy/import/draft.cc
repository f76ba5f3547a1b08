// SPDX-License-Identifier: Apache-2.0
#include "import/draft.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "import/yaml_writer.h"

namespace levee::importer {

void AddNote(std::string note, Notes& notes) {
  if (!note.empty()) notes.push_back(std::move(note));
}

std::string Names::Next(const std::string& like) {
  constexpr size_t kLongest = 55;  // of 63, which leaves room for a number
  std::string name = like.size() <= kLongest ? like : like.substr(like.size() - kLongest);
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return !absl::ascii_isalnum(c) && c != '-' && c != '_' && c != '.'; },
      '-');
  if (name.empty()) name = "unnamed";
  std::string unique = name;
  for (int i = 2; !used_.insert(unique).second; ++i) unique = absl::StrCat(name, "-", i);
  return unique;
}

void SetWindow(std::string_view name, absl::Duration wanted, Field<BudgetDraft>& field) {
  field.value->window = std::clamp(wanted, absl::Milliseconds(100), absl::Hours(1));
  if (field.value->window == wanted) return;
  field.notes.push_back(absl::StrCat(std::string(name), " is ", YamlDuration(wanted),
                                     "; a window is 100ms to 1h long."));
}

absl::Duration Bounded(absl::Duration duration, Notes& notes) {
  constexpr absl::Duration kLongest = absl::Hours(8760);
  if (duration <= kLongest) return duration;
  notes.push_back(absl::StrCat(absl::FormatDuration(duration),
                               " is longer than a year, the longest that Levee takes."));
  return kLongest;
}

void SetDuration(absl::Duration duration, Field<absl::Duration>& field) {
  field.value = Bounded(duration, field.notes);
}

bool Retries(const PolicyRules& rules) {
  return rules.retry.max_attempts.value.value_or(1) > 1 || rules.hedge.value.has_value();
}

PolicyRules OnceRules() {
  PolicyRules rules;
  rules.retry.max_attempts.value = 1;
  return rules;
}

std::string TitleOf(const std::string& what, const std::string& file) {
  return absl::StrCat("Levee's equivalent of the ", what, file == "-" ? "" : " in ",
                      file == "-" ? "" : file, ".");
}

void NoteRetrying(const std::string& tool, Notes& notes) {
  notes.push_back(absl::StrCat("commit: headers is what ", tool,
                               " does: response headers end retrying. Without it a failure that "
                               "follows them at once is retried as well."));
  NoteExhausted(tool, notes);
}

void NoteExhausted(const std::string& tool, Notes& notes) {
  notes.push_back(absl::StrCat(
      "When retrying ends without success, ", tool,
      " passes the last status on as it is. exhausted: keep does the same. Levee by default "
      "adds the overload signal for the layers above, and once the budget is used up the "
      "status is RESOURCE_EXHAUSTED."));
}

UpstreamDraft AnywhereUpstream() {
  UpstreamDraft anywhere;
  anywhere.name = "anywhere";
  anywhere.endpoints.value = {"authority:"};
  return anywhere;
}

}  // namespace levee::importer

namespace levee {

std::string RouteCounts::Format() const {
  return absl::StrCat("routes: ", exact, " exact, ", narrowed, " narrowed, ", guarded, " guarded, ",
                      refused, " refused");
}

}  // namespace levee
