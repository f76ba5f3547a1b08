// SPDX-License-Identifier: Apache-2.0
#include "net/descriptors.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace levee::net {
namespace {

// How many descriptors the kernel's table of this process has room for.
int64_t TableSize() {
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name;) {
    int64_t size = 0;
    if (name == "FDSize:" && status >> size) return size;
  }
  return 0;
}

TEST(Descriptors, TheTableHasRoomBeforeConnectionsCome) {
  const int64_t wanted = std::min<int64_t>(4096, DescriptorLimit());
  ASSERT_LT(TableSize(), wanted);
  ReserveDescriptorTable();
  EXPECT_GE(TableSize(), wanted);
}

}  // namespace
}  // namespace levee::net
