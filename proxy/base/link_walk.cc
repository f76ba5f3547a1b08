// SPDX-License-Identifier: Apache-2.0
#include "base/link_walk.h"

#include <algorithm>
#include <iterator>

namespace levee {
namespace {

constexpr int kMaxLinks = 40;

}  // namespace

bool LinkWalk::Step() {
  if (ahead_.empty()) return false;
  place_ /= ahead_.back();
  ahead_.pop_back();
  return true;
}

bool LinkWalk::Follow(const std::filesystem::path& target) {
  if (++links_ > kMaxLinks) return false;
  place_ = place_.parent_path();
  PushParts(target);
  return true;
}

void LinkWalk::PushParts(const std::filesystem::path& path) {
  std::copy(std::make_reverse_iterator(path.end()), std::make_reverse_iterator(path.begin()),
            std::back_inserter(ahead_));
}

}  // namespace levee
