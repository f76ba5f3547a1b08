// SPDX-License-Identifier: Apache-2.0
// A session makes no more of one input than its thread may have.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/block_cache.h"
#include "h2/raw_peer.h"

namespace levee::h2_test {
namespace {

constexpr int kRequests = 1000;

std::string Requests() {
  std::string frames;
  for (int i = 0; i < kRequests; ++i) {
    const std::string block = Encode(RequestHead());
    frames += FrameHead(block.size(), FrameType::kHeaders, kEndHeaders | kEndStream, 2 * i + 1);
    frames += block;
  }
  return frames;
}

// A thread's allowance that ends with the test.
struct Allowance {
  explicit Allowance(int64_t bytes) { AllowBlocks(bytes); }
  ~Allowance() { AllowBlocks(INT64_MAX); }
};

ByteSpan Span(const std::string& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

TEST(HeldInput, OneInputOfAThousandHeadsMakesWhatIsAllowedAndOneHeadMore) {
  constexpr int64_t kAllowed = 64 * 1024, kHead = 4 * 1024;
  RawPeer peer;
  ReleaseFreeBlocks();
  const std::string requests = Requests();
  const int64_t before = AllocatedBlockBytes();
  const Allowance allowance(kAllowed);
  ASSERT_TRUE(peer.side.session.Receive(Span(requests), peer.now));
  EXPECT_GT(peer.side.session.untaken(), 0u);
  EXPECT_GT(peer.side.requests.size(), 8u);
  EXPECT_LT(peer.side.requests.size(), 100u);
  EXPECT_LT(AllocatedBlockBytes() - before, kAllowed + kHead);
}

TEST(HeldInput, EachInputTakesAtLeastOneFrameAndNoneIsLostOrTakenTwice) {
  RawPeer peer;
  const std::string requests = Requests();
  const Allowance none(0);
  ByteSpan left = Span(requests);
  int inputs = 0;
  for (; !left.empty(); ++inputs) {
    ASSERT_TRUE(peer.side.session.Receive(left, peer.now));
    ASSERT_LT(peer.side.session.untaken(), left.size());
    left = left.last(peer.side.session.untaken());
  }
  EXPECT_EQ(inputs, kRequests);
  EXPECT_EQ(peer.side.requests.size(), size_t{kRequests});
  EXPECT_EQ(peer.side.protocol_error, "");
}

TEST(HeldInput, AllIsTakenWhereAsMuchIsAllowed) {
  RawPeer peer;
  ASSERT_TRUE(peer.side.session.Receive(Span(Requests()), peer.now));
  EXPECT_EQ(peer.side.session.untaken(), 0u);
  EXPECT_EQ(peer.side.requests.size(), size_t{kRequests});
}

// The output is never serialised, as when its peer does not read.
TEST(HeldInput, StreamsThatWereResetAreFreedAlthoughNothingIsWritten) {
  RawPeer peer(Session::Role::kClient);
  RecordingHandler handler;
  const auto reset_some = [&] {
    for (int i = 0; i < kRequests; ++i) {
      Stream& stream = peer.side.session.Open(handler);
      for (const auto& [name, value] : RequestHead()) stream.head().Add(name, value);
      stream.SendHead(true);
      stream.Reset(8);
    }
    peer.side.session.FreeEnded();
  };
  reset_some();
  const int64_t once = AllocatedBlockBytes();
  for (int i = 0; i < 5; ++i) reset_some();
  EXPECT_LE(AllocatedBlockBytes(), once + 64 * 1024);
}

}  // namespace
}  // namespace levee::h2_test
