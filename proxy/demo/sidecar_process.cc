// SPDX-License-Identifier: Apache-2.0
#include "demo/sidecar_process.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/host_port.h"

namespace levee::demo {
namespace {

// How many of the sidecar's last lines are kept, for when it ends unexpectedly.
constexpr size_t kRestLines = 50;

absl::StatusOr<std::string> WriteConfig(const std::string& config) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  const std::filesystem::path file =
      folder / absl::StrFormat("levee-demo-%016x.yaml", net::RandomSeed());
  std::ofstream stream(file);
  stream << config;
  stream.close();
  if (error || !stream) {
    return absl::UnavailableError(absl::StrCat("cannot write ", file.string()));
  }
  return file.string();
}

std::optional<net::Address> ToAddress(const std::string& text) {
  const auto parts = SplitHostPort(text);
  if (!parts.has_value()) return std::nullopt;
  return net::Address::FromIp(parts->host, parts->port);
}

}  // namespace

void SidecarOutput::Add(std::string_view line) {
  constexpr std::string_view kEgress = "listening egress ";
  constexpr std::string_view kIngress = "listening ingress ";
  constexpr std::string_view kMetrics = "listening metrics ";
  constexpr std::string_view kPage = "listening admin ";
  if (line.starts_with(kEgress)) {
    calls = line.substr(kEgress.size());
  } else if (line.starts_with(kIngress)) {
    calls = line.substr(kIngress.size());
  } else if (line.starts_with(kMetrics)) {
    metrics = line.substr(kMetrics.size());
  } else if (line.starts_with(kPage)) {
    page = line.substr(kPage.size());
  } else {
    if (rest.size() == kRestLines) rest.erase(rest.begin());
    rest.emplace_back(line);
  }
}

absl::StatusOr<std::unique_ptr<SidecarProcess>> SidecarProcess::Start(net::EventLoop& loop,
                                                                      const std::string& binary,
                                                                      const std::string& config,
                                                                      Events events) {
  auto file = WriteConfig(config);
  if (!file.ok()) return file.status();
  std::unique_ptr<SidecarProcess> sidecar(
      new SidecarProcess(loop, *std::move(file), std::move(events)));
  auto child = net::ChildProcess::Start(
      loop, binary, {"run", "--config", sidecar->config_file_, "--log-level", "error"},
      [process = sidecar.get()](std::string_view line) { process->OnLine(line); },
      [process = sidecar.get()](int code) { process->events_.ended(code); });
  if (!child.ok()) return child.status();
  sidecar->child_ = *std::move(child);
  return sidecar;
}

SidecarProcess::SidecarProcess(net::EventLoop& loop, std::string config_file, Events events)
    : loop_(loop), config_file_(std::move(config_file)), events_(std::move(events)) {}

SidecarProcess::~SidecarProcess() {
  std::error_code ignored;
  std::filesystem::remove(config_file_, ignored);
}

void SidecarProcess::OnLine(std::string_view line) {
  const bool was_complete = output_.complete();
  output_.Add(line);
  if (output_.complete() && !was_complete) events_.ready();
}

void SidecarProcess::Poll() {
  const auto address = ToAddress(output_.metrics);
  if (poll_ != nullptr || !address.has_value()) return;
  poll_ = std::make_unique<net::HttpGet>(loop_, *address, "/metrics",
                                         [this](const absl::StatusOr<std::string>& body) {
                                           if (body.ok()) events_.polled(*body);
                                           poll_.reset();
                                         });
}

void SidecarProcess::Terminate() { child_->Terminate(); }

void SidecarProcess::Kill() { child_->Kill(); }

}  // namespace levee::demo
