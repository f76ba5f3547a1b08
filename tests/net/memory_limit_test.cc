// SPDX-License-Identifier: Apache-2.0
#include "net/memory_limit.h"

#include <map>
#include <string>

#include "gtest/gtest.h"

namespace levee::net {
namespace {

using Files = std::map<std::string, std::string>;

int64_t LimitOf(Files files) {
  return MemoryLimit([&](const std::string& path) { return files[path]; });
}

const char kMachine[] = "MemTotal:       16000000 kB\nMemFree: 5 kB\n";

TEST(MemoryLimit, IsThatOfTheCgroup) {
  EXPECT_EQ(LimitOf({{"/proc/self/cgroup", "0::/pods/levee\n"},
                     {"/sys/fs/cgroup/pods/levee/memory.max", "134217728\n"},
                     {"/proc/meminfo", kMachine}}),
            128 << 20);
}

TEST(MemoryLimit, IsThatOfAGroupAboveIfThatIsLess) {
  EXPECT_EQ(LimitOf({{"/proc/self/cgroup", "0::/pods/levee\n"},
                     {"/sys/fs/cgroup/pods/levee/memory.max", "max\n"},
                     {"/sys/fs/cgroup/pods/memory.max", "67108864\n"},
                     {"/proc/meminfo", kMachine}}),
            64 << 20);
}

TEST(MemoryLimit, IsThatOfTheRootWhereTheGroupIsNotMounted) {
  EXPECT_EQ(LimitOf({{"/proc/self/cgroup", "0::/../../kubepods/pod1/c2\n"},
                     {"/sys/fs/cgroup/memory.max", "1000000\n"},
                     {"/proc/meminfo", kMachine}}),
            1'000'000);
}

TEST(MemoryLimit, OfTheFirstVersionOfCgroups) {
  Files files = {{"/proc/self/cgroup", "9:memory:/docker/c2\n8:cpu:/docker/c2\n"},
                 {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456\n"},
                 {"/proc/meminfo", kMachine}};
  EXPECT_EQ(LimitOf(files), 256 << 20);
  files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "9223372036854771712\n";
  EXPECT_EQ(LimitOf(files), int64_t{16'000'000} * 1024);
}

TEST(MemoryLimit, OfASystemThatTellsNothingIsUnknown) { EXPECT_EQ(LimitOf({}), 0); }

TEST(MemoryLimit, OfThisSystemIsKnown) { EXPECT_GT(MemoryLimit(), 16 << 20); }

}  // namespace
}  // namespace levee::net
