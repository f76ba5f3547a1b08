// SPDX-License-Identifier: Apache-2.0
// Walks along a path as the system does, part by part and through links.
#pragma once

#include <filesystem>
#include <vector>

namespace levee {

// Reads nothing itself: its owner knows which places are links. One thread.
class LinkWalk {
 public:
  // `file`: an absolute path.
  explicit LinkWalk(const std::filesystem::path& file) { PushParts(file); }

  // Goes on to the next place. False at the end.
  bool Step();

  // Where it is. No link is on the way there.
  const std::filesystem::path& place() const { return place_; }

  // Whether no part is left.
  bool last() const { return ahead_.empty(); }

  // The place is a link to `target`, along which it goes on. False if there were more links than
  // Linux follows; the walk is over then.
  bool Follow(const std::filesystem::path& target);

 private:
  void PushParts(const std::filesystem::path& path);

  std::filesystem::path place_;
  std::vector<std::filesystem::path> ahead_;  // the next part last
  int links_ = 0;
};

}  // namespace levee
