// SPDX-License-Identifier: Apache-2.0
// The command `levee run` without a file: its policy from standard input, its addresses as options.
#include <csignal>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/child.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using testing::StartsWith;

TEST(Run, ReadsItsPolicyFromStandardInput) {
  const TempFile config(
      "listeners: [{name: piped, address: \"127.0.0.1:0\"}]\n"
      "metrics: {address: none}\n"
      "admin: {address: none}\n");
  Child sidecar("/bin/sh",
                {"-c", absl::StrCat("exec ", LEVEE_BINARY, " run --config - < ", config.path())});
  EXPECT_THAT(sidecar.ReadLine().value_or(""), StartsWith("listening piped 127.0.0.1:"));
  sidecar.Signal(SIGTERM);
  EXPECT_EQ(sidecar.WaitForExit(), 0);
}

TEST(Run, ServesOnTheAddressesOfTheCommandLine) {
  const auto sidecar = SidecarProcess::Run({"--to", "127.0.0.1:1", "--listen", "127.0.0.1:0",
                                            "--metrics", "127.0.0.1:0", "--admin", "none"});
  EXPECT_THAT(sidecar->address("egress"), StartsWith("127.0.0.1:"));
  EXPECT_EQ(sidecar->HttpStatus("/healthz"), 200);
}

TEST(Run, ABusyPortIsAnsweredWithTheOptionsForAnotherOne) {
  const auto first = SidecarProcess::Run(
      {"--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--admin", "none"});
  const std::string busy = first->address("egress");
  Child second(LEVEE_BINARY, {"run", "--listen", busy, "--metrics", "none", "--admin", "none"});
  EXPECT_EQ(second.WaitForExit(), 1);
  EXPECT_EQ(second.Errors(),
            absl::StrCat("levee: cannot listen on ", busy,
                         ": Address already in use (set at --listen)\n"
                         "Choose other addresses by --listen, --metrics and --admin.\n"));
}

}  // namespace
}  // namespace levee
