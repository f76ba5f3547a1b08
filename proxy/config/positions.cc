// SPDX-License-Identifier: Apache-2.0
#include "config/positions.h"

#include <iterator>

#include "absl/strings/str_cat.h"

namespace levee {
namespace {

// "a.b[2].c" -> "a.b[2]" -> "a.b" -> "a" -> "".
std::string Enclosing(const std::string& path) {
  const size_t end = path.find_last_of(".[");
  return end == std::string::npos ? "" : path.substr(0, end);
}

}  // namespace

bool IsWithin(const std::string& path, const std::string& top) {
  if (!path.starts_with(top)) return false;
  return path.size() == top.size() || path[top.size()] == '.' || path[top.size()] == '[';
}

bool Positions::Broken(const std::string& path) const {
  const auto entry = entries_.find(path);
  return entry != entries_.end() && entry->second.broken;
}

std::string Positions::ShorthandOf(const std::string& path) const {
  const auto shorthand = shorthands_.find(path);
  return shorthand == shorthands_.end() ? "" : shorthand->second;
}

std::string Positions::OriginOf(const std::string& path) const {
  const auto entry = entries_.find(path);
  if (entry == entries_.end()) {
    const std::string shorthand = ShorthandOf(path);
    return shorthand.empty() ? "default" : shorthand;
  }
  const Place& place = entry->second.place;
  return place.line == 0 ? place.file : absl::StrCat(place.file, ":", place.line);
}

Place Positions::Find(const std::string& path) const {
  for (std::string at = path;; at = Enclosing(at)) {
    const auto entry = entries_.find(at);
    if (entry != entries_.end()) {
      Place place = entry->second.place;
      std::string rest = path.substr(at.size());
      if (place.path.empty() && rest.starts_with('.')) rest.erase(0, 1);
      place.path += rest;
      return place;
    }
    if (at.empty()) return {"built-in default", 0, 0, path};
  }
}

void Positions::Erase(const std::string& path) {
  auto entry = entries_.lower_bound(path);
  while (entry != entries_.end() && entry->first.starts_with(path)) {
    entry = IsWithin(entry->first, path) ? entries_.erase(entry) : std::next(entry);
  }
}

void Positions::Adopt(const Positions& other, const std::string& from, const std::string& to) {
  for (auto entry = other.entries_.lower_bound(from);
       entry != other.entries_.end() && entry->first.starts_with(from); ++entry) {
    if (!IsWithin(entry->first, from)) continue;
    entries_[absl::StrCat(to, entry->first.substr(from.size()))] = entry->second;
  }
}

}  // namespace levee
