// Where objects wait for the end of the turn in which they became useless.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace levee {

// What can be buried.
class Mortal {
 public:
  virtual ~Mortal() = default;
};

// An object often learns in the middle of its own callback that it is done. Its owner gives it
// here, and it is destroyed when no callback is on the stack any more. One thread.
class Graveyard {
 public:
  void Bury(std::unique_ptr<Mortal> object) { objects_.push_back(std::move(object)); }

  // Destroys everything, also what is buried meanwhile.
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
