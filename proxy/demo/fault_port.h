// SPDX-License-Identifier: Apache-2.0
// The switch of the demo's faults for curl, which cannot say what the service's own RPC wants.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "admin/http_server.h"
#include "demo/service.h"

namespace levee::demo {

// Serves POST /faults?failing=SHARE&workers_down=SHARE on a loopback port that the system chooses.
// A request replaces all faults of `service`, which must outlive the server; a share that is left
// out is 0.
absl::StatusOr<std::unique_ptr<HttpServer>> ServeFaults(DemoService& service);

}  // namespace levee::demo
