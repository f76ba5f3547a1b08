// SPDX-License-Identifier: Apache-2.0
// The sidecar of the demo: `levee run` as a child process, its addresses and its metrics.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "net/child_process.h"
#include "net/event_loop.h"
#include "net/http_get.h"

namespace levee::demo {

// The sidecar's output: the addresses that it bound, and its other lines.
struct SidecarOutput {
  std::string calls;    // HOST:PORT of its listener, egress or ingress; empty while unknown.
  std::string metrics;  // The same.
  std::string page;     // The same.
  std::vector<std::string> rest;

  void Add(std::string_view line);
  bool complete() const { return !calls.empty() && !metrics.empty() && !page.empty(); }
};

// One thread, the loop's. Ends the child when it is destroyed.
class SidecarProcess {
 public:
  struct Events {
    std::function<void()> ready;  // It listens.
    std::function<void(const std::string& metrics)> polled;
    std::function<void(int code)> ended;  // For whatever reason.
  };

  // Writes the configuration to a new file and starts `binary` with it.
  static absl::StatusOr<std::unique_ptr<SidecarProcess>> Start(net::EventLoop& loop,
                                                               const std::string& binary,
                                                               const std::string& config,
                                                               Events events);
  ~SidecarProcess();
  SidecarProcess(const SidecarProcess&) = delete;
  SidecarProcess& operator=(const SidecarProcess&) = delete;

  const SidecarOutput& output() const { return output_; }
  const std::string& config_file() const { return config_file_; }

  // Asks for /metrics unless an answer is still awaited. `polled` follows with the answer.
  void Poll();

  // Lets it drain and then end.
  void Terminate();
  void Kill();

 private:
  SidecarProcess(net::EventLoop& loop, std::string config_file, Events events);
  void OnLine(std::string_view line);

  net::EventLoop& loop_;
  const std::string config_file_;
  Events events_;
  SidecarOutput output_;
  std::unique_ptr<net::HttpGet> poll_;
  std::unique_ptr<net::ChildProcess> child_;
};

}  // namespace levee::demo
