#include "cli/run_command.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "cli/running_sidecar.h"
#include "cli/version.h"
#include "net/process_memory.h"

namespace levee {
namespace {

void StartLogging(const std::string& level) {
  // Standard output is for the lines that name the bound addresses, so that scripts can read them.
  spdlog::set_default_logger(spdlog::stderr_color_mt("levee"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");
  spdlog::set_level(spdlog::level::from_str(level));
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "levee: %s\n", std::string(status.message()).c_str());
  return 1;
}

// What --to says stands on the command line, not in a configuration.
bool AllOfCommandLine(const std::vector<Fault>& faults) {
  return std::all_of(faults.begin(), faults.end(),
                     [](const Fault& fault) { return fault.file == "--to"; });
}

}  // namespace

int RunSidecar(const RunOptions& options) {
  if (options.keep_code_pages) net::KeepCodePages();
  StartLogging(options.log_level);
  const CheckedConfig checked = CheckConfig(options.config);
  if (checked.snapshot == nullptr) {
    // Each fault has its own position, so nothing is put before them.
    std::fprintf(stderr, "%s\n", FormatFaults(checked.faults).c_str());
    return AllOfCommandLine(checked.faults) ? kWrongUsage : 1;
  }
  for (const Fault& warning : checked.warnings) spdlog::warn("{}", FormatFault(warning));
  auto running = RunningSidecar::Open(options, checked);
  if (!running.ok()) return Fail(running.status());
  spdlog::info("levee {} serving with {} worker{}", std::string(BuildVersion()), options.workers,
               options.workers == 1 ? "" : "s");
  (*running)->Run();
  spdlog::info("levee stopped");
  return 0;
}

}  // namespace levee
