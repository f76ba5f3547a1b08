// SPDX-License-Identifier: Apache-2.0
// Keeps objects that are no longer needed until the end of the loop's turn.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace levee {

// Base of the objects that can be buried.
class Mortal {
 public:
  virtual ~Mortal() = default;
};

// An object often learns in the middle of its own callback that it is done. Its owner gives it to
// the graveyard, which destroys it when no callback is on the stack any more. One thread.
class Graveyard {
 public:
  void Bury(std::unique_ptr<Mortal> object) { objects_.push_back(std::move(object)); }

  // Destroys every object, including those that are buried while this runs.
  void Clear() {
    while (!objects_.empty()) {
      objects_.swap(ending_);
      ending_.clear();
    }
    if (objects_.capacity() + ending_.capacity() > kKept) *this = Graveyard();
  }

 private:
  // How many places stay for later turns. Without any, every turn would allocate.
  static constexpr size_t kKept = 256;

  std::vector<std::unique_ptr<Mortal>> objects_;
  std::vector<std::unique_ptr<Mortal>> ending_;  // empty but while Clear destroys them
};

}  // namespace levee
