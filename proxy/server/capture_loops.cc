// SPDX-License-Identifier: Apache-2.0
#include "server/capture_loops.h"

#include <vector>

#include "net/process_user.h"

namespace levee {
namespace {

constexpr char kCameBack[] =
    "the call has come back to the sidecar that sent it (via): the upstream's endpoints or a proxy "
    "behind them lead here; name the service itself in `endpoints` or --to HOST:PORT";

constexpr char kCapturedAgain[] =
    "the call has come back to the sidecar that sent it (via): the firewall redirects connections "
    "of the sidecar itself; give `levee capture` the --uid or --gid by which the sidecar runs";

}  // namespace

void CaptureLoops::Tell(const ConnectionOrigin& origin, Instant now) {
  if (!log_.Enabled(EventKind::kCaptureLoop)) return;
  {
    const std::lock_guard lock(mutex_);
    if (!limiter_.Admit(now)) return;
  }
  log_.Write(EventKind::kCaptureLoop, [&] {
    return std::vector<LogField>{{"listener", origin.listener->name},
                                 {"destination", origin.original},
                                 {"user", net::ProcessUser()}};
  });
}

const char* CaptureLoops::OnCameBack(const ConnectionOrigin& origin, Instant now) {
  if (origin.original.empty()) return kCameBack;
  Tell(origin, now);
  return kCapturedAgain;
}

}  // namespace levee
