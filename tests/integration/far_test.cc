// SPDX-License-Identifier: Apache-2.0
// Peers that are 20 ms away: their streams are not bound by Levee's windows.
#include <chrono>
#include <string>

#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/far_link.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

constexpr std::chrono::milliseconds kOneWay{10};
constexpr size_t kFarMiB = 1024 * 1024;

class Far : public testing::Test {
 protected:
  // An answer of 128 MiB.
  static void Download(const ChannelPtr& channel) {
    ByteCall call(channel, "/test.Echo/Stream");
    ASSERT_TRUE(call.Start());
    ASSERT_TRUE(call.Write("512 262144"));
    ASSERT_TRUE(call.HalfClose());
    int messages = 0;
    while (call.Read().has_value()) ++messages;
    EXPECT_EQ(messages, 512);
    EXPECT_TRUE(call.Finish().ok());
  }

  FaultyService service_;
};

TEST_F(Far, AServicesAnswerFillsTheWayToIt) {
  FarLink link(service_.address(), kOneWay);
  SidecarProcess sidecar{ConfigParts{.endpoints = {link.address()}}};
  Download(NewChannel(sidecar.address()));
  EXPECT_GT(link.most_from_target(), 2 * kFarMiB);
}

TEST_F(Far, ACallersRequestFillsTheWayFromIt) {
  service_.Release();
  SidecarProcess sidecar{ConfigParts{.endpoints = {service_.address()}}};
  FarLink link(sidecar.address(), kOneWay);
  ByteCall call(NewChannel(link.address()), "/test.Echo/Sink");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write(std::string(128 * kFarMiB, 'u')));
  ASSERT_TRUE(call.HalfClose());
  EXPECT_EQ(call.Read(), std::to_string(128 * kFarMiB));
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_GT(link.most_to_target(), 2 * kFarMiB);
}

}  // namespace
}  // namespace levee
