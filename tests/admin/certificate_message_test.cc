// SPDX-License-Identifier: Apache-2.0
// What the state says of the certificates that Levee shows.
#include "admin/certificate_message.h"

#include <map>
#include <string>
#include <vector>

#include "config/load.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(CertificateMessages, SayOfEachWhereItComesFromAndWhatIsWrong) {
  const auto snapshot = ParseConfig(
      "levee.yaml",
      "routes: [{upstream: cart}]\n"
      "upstreams:\n"
      "- {name: cart, endpoints: ['127.0.0.1:1'], tls: {spiffe: 'unix:///a', server_name: cart}}\n"
      "- {name: clear, endpoints: ['127.0.0.1:2']}\n"
      "- {name: nameless, endpoints: ['127.0.0.1:3'], tls: {insecure_skip_verify: true}}\n"
      "listeners: [{name: ingress, address: '127.0.0.1:4', tls: {spiffe: 'unix:///b'}}]\n"
      "stores: [{name: keys, redis: ['localhost:6379'], tls: {spiffe: 'unix:///b'}}]\n");
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  const ConfigStatus status{.snapshot = *snapshot};
  const std::map<std::string, std::string> faults = {{"unix:///a", "UNAVAILABLE: gone"}};
  const std::vector<admin::v1::Certificate> found = CertificateMessages(status, faults);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].of(), "upstream cart");
  EXPECT_EQ(found[0].source(), "unix:///a");
  EXPECT_EQ(found[0].identity(), "");  // There is none yet.
  EXPECT_EQ(found[0].expires(), 0);
  EXPECT_EQ(found[0].fault(), "UNAVAILABLE: gone");
  EXPECT_EQ(found[1].of(), "listener ingress");
  EXPECT_EQ(found[1].fault(), "");
  EXPECT_EQ(found[2].of(), "store keys");
}

}  // namespace
}  // namespace levee
