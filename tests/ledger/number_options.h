// SPDX-License-Identifier: Apache-2.0
// The options of the ledgers' programs, each of which is a number.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

namespace levee::ledger {

// Takes `--name number` pairs into the values of these names. Returns false, and says on stderr how
// the program is used, if a name is none of them or has no number.
inline bool TakeNumbers(int argc, char** argv, const std::map<std::string_view, uint64_t*>& values,
                        const char* usage) {
  for (int i = 1; i < argc; i += 2) {
    const auto value = values.find(argv[i]);
    if (value == values.end() || i + 1 == argc) {
      std::fprintf(stderr, "usage: %s\n", usage);
      return false;
    }
    *value->second = std::strtoull(argv[i + 1], nullptr, 10);
  }
  return true;
}

}  // namespace levee::ledger
