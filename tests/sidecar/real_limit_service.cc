// SPDX-License-Identifier: Apache-2.0
#include "sidecar/real_limit_service.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>

#include "gtest/gtest.h"
#include "net/closed_port.h"

namespace levee {
namespace {

// Where `make interop-deps` leaves it.
constexpr char kProgram[] = LEVEE_RATELIMIT;

bool Listens(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  const bool connected = connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  close(fd);
  return connected;
}

std::string Port(const char* variable, uint16_t port) {
  return std::string(variable) + "=" + std::to_string(port);
}

}  // namespace

std::string RealLimitService::Missing() {
  if (!HasRedis()) return "redis-server is not installed";
  if (access(kProgram, X_OK) != 0)
    return "envoyproxy/ratelimit is not built; make interop-deps does";
  return "";
}

RealLimitService::RealLimitService(const std::string& limits)
    : folder_(std::filesystem::path(testing::TempDir()) /
              ("levee-limits-" + std::to_string(getpid()) + "-" + std::to_string(redis_.port()))) {
  std::filesystem::create_directories(folder_ / "config");
  std::ofstream(folder_ / "config/shop.yaml") << "domain: shop\ndescriptors:\n" << limits;
  // Another program may take a free port before the service does.
  for (int tries = 0; tries < 10; ++tries) {
    port_ = ClosedPort().port();
    if (Start()) return;
  }
  ADD_FAILURE() << "the service does not start: " << child_->Errors();
}

RealLimitService::~RealLimitService() {
  child_.reset();
  std::filesystem::remove_all(folder_);
}

bool RealLimitService::Start() {
  child_ = std::make_unique<Child>(
      "/usr/bin/env",
      std::vector<std::string>{"USE_STATSD=false", "RUNTIME_ROOT=" + folder_.string(),
                               "RUNTIME_SUBDIRECTORY=", "RUNTIME_WATCH_ROOT=false",
                               "REDIS_SOCKET_TYPE=tcp", "REDIS_URL=" + redis_.address(),
                               "HOST=127.0.0.1", "GRPC_HOST=127.0.0.1", "DEBUG_HOST=127.0.0.1",
                               Port("GRPC_PORT", port_), Port("PORT", ClosedPort().port()),
                               Port("DEBUG_PORT", ClosedPort().port()), kProgram});
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    if (Listens(port_)) return true;
    if (kill(child_->pid(), 0) != 0) return false;
  }
  return false;
}

void RealLimitService::Kill() {
  child_->Signal(SIGKILL);
  child_->WaitForExit();
}

void RealLimitService::Restart() { EXPECT_TRUE(Start()) << child_->Errors(); }

}  // namespace levee
