// SPDX-License-Identifier: Apache-2.0
// The memory of a small container, for a child of a test.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace levee {

// A memory cgroup (version 1) of its own, where this process may make one. What is in it must have
// ended before it is destroyed.
class MemoryCgroup {
 public:
  explicit MemoryCgroup(long bytes) {
    std::ifstream groups("/proc/self/cgroup");
    std::string parent;
    for (std::string line; std::getline(groups, line);) {
      const size_t at = line.find(":memory:");
      if (at != std::string::npos) parent = "/sys/fs/cgroup/memory" + line.substr(at + 8);
    }
    const std::string folder = parent + "/levee-attacked-" + std::to_string(getpid());
    std::error_code error;
    if (parent.empty() || !std::filesystem::create_directory(folder, error)) return;
    folder_ = folder;
    limited_ = Write("memory.limit_in_bytes", bytes);
  }
  ~MemoryCgroup() {
    std::error_code error;
    if (!folder_.empty()) std::filesystem::remove(folder_, error);
  }
  MemoryCgroup(const MemoryCgroup&) = delete;
  MemoryCgroup& operator=(const MemoryCgroup&) = delete;

  // False: none may be made here.
  bool limited() const { return limited_; }

  // A process that writes its number here goes in.
  std::string door() const { return folder_ + "/cgroup.procs"; }
  void Take(int pid) const { Write("cgroup.procs", pid); }

 private:
  bool Write(const std::string& file, long value) const {
    std::ofstream to(folder_ + "/" + file);
    to << value << std::flush;
    return to.good();
  }

  std::string folder_;
  bool limited_ = false;
};

}  // namespace levee
