// SPDX-License-Identifier: Apache-2.0
#include "net/memory_limit.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace levee::net {
namespace {

using FileReader = std::function<std::string(const std::string&)>;

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Returns the number that the text begins with; 0 if there is none, as in "max".
int64_t NumberIn(absl::string_view text) {
  int64_t number = 0;
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  return absl::SimpleAtoi(text.substr(0, end), &number) ? number : 0;
}

// The least of the limits that it is given; 0 before the first one.
class Least {
 public:
  void Take(int64_t limit) {
    // The first version of cgroups says so when there is no limit.
    constexpr int64_t kNone = int64_t{1} << 60;
    if (limit > 0 && limit < kNone && (least_ == 0 || limit < least_)) least_ = limit;
  }
  int64_t least() const { return least_; }

 private:
  int64_t least_ = 0;
};

// Takes the limits of the groups from `group` up to the root. In a container the group that the
// kernel names may not be mounted; then only the root can be read, which is the container's.
void TakeGroups(const FileReader& file, const std::string& mount, std::string group,
                const std::string& name, Least& least) {
  if (group == "/") group.clear();
  while (true) {
    least.Take(NumberIn(file(absl::StrCat(mount, group, "/", name))));
    if (group.empty()) return;
    group.resize(group.rfind('/'));
  }
}

}  // namespace

int64_t OwnBytes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 0;
#else
  // "SIZE RESIDENT SHARED ...", in pages; what is not shared with files is the process's own.
  int64_t size = 0, resident = 0, shared = 0;
  std::istringstream(ReadWhole("/proc/self/statm")) >> size >> resident >> shared;
  return (resident - shared) * sysconf(_SC_PAGESIZE);
#endif
}

void GiveMemoryBack() { malloc_trim(0); }

int64_t MemoryLimit() { return MemoryLimit(ReadWhole); }

int64_t MemoryLimit(const FileReader& file) {
  Least least;
  // "0::/GROUP" is of cgroup's second version, "9:memory:/GROUP" of the first.
  for (absl::string_view line : absl::StrSplit(file("/proc/self/cgroup"), '\n')) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() < 3 || !absl::StartsWith(parts[2], "/")) continue;
    if (parts[1].empty()) TakeGroups(file, "/sys/fs/cgroup", parts[2], "memory.max", least);
    if (parts[1] == "memory") {
      TakeGroups(file, "/sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes", least);
    }
  }
  for (absl::string_view line : absl::StrSplit(file("/proc/meminfo"), '\n')) {
    if (!absl::ConsumePrefix(&line, "MemTotal:")) continue;
    least.Take(NumberIn(absl::StripLeadingAsciiWhitespace(line)) * 1024);
  }
  return least.least();
}

}  // namespace levee::net
