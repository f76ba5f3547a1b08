#include "cli/run_command.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "admin/metrics_server.h"
#include "cli/version.h"
#include "net/line_writer.h"
#include "net/process_memory.h"
#include "server/sidecar.h"
#include "telemetry/metrics.h"

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

absl::StatusOr<std::unique_ptr<net::LineWriter>> OpenAccessLog(const AccessLogSpec& spec) {
  using Target = AccessLogSpec::Target;
  const auto on_fault = [](const std::string& fault) {
    spdlog::error("access log: {}; lines get lost", fault);
  };
  if (spec.target == Target::kNone) return nullptr;
  if (spec.target == Target::kStandardOutput) return net::LineWriter::ToStandardOutput(on_fault);
  auto file = net::LineWriter::ToFile(spec.path, on_fault);
  if (file.ok()) return file;
  return absl::FailedPreconditionError(
      absl::StrCat("access log: ", file.status().message(), " (set at ", spec.position, ")"));
}

Metrics::Options MetricsOptions(const Snapshot& snapshot, int workers) {
  Metrics::Options options;
  options.workers = workers;
  options.method_labels = snapshot.limits.method_labels;
  options.version = BuildVersion();
  options.commit = BuildCommit();
  options.config_sha256 = snapshot.sha256;
  options.config_loaded_at = net::WallClock();
  for (const UpstreamSpec& upstream : snapshot.upstreams) {
    options.upstreams.push_back(upstream.name);
    if (upstream.methods == nullptr) continue;
    for (const std::string& path : upstream.methods->all) {
      options.methods.push_back(path.substr(1));
    }
  }
  for (const Route& route : snapshot.routes.routes()) {
    // Only a route that names one method gives it a label.
    if (!absl::StrContains(route.method, '*') && route.method.starts_with('/')) {
      options.methods.push_back(route.method.substr(1));
    }
  }
  return options;
}

void Announce(const Sidecar& sidecar, const MetricsServer* metrics) {
  for (const Sidecar::BoundListener& listener : sidecar.listeners()) {
    std::printf("listening %s %s\n", listener.name.c_str(), listener.address.ToString().c_str());
  }
  if (metrics != nullptr) {
    std::printf("listening metrics %s\n", metrics->address().ToString().c_str());
  }
  std::fflush(stdout);
}

}  // namespace

int RunSidecar(const RunOptions& options) {
  StartLogging(options.log_level);
  auto snapshot = LoadConfig(options.config);
  if (!snapshot.ok()) {
    // Each fault has its own position, so nothing is put before them.
    std::fprintf(stderr, "%s\n", std::string(snapshot.status().message()).c_str());
    return 1;
  }
  Metrics metrics(MetricsOptions(**snapshot, options.workers));
  auto access_log = OpenAccessLog((*snapshot)->access_log);
  if (!access_log.ok()) return Fail(access_log.status());
  auto sidecar = Sidecar::Open(*snapshot, options.workers, metrics, access_log->get());
  if (!sidecar.ok()) return Fail(sidecar.status());
  Sidecar& serving = **sidecar;
  metrics.SetBudgetSource([&serving] { return serving.budgets(); });
  metrics.SetReplayBytesSource([&serving] { return serving.replay_bytes(); });
  if (net::LineWriter* const log = access_log->get(); log != nullptr) {
    metrics.SetLostLogLinesSource([log] { return log->lost(); });
  }

  std::unique_ptr<MetricsServer> server;
  if ((*snapshot)->metrics_enabled) {
    auto started =
        MetricsServer::Start((*snapshot)->metrics, metrics, [&serving] { return serving.ready(); });
    if (!started.ok()) return Fail(started.status());
    server = *std::move(started);
  }
  Announce(serving, server.get());
  spdlog::info("levee {} serving with {} worker{}", std::string(BuildVersion()), options.workers,
               options.workers == 1 ? "" : "s");
  net::ReleaseStartupPages();
  serving.Run();
  spdlog::info("levee stopped");
  return 0;
}

}  // namespace levee
