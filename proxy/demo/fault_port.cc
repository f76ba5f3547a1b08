// SPDX-License-Identifier: Apache-2.0
#include "demo/fault_port.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "demo/service_model.h"

namespace levee::demo {
namespace {

HttpResponse SetFaults(DemoService& service, const HttpRequest& request) {
  if (request.path != "/faults") return {.status = 404, .body = "not found: /faults\n"};
  if (request.method != "POST") {
    return {.status = 405, .headers = "Allow: POST\r\n", .body = "faults are set by POST\n"};
  }
  const auto query = ParseQuery(request.query, {"failing", "workers_down"});
  if (!query.ok()) {
    return {.status = 400, .body = absl::StrCat(query.status().message(), "\n")};
  }
  FaultShares faults;
  for (const auto& [name, text] : *query) {
    double& share = name == "failing" ? faults.failing : faults.workers_down;
    if (!absl::SimpleAtod(text, &share) || !IsShare(share)) {
      return {.status = 400, .body = absl::StrCat(name, " is a number from 0 to 1\n")};
    }
  }
  service.SetFaults(faults);
  return {.body = absl::StrCat("failing=", faults.failing, " workers_down=", faults.workers_down,
                               "\n")};
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> ServeFaults(DemoService& service) {
  return HttpServer::Start(
      {.address = {.host = "127.0.0.1"},
       .field = "faults",
       .answer = [&service](const HttpRequest& request) { return SetFaults(service, request); }});
}

}  // namespace levee::demo
