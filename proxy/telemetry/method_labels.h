// SPDX-License-Identifier: Apache-2.0
// Decides which methods have a label of their own in the metrics.
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

// Callers choose the paths they send, so only a bounded number of paths become label values. A
// label has 1 to 256 printable ASCII characters, which every text format can carry. Any thread.
class MethodLabels {
 public:
  // Gives `methods`, which have no leading slash, a label each. Methods beyond `limit` get no label
  // and count as refused. May be called again with other settings: a method that has a label keeps
  // it, even if there are then more labels than `limit`.
  void Configure(const std::vector<std::string>& methods, int limit);

  // Returns the label of the call path "/pkg.Service/Method": "pkg.Service/Method" or "other".
  std::string Find(std::string_view path) const;

  // Like Find, but first gives the method a label of its own if the limit allows one more.
  std::string FindOrAdd(std::string_view path);

  // Returns how often the limit allowed no further label.
  uint64_t refused() const;

 private:
  mutable std::mutex mutex_;
  size_t limit_ = 0;
  std::set<std::string, std::less<>> labels_;
  uint64_t refused_ = 0;
};

}  // namespace levee
