#include "cli/run_command.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "cli/log_sink.h"
#include "cli/running_sidecar.h"
#include "cli/version.h"
#include "net/process_memory.h"

namespace levee {
namespace {

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
  EventLog log(
      ParseLogLevel(options.log_level),
      StandardErrorSink(options.log_format == "json" ? LogFormat::kJson : LogFormat::kText));
  const CheckedConfig checked = CheckConfig(options.config);
  if (checked.snapshot == nullptr) {
    // Each fault has its own position, so nothing is put before them.
    std::fprintf(stderr, "%s\n", FormatFaults(checked.faults).c_str());
    return AllOfCommandLine(checked.faults) ? kWrongUsage : 1;
  }
  for (const Fault& warning : checked.warnings) {
    log.Write(EventKind::kConfigWarning, [&] {
      return std::vector<LogField>{{"warning", FormatFault(warning)}};
    });
  }
  auto running = RunningSidecar::Open(options, checked, log);
  if (!running.ok()) return Fail(running.status());
  log.Write(EventKind::kStarted, [&] {
    return std::vector<LogField>{{"version", BuildVersion()}, {"workers", options.workers}};
  });
  (*running)->Run();
  log.Write(EventKind::kStopped);
  return 0;
}

}  // namespace levee
