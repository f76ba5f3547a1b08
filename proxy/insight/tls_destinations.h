// SPDX-License-Identifier: Apache-2.0
// Where callers send TLS through tunnels.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace levee {

// Remembers the destinations of tunnels that carry TLS, the first kMax of the process. Their calls
// cannot be seen, so they are neither retried nor counted, and their users should know. Any thread.
class TlsDestinations {
 public:
  static constexpr size_t kMax = 20;

  // Returns whether the destination is new and was remembered.
  bool Add(const std::string& destination) {
    const std::lock_guard lock(mutex_);
    return destinations_.size() < kMax && destinations_.insert(destination).second;
  }

  // Returns them in their order as texts.
  std::vector<std::string> Read() const {
    const std::lock_guard lock(mutex_);
    return {destinations_.begin(), destinations_.end()};
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> destinations_;
};

}  // namespace levee
