// SPDX-License-Identifier: Apache-2.0
#include "admin/process_metrics.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "telemetry/scrape.h"

namespace levee {
namespace {

using testing::IsEmpty;

// A proc file system of one process, in a directory of the test's own.
class FakeProc {
 public:
  FakeProc()
      : root_(testing::TempDir() + "levee_proc_" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ + "/self");
  }
  ~FakeProc() { std::filesystem::remove_all(root_); }

  void Write(std::string_view path, std::string_view text) {
    std::ofstream(root_ + "/" + std::string(path), std::ios::binary) << text;
  }
  const std::string& root() const { return root_; }

 private:
  const std::string root_;
};

// Fields 1 to 24 of proc(5): utime (14) 150, stime (15) 50, starttime (22) 12300.
constexpr std::string_view kStat =
    "7 (le) vee (x)) S 1 7 7 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 3 0 12300 1000000 250\n";

TEST(ProcessMetrics, ReadsWhatTheKernelSays) {
  FakeProc proc;
  proc.Write("self/stat", kStat);
  proc.Write("stat", "cpu  1 2 3\nbtime 1700000000\nprocesses 5\n");
  proc.Write("self/status", "Name:\tlevee\nVmSize:\t    2048 kB\nVmRSS:\t     512 kB\n");
  proc.Write("self/limits",
             "Limit                     Soft Limit           Hard Limit           Units\n"
             "Max open files            1024                 4096                 files\n");
  std::filesystem::create_directories(proc.root() + "/self/fd");
  for (const char* fd : {"self/fd/0", "self/fd/1", "self/fd/5"}) proc.Write(fd, "");

  const ProcessMetrics metrics(proc.root());
  EXPECT_EQ(Scraped(metrics, "process_cpu_seconds_total"), "2");
  EXPECT_EQ(Scraped(metrics, "process_start_time_seconds"), "1700000123");
  EXPECT_EQ(Scraped(metrics, "process_virtual_memory_bytes"), "2097152");
  EXPECT_EQ(Scraped(metrics, "process_resident_memory_bytes"), "524288");
  EXPECT_EQ(Scraped(metrics, "process_max_fds"), "1024");
  EXPECT_EQ(Scraped(metrics, "process_open_fds"), "3");
}

TEST(ProcessMetrics, TakesTheUnitOfTimeFromTheAuxiliaryVector) {
  FakeProc proc;
  proc.Write("self/stat", kStat);
  const unsigned long vector[] = {6, 4096, 17, 1000, 0, 0};
  proc.Write("self/auxv", {reinterpret_cast<const char*>(vector), sizeof vector});
  EXPECT_EQ(Scraped(ProcessMetrics(proc.root()), "process_cpu_seconds_total"), "0.2");
}

TEST(ProcessMetrics, NoLimitOnFilesIsInfinite) {
  FakeProc proc;
  proc.Write("self/limits", "Max open files            unlimited            unlimited  files\n");
  EXPECT_EQ(Scraped(ProcessMetrics(proc.root()), "process_max_fds"), "+Inf");
}

TEST(ProcessMetrics, WhatCannotBeReadIsLeftOut) {
  FakeProc proc;
  proc.Write("self/stat", "7 (levee");
  proc.Write("self/status", "VmRSS:\n");
  EXPECT_THAT(ProcessMetrics(proc.root()).Collect(), IsEmpty());
}

TEST(ProcessMetrics, DescribesThisProcess) {
  const ProcessMetrics metrics;
  for (const std::string_view name :
       {"process_cpu_seconds_total", "process_start_time_seconds", "process_virtual_memory_bytes",
        "process_resident_memory_bytes", "process_open_fds", "process_max_fds"}) {
    EXPECT_NE(Scraped(metrics, name), "absent") << name;
  }
  EXPECT_GT(std::atof(Scraped(metrics, "process_resident_memory_bytes").c_str()), 1e6);
  EXPECT_GE(std::atof(Scraped(metrics, "process_open_fds").c_str()), 3);
  // After 2020, so the boot time has been added.
  EXPECT_GT(std::atof(Scraped(metrics, "process_start_time_seconds").c_str()), 1577836800);
}

}  // namespace
}  // namespace levee
