// SPDX-License-Identifier: Apache-2.0
#include "insight/store_board.h"

#include <utility>

namespace levee {

void StoreBoard::Put(StoreView view) {
  const std::lock_guard lock(mutex_);
  std::string name = view.name;
  views_.insert_or_assign(std::move(name), std::move(view));
}

void StoreBoard::Remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  views_.erase(name);
}

std::vector<StoreView> StoreBoard::Read() const {
  const std::lock_guard lock(mutex_);
  std::vector<StoreView> views;
  for (const auto& [name, view] : views_) views.push_back(view);
  return views;
}

}  // namespace levee
