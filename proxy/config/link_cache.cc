// SPDX-License-Identifier: Apache-2.0
#include "config/link_cache.h"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

namespace levee {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // As Linux follows.

// The first part becomes the last one.
void PushParts(const fs::path& path, std::vector<fs::path>& ahead) {
  std::copy(std::make_reverse_iterator(path.end()), std::make_reverse_iterator(path.begin()),
            std::back_inserter(ahead));
}

}  // namespace

fs::path LinkCache::Follow(const fs::path& file) {
  std::vector<fs::path> ahead;
  PushParts(file, ahead);
  fs::path at;
  for (int links = 0; !ahead.empty();) {
    const fs::path next = at / ahead.back();
    ahead.pop_back();
    const fs::path* const target = TargetOf(next);
    if (target == nullptr) {
      at = next;
      continue;
    }
    if (++links > kMaxLinks) return file;
    PushParts(*target, ahead);
  }
  return at;
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
