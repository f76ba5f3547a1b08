// SPDX-License-Identifier: Apache-2.0
// Says where each value of a configuration was given: a table beside the message.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "config/fault.h"

namespace levee {

// Whether `path` is `top` or lies below it.
bool IsWithin(const std::string& path, const std::string& top);

// Maps field paths ("policies[0].retry") to places. A path that has a place was given by the user.
// A list cannot say that itself: `codes: []` and no `codes` are the same in the message. A source
// other than files fills the same table.
class Positions {
 public:
  void Set(const std::string& path, Place place) { entries_[path].place = std::move(place); }

  // The value at `path` was reported as faulty; no more faults are reported about it. `path` must
  // have a place.
  void MarkBroken(const std::string& path) { entries_[path].broken = true; }

  // The value at `path` was not given itself: `shorthand`, as "preset grpc", stands for it.
  void SetShorthand(const std::string& path, std::string shorthand) {
    shorthands_[path] = std::move(shorthand);
  }

  bool Has(const std::string& path) const { return entries_.contains(path); }

  // The value at `path` has a field of a name that is unknown, which was reported.
  void MarkUnknownField(const std::string& path) { with_unknown_fields_.insert(path); }
  bool HasUnknownField(const std::string& path) const {
    return with_unknown_fields_.contains(path);
  }

  // Returns the shorthand that stands for the value at `path`; empty if there is none.
  std::string ShorthandOf(const std::string& path) const;

  // Returns where the value at `path` comes from: "levee.yaml:3", "--to", "preset grpc" or
  // "default".
  std::string OriginOf(const std::string& path) const;

  bool Broken(const std::string& path) const;

  // Returns the place of `path`, or of the nearest enclosing value that was given; the place's own
  // path always names `path`. If there is none, returns the built-in default.
  Place Find(const std::string& path) const;

  // Forgets `path` and everything below.
  void Erase(const std::string& path);

  // Copies the entries of `other` at and below `from` to `to`. The places keep the paths of their
  // file.
  void Adopt(const Positions& other, const std::string& from, const std::string& to);

 private:
  struct Entry {
    Place place;
    bool broken = false;
  };

  std::map<std::string, Entry> entries_;
  std::set<std::string> with_unknown_fields_;
  std::map<std::string, std::string> shorthands_;  // by the paths of the values they stand for
};

}  // namespace levee
