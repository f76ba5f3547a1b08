// SPDX-License-Identifier: Apache-2.0
#include "admin/process_metrics.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "telemetry/exposition.h"

namespace levee {
namespace {

using prometheus::MetricType;

// The unit of the kernel's times as user space sees it, on every platform that Debian runs on.
constexpr double kUsualTicksPerSecond = 100;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Returns the first word after `key` at the beginning of a line; empty if there is no such line.
std::string FindWord(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    std::string word;
    std::istringstream(line.substr(key.size())) >> word;
    return word;
  }
  return {};
}

std::optional<double> Number(const std::string& word) {
  double value = 0;
  if (word == "unlimited") return std::numeric_limits<double>::infinity();
  if (!absl::SimpleAtod(word, &value)) return std::nullopt;
  return value;
}

// The kernel tells a program its own unit in the auxiliary vector (AT_CLKTCK of getauxval(3)).
double TicksPerSecond(const std::string& proc) {
  constexpr unsigned long kTicksEntry = 17;
  std::ifstream file(proc + "/self/auxv", std::ios::binary);
  std::array<unsigned long, 2> entry{};
  while (file.read(reinterpret_cast<char*>(entry.data()), sizeof entry)) {
    if (entry[0] == kTicksEntry && entry[1] > 0) return static_cast<double>(entry[1]);
  }
  return kUsualTicksPerSecond;
}

// Fields of /proc/self/stat by their numbers in proc(5), from 3 on. The second one is the
// program's name, which may contain anything; the last parenthesis ends it.
class Stat {
 public:
  explicit Stat(const std::string& text) {
    const size_t name_end = text.rfind(") ");
    if (name_end != std::string::npos) fields_ = absl::StrSplit(text.substr(name_end + 2), ' ');
  }
  std::optional<double> Field(size_t number) const {
    return number - 3 < fields_.size() ? Number(fields_[number - 3]) : std::nullopt;
  }

 private:
  std::vector<std::string> fields_;
};

void Add(FamilySink sink, MetricType type, std::string_view name, std::string_view help,
         std::optional<double> value) {
  if (value.has_value()) Family(sink, type, name, help).Add({}, *value);
}

void CollectTimes(const std::string& proc, double ticks_per_second, FamilySink sink) {
  const Stat stat(ReadFile(proc + "/self/stat"));
  const auto user = stat.Field(14), system = stat.Field(15), started = stat.Field(22);
  if (user.has_value() && system.has_value()) {
    Add(sink, MetricType::Counter, "process_cpu_seconds_total", "CPU time spent, user and system.",
        (*user + *system) / ticks_per_second);
  }
  const auto booted = Number(FindWord(ReadFile(proc + "/stat"), "btime "));
  if (started.has_value() && booted.has_value()) {
    Add(sink, MetricType::Gauge, "process_start_time_seconds",
        "When the process started, in Unix time.", *booted + *started / ticks_per_second);
  }
}

void CollectMemory(const std::string& proc, FamilySink sink) {
  const std::string status = ReadFile(proc + "/self/status");
  const auto bytes = [&status](std::string_view key) -> std::optional<double> {
    const auto kibibytes = Number(FindWord(status, key));
    return kibibytes.has_value() ? std::optional(*kibibytes * 1024) : std::nullopt;
  };
  Add(sink, MetricType::Gauge, "process_resident_memory_bytes", "Memory in RAM.", bytes("VmRSS:"));
  Add(sink, MetricType::Gauge, "process_virtual_memory_bytes", "Address space in use.",
      bytes("VmSize:"));
}

void CollectFiles(const std::string& proc, FamilySink sink) {
  std::error_code error;
  const std::filesystem::directory_iterator files(proc + "/self/fd", error);
  if (!error) {
    Add(sink, MetricType::Gauge, "process_open_fds", "Open file descriptors.",
        static_cast<double>(std::distance(begin(files), end(files))));
  }
  Add(sink, MetricType::Gauge, "process_max_fds", "Most file descriptors that may be open.",
      Number(FindWord(ReadFile(proc + "/self/limits"), "Max open files")));
}

}  // namespace

ProcessMetrics::ProcessMetrics(std::string proc)
    : proc_(std::move(proc)), ticks_per_second_(TicksPerSecond(proc_)) {}

std::vector<prometheus::MetricFamily> ProcessMetrics::Collect() const {
  std::vector<prometheus::MetricFamily> families;
  const auto sink = [&families](prometheus::MetricFamily family) {
    families.push_back(std::move(family));
  };
  CollectTimes(proc_, ticks_per_second_, sink);
  CollectMemory(proc_, sink);
  CollectFiles(proc_, sink);
  return families;
}

}  // namespace levee
