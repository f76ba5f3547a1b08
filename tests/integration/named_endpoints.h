// SPDX-License-Identifier: Apache-2.0
// A sidecar whose names are answered by a test.
#pragma once

#include <unistd.h>

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "integration/sidecar_process.h"
#include "net/scripted_dns.h"

namespace levee {

// Name servers listen on port 53, and resolv.conf is one for all.
class NamedEndpoints : public testing::Test {
 protected:
  void SetUp() override {
    if (!dns.bound() || !SidecarProcess::MayMount()) {
      GTEST_SKIP() << "needs to listen on port 53 and a mount namespace: run as root";
    }
  }

  std::unique_ptr<SidecarProcess> Run(
      const std::string& endpoint,
      const std::string& retry = "{max_attempts: 1, exhausted: keep}") {
    return SidecarProcess::RunWithResolvConf({.endpoints = {endpoint}, .retry = retry},
                                             "nameserver " + host_ + "\nsearch shop.test\n");
  }

 private:
  // Its own, since tests run beside each other.
  const std::string host_ =
      "127.53." + std::to_string(getpid() / 250 % 250) + "." + std::to_string(getpid() % 250 + 1);

 protected:
  ScriptedDns dns{host_.c_str(), 53};
};

}  // namespace levee
