// SPDX-License-Identifier: Apache-2.0
#include "telemetry/method_labels.h"

#include <algorithm>

namespace levee {
namespace {

constexpr size_t kMaxLabelBytes = 256;

std::string_view WithoutSlash(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

bool CanBeLabel(std::string_view method) {
  return !method.empty() && method.size() <= kMaxLabelBytes &&
         std::all_of(method.begin(), method.end(), [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

void MethodLabels::Configure(const std::vector<std::string>& methods, int limit) {
  {
    const std::lock_guard lock(mutex_);
    limit_ = static_cast<size_t>(std::max(limit, 0));
  }
  for (const std::string& method : methods) FindOrAdd(method);
}

std::string MethodLabels::Find(std::string_view path) const {
  const std::string_view method = WithoutSlash(path);
  const std::lock_guard lock(mutex_);
  return std::string(labels_.contains(method) ? method : kOtherMethod);
}

std::string MethodLabels::FindOrAdd(std::string_view path) {
  const std::string_view method = WithoutSlash(path);
  const std::lock_guard lock(mutex_);
  if (labels_.contains(method)) return std::string(method);
  if (!CanBeLabel(method)) return std::string(kOtherMethod);
  if (labels_.size() >= limit_) {
    ++refused_;
    return std::string(kOtherMethod);
  }
  labels_.emplace(method);
  return std::string(method);
}

uint64_t MethodLabels::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

}  // namespace levee
