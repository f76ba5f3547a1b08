// SPDX-License-Identifier: Apache-2.0
#include "config/known_parts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace levee {
namespace {

bool IsWholeConfig(const Fault& fault) {
  return fault.code == CheckCode::kUnknownField &&
         fault.path.find_first_of(".[") == std::string::npos;
}

}  // namespace

KnownParts::KnownParts(const Positions& positions, const FaultList& faults)
    : positions_(positions),
      faults_(faults.Sorted({})),
      vague_(faults.full() || std::any_of(faults_.begin(), faults_.end(), IsWholeConfig)) {}

bool KnownParts::Knows(const std::string& path) const {
  if (faults_.empty()) return true;
  const Place place = positions_.Find(path);
  return std::none_of(faults_.begin(), faults_.end(), [&place](const Fault& fault) {
    return fault.file == place.file &&
           (IsWithin(fault.path, place.path) || IsWithin(place.path, fault.path));
  });
}

bool KnownParts::KnowsAll(const std::string& path,
                          std::initializer_list<const char*> fields) const {
  return std::all_of(fields.begin(), fields.end(),
                     [&](const char* field) { return Knows(absl::StrCat(path, ".", field)); });
}

bool KnownParts::KnowsNames(const std::string& path) const {
  if (faults_.empty()) return true;
  const Place place = positions_.Find(path);
  return std::none_of(faults_.begin(), faults_.end(), [&place](const Fault& fault) {
    return fault.file == place.file && fault.code == CheckCode::kUnknownField &&
           IsWithin(fault.path, place.path);
  });
}

}  // namespace levee
