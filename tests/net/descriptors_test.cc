// SPDX-License-Identifier: Apache-2.0
#include "net/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

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

// How many descriptors are open below the first free one.
int64_t OpenDescriptors() {
  const int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(lowest);
  return lowest;
}

// Lowers the limit of this process; the destructor restores it.
class FewDescriptors {
 public:
  explicit FewDescriptors(int64_t limit) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit few = {.rlim_cur = static_cast<rlim_t>(limit), .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(Descriptors, TheTableHasRoomBeforeConnectionsCome) {
  const int64_t wanted = std::min<int64_t>(4096, DescriptorLimit());
  ASSERT_LT(TableSize(), wanted);
  ReserveDescriptorTable();
  EXPECT_GE(TableSize(), wanted);
}

TEST(Descriptors, OfAFewTheMostAreForCallers) {
  EXPECT_EQ(DescriptorsForCallers(64), 43);
  EXPECT_EQ(DescriptorsForCallers(1024), 896);
  EXPECT_EQ(DescriptorsForCallers(65'536), 64'512);
}

TEST(Descriptors, NoneAreMissingWhereACallerCanConnect) { EXPECT_EQ(DescriptorsMissing(), 0); }

TEST(Descriptors, WhatIsMissingIsWhatAFewCallersNeedBesideTheOpenOnes) {
  const int64_t open = OpenDescriptors();
  const FewDescriptors few(open + 1);
  const int64_t enough = DescriptorsMissing();
  EXPECT_GT(enough, open + 1);
  EXPECT_GE(DescriptorsForCallers(enough), open + 8);
  EXPECT_LT(DescriptorsForCallers(enough - 1), open + 8);
}

}  // namespace
}  // namespace levee::net
