// SPDX-License-Identifier: Apache-2.0
// Certificates that are mounted, as containers have them.
#include <string>

#include "absl/strings/str_cat.h"
#include "certificates/authority.h"
#include "gmock/gmock.h"
#include "integration/child.h"
#include "integration/pem_files.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct MountedFile : public ::testing::Test {
  void SetUp() override {
    if (!SidecarProcess::MayMount()) GTEST_SKIP() << "needs a mount namespace: run as root";
  }

  // What `levee check` says where `mounted` is mounted where it is.
  std::string Check(const std::string& tls, const std::string& mounted) const {
    const std::string config = files.Put(
        "levee.yaml", "listeners: [{name: a, address: '127.0.0.1:1', tls: {" + tls + "}}]\n");
    const std::string script = absl::StrCat("mount --bind ", mounted, " ", mounted,
                                            " && exec " LEVEE_BINARY " check ", config);
    const Ended ended = RunToEnd("/usr/bin/unshare", {"-m", "sh", "-c", script});
    EXPECT_EQ(ended.exit, 0) << ended.errors;
    return ended.output;
  }

  const Authority authority;
  const PemFiles files;
  const std::string pair = files.Put("levee", authority.Issue());
};

TEST_F(MountedFile, ACertificateThatIsMountedAloneIsWarnedOf) {
  const std::string certificate = (files.path() / "levee.crt").string();
  const std::string said = Check(pair, certificate);
  EXPECT_THAT(said, HasSubstr("LV935 listeners[0].tls.certificate: warning: \"" + certificate +
                              "\" is mounted as a single file"));
  EXPECT_THAT(said, Not(HasSubstr("LV935 listeners[0].tls.key")));
}

TEST_F(MountedFile, OneInAMountedDirectoryIsNot) {
  EXPECT_THAT(Check(pair, files.path().string()), Not(HasSubstr("LV935")));
}

}  // namespace
}  // namespace levee
