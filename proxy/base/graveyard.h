// SPDX-License-Identifier: Apache-2.0
// Keeps objects that are no longer needed until the end of the loop's turn.
#pragma once

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
      std::vector<std::unique_ptr<Mortal>> objects;
      objects.swap(objects_);
    }
  }

 private:
  std::vector<std::unique_ptr<Mortal>> objects_;
};

}  // namespace levee
