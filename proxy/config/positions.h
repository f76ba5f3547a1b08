// Where each value of a configuration was given: the side table that travels with the message.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "config/fault.h"

namespace levee {

// Maps field paths ("policies[0].retry") to places. A path that has a place was given by the user,
// which a list cannot say itself: `codes: []` and no `codes` are the same in the message.
// A source other than files fills the same table.
class Positions {
 public:
  void Set(const std::string& path, Place place) { entries_[path].place = std::move(place); }

  // The value at `path` was reported as faulty; nothing more is to be said about it. Only for
  // paths that were Set.
  void MarkBroken(const std::string& path) { entries_[path].broken = true; }

  bool Has(const std::string& path) const { return entries_.contains(path); }
  bool Broken(const std::string& path) const;

  // Whether that was said of `path` or of anything below.
  bool BrokenWithin(const std::string& path) const;

  // The place of `path`, or of the nearest enclosing value that was given; the place's own path
  // always names `path`. Without any: the built-in default.
  Place Find(const std::string& path) const;

  // Forgets `path` and everything below.
  void Erase(const std::string& path);

  // Takes over what `other` knows of `from` and below, as `to` and below. The places keep the paths
  // of their file.
  void Adopt(const Positions& other, const std::string& from, const std::string& to);

 private:
  struct Entry {
    Place place;
    bool broken = false;
  };

  std::map<std::string, Entry> entries_;
};

}  // namespace levee
