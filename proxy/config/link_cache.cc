// SPDX-License-Identifier: Apache-2.0
#include "config/link_cache.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/link_walk.h"

namespace levee {

namespace fs = std::filesystem;

fs::path LinkCache::Follow(const fs::path& file) {
  LinkWalk walk(file);
  while (walk.Step()) {
    const fs::path* const target = TargetOf(walk.place());
    if (target != nullptr && !walk.Follow(*target)) return file;
  }
  return walk.place();
}

const fs::path* LinkCache::TargetOf(const fs::path& link) {
  if (const auto known = targets_.find(link); known != targets_.end()) return &known->second;
  std::error_code no_link;
  fs::path target = fs::read_symlink(link, no_link);
  if (no_link) return nullptr;
  return &targets_.emplace(link, std::move(target)).first->second;
}

bool LinkCache::Overtaken() const {
  return std::any_of(targets_.begin(), targets_.end(), [](const auto& followed) {
    std::error_code gone;
    return fs::read_symlink(followed.first, gone) != followed.second;
  });
}

}  // namespace levee
