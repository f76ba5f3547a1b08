// SPDX-License-Identifier: Apache-2.0
// Which methods have a label of their own in the metrics.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace levee {

// The label of methods that have none of their own.
inline constexpr std::string_view kOtherMethod = "other";

// Callers choose the paths they send, so only a bounded number of them becomes a label value, and
// only what a text format can carry: 1 to 256 printable ASCII characters. Any thread.
class MethodLabels {
 public:
  // `methods` have no leading slash; those beyond `limit` get no label and count as refused. Asked
  // again when the settings have changed: who has a label keeps it, also beyond a lower limit.
  void Configure(const std::vector<std::string>& methods, int limit);

  // The label of the call path "/pkg.Service/Method": "pkg.Service/Method" or "other".
  std::string Find(std::string_view path) const;

  // The same, giving it a label of its own if there is room.
  std::string FindOrAdd(std::string_view path);

  // How often there was no room.
  uint64_t refused() const;

 private:
  mutable std::mutex mutex_;
  size_t limit_ = 0;
  std::set<std::string, std::less<>> labels_;
  uint64_t refused_ = 0;
};

}  // namespace levee
