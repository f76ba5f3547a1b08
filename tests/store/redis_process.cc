// SPDX-License-Identifier: Apache-2.0
#include "store/redis_process.h"

#include <unistd.h>

#include <csignal>
#include <utility>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "net/closed_port.h"
#include "store/redis_programs.h"

namespace levee {
namespace {

uint16_t FreePort() { return ClosedPort().port(); }

}  // namespace

bool HasRedis() { return access(kRedisServer, X_OK) == 0 && access(kRedisClient, X_OK) == 0; }

RedisProcess::RedisProcess(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {
  // Another program may take a free port before Redis does.
  for (int tries = 0; tries < 10; ++tries) {
    port_ = FreePort();
    other_port_ = FreePort();
    tls_port_ = FreePort();
    if (Start()) return;
  }
  ADD_FAILURE() << "redis-server does not start: " << child_->Errors();
}

bool RedisProcess::Start() {
  std::vector<std::string> arguments = {
      "--port", std::to_string(port_), "--bind", "127.0.0.1",  "--save",
      "",       "--appendonly",        "no",     "--loglevel", "notice"};
  for (const std::string& argument : arguments_) {
    if (argument == kOtherPort) {
      arguments.push_back(std::to_string(other_port_));
    } else {
      arguments.push_back(argument == kTlsPort ? std::to_string(tls_port_) : argument);
    }
  }
  child_ = std::make_unique<Child>(kRedisServer, arguments);
  while (const auto line = child_->ReadLine()) {
    if (absl::StrContains(*line, "Ready to accept connections")) return true;
  }
  return false;
}

void RedisProcess::Kill() {
  child_->Signal(SIGKILL);
  child_->WaitForExit();
}

void RedisProcess::Restart() { EXPECT_TRUE(Start()); }

std::string RedisProcess::Command(const std::vector<std::string>& words) const {
  std::vector<std::string> arguments = {"-p", std::to_string(port_)};
  arguments.insert(arguments.end(), words.begin(), words.end());
  return RunToEnd(kRedisClient, arguments).output;
}

}  // namespace levee
