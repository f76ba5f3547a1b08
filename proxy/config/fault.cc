// SPDX-License-Identifier: Apache-2.0
#include "config/fault.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace levee {

std::string FormatPlace(const Place& place) {
  std::string text = place.file;
  if (place.line > 0) absl::StrAppend(&text, ":", place.line, ":", place.column);
  if (!place.path.empty()) absl::StrAppend(&text, ": ", place.path);
  return text;
}

std::string Quoted(const std::string& text) {
  constexpr size_t kMaxShown = 80;
  if (text.size() <= kMaxShown) return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\"");
  size_t end = kMaxShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // whole letters
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text.substr(0, end)), "...\"");
}

std::string FormatFault(const Fault& fault) {
  std::string text = FormatPlace({fault.file, fault.line, fault.column, ""});
  if (!text.empty()) text += ": ";
  if (fault.code != CheckCode::kNone) absl::StrAppend(&text, CheckCodeText(fault.code), " ");
  if (!fault.path.empty()) absl::StrAppend(&text, fault.path, ": ");
  if (IsWarning(fault.code)) text += "warning: ";
  return text + fault.text;
}

void FaultList::Add(const Place& place, CheckCode code, std::string text) {
  if (full()) {
    ++dropped_;
    return;
  }
  faults_.push_back({place.file, place.line, place.column, place.path, code, std::move(text)});
}

void FaultList::Add(const FaultList& others) {
  for (const Fault& fault : others.faults_) {
    Add({fault.file, fault.line, fault.column, fault.path}, fault.code, fault.text);
  }
  dropped_ += others.dropped_;
}

std::vector<Fault> FaultList::Sorted(const std::vector<std::string>& files) const {
  const auto order = [&files](const Fault& fault) {
    return std::tuple(std::find(files.begin(), files.end(), fault.file), fault.line, fault.column);
  };
  std::vector<Fault> sorted = faults_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&order](const Fault& a, const Fault& b) { return order(a) < order(b); });
  if (dropped_ > 0)
    sorted.push_back({"", 0, 0, "", beyond_, absl::StrCat("and ", dropped_, " more")});
  return sorted;
}

std::string FormatFaults(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", FormatFault(fault));
  }
  return text;
}

}  // namespace levee
