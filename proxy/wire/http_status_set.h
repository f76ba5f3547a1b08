// SPDX-License-Identifier: Apache-2.0
// A set of HTTP statuses.
#pragma once

#include <bitset>
#include <cstddef>

namespace levee {

// Holds statuses from 100 to 599; others are in no set.
class HttpStatusSet {
 public:
  void Add(int status) {
    if (Known(status)) bits_.set(Index(status));
  }

  // `hundreds` 5 stands for 5xx: 500 to 599.
  void AddClass(int hundreds) {
    for (int status = hundreds * 100; status < hundreds * 100 + 100; ++status) Add(status);
  }

  bool Has(int status) const { return Known(status) && bits_.test(Index(status)); }
  bool empty() const { return bits_.none(); }
  friend bool operator==(const HttpStatusSet&, const HttpStatusSet&) = default;

 private:
  static bool Known(int status) { return status >= 100 && status < 600; }
  static size_t Index(int status) { return static_cast<size_t>(status - 100); }

  std::bitset<500> bits_;
};

}  // namespace levee
