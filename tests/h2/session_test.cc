// SPDX-License-Identifier: Apache-2.0
#include "h2/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/read_blocks.h"
#include "h2/session_pair.h"
#include "wire/status.h"

namespace levee::h2 {
namespace {

using testing::HasSubstr;

constexpr char kRequestHead[] = ":method=POST :scheme=http :path=/a.B/C :authority=x:1";
constexpr char kResponseHead[] = "head :status=200 content-type=application/grpc";

void AnswerWith(Stream& stream, std::string_view body) {
  FillResponseHead(stream);
  stream.SendHead(false);
  stream.SendData(Bytes(body), false);
  stream.trailers().Add("grpc-status", "0");
  stream.SendTrailers();
}

TEST(Session, CallAndAnswerArriveAsTheyWereSent) {
  SessionPair pair;
  RecordingHandler call;
  pair.StartCall(call).SendData(Bytes("question"), true);
  pair.Pump();
  ASSERT_EQ(pair.server.requests.size(), 1u);
  EXPECT_EQ(pair.server.request(0).events, std::string("head ") + kRequestHead + "; end");
  EXPECT_EQ(pair.server.request(0).body, "question");

  AnswerWith(*pair.server.request(0).stream, "answer");
  pair.Pump();
  EXPECT_EQ(call.body, "answer");
  EXPECT_EQ(call.events, std::string(kResponseHead) + "; trailers grpc-status=0; closed complete");
  EXPECT_EQ(pair.client.session.stream_count(), 0u);
  EXPECT_EQ(pair.server.session.stream_count(), 0u);
}

TEST(Session, BytesOneAtATimeAreTheSame) {
  SessionPair pair;
  RecordingHandler call;
  pair.StartCall(call).SendData(Bytes("question"), true);
  pair.Pump(/*piece=*/1);
  AnswerWith(*pair.server.request(0).stream, "answer");
  pair.Pump(/*piece=*/1);
  EXPECT_EQ(pair.server.request(0).body, "question");
  EXPECT_EQ(call.body, "answer");
  EXPECT_THAT(call.events, HasSubstr("closed complete"));
}

TEST(Session, TrailersOnlyIsOneHeaderBlock) {
  SessionPair pair;
  RecordingHandler call;
  pair.StartCall(call, /*end=*/true);
  pair.Pump();
  Stream& stream = *pair.server.request(0).stream;
  FillResponseHead(stream);
  stream.head().Add("grpc-status", "14");
  stream.SendHead(/*end=*/true);
  pair.Pump();
  EXPECT_EQ(call.events,
            "only :status=200 content-type=application/grpc grpc-status=14; closed complete");
}

TEST(Session, HalfCloseAfterTheDataIsForwarded) {
  SessionPair pair;
  RecordingHandler call;
  Stream& stream = pair.StartCall(call);
  stream.SendData(Bytes("a"), false);
  pair.Pump();
  EXPECT_EQ(pair.server.request(0).events, std::string("head ") + kRequestHead);
  stream.SendData(Chunk(), true);
  pair.Pump();
  EXPECT_EQ(pair.server.request(0).body, "a");
  EXPECT_EQ(pair.server.request(0).events, std::string("head ") + kRequestHead + "; end");
}

TEST(Session, AnswerBeforeTheRequestEndsStopsTheCallerWithoutAnError) {
  SessionPair pair;
  RecordingHandler call;
  pair.StartCall(call).SendData(Bytes("first"), false);
  pair.Pump();
  AnswerWith(*pair.server.request(0).stream, "early");
  pair.Pump();
  EXPECT_EQ(call.body, "early");
  EXPECT_THAT(call.events, HasSubstr("trailers grpc-status=0; closed complete"));
  EXPECT_EQ(pair.server.session.stream_count(), 0u);
}

TEST(Session, MessagesOfAStreamKeepTheirOrder) {
  SessionPair pair;
  RecordingHandler call;
  Stream& stream = pair.StartCall(call);
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string message = "message " + std::to_string(i) + ".";
    stream.SendData(Bytes(message), i == 999);
    expected += message;
    if (i % 7 == 0) pair.Pump();
  }
  pair.Pump();
  EXPECT_EQ(pair.server.request(0).body, expected);
  EXPECT_EQ(call.sent, expected.size());
}

TEST(Session, TrailersBehindDataThatFillsTheOutputWaitForRoom) {
  SessionPair pair;
  RecordingHandler call;
  pair.StartCall(call, /*end=*/true);
  pair.Pump();
  Stream& stream = *pair.server.request(0).stream;
  FillResponseHead(stream);
  stream.SendHead(false);
  pair.Pump();
  // Two DATA frames of 16 KiB, each with its head, are exactly as large as the output.
  stream.SendData(Bytes(std::string(2 * 16'384, 'a')), false);
  stream.trailers().Add("grpc-status", "0");
  stream.SendTrailers();
  pair.client.session.Receive(pair.server.Take(OutputBuffer::kMinimum), Instant());
  pair.Pump();
  EXPECT_EQ(call.body.size(), 2 * 16'384u);
  EXPECT_THAT(call.events, HasSubstr("trailers grpc-status=0; closed complete"));
}

// The pieces that a server hands on of a body of this size that is read at once.
void SendAtOnce(SessionPair& pair, size_t size, ReadBlocks& input) {
  RecordingHandler call;
  Stream& stream = pair.StartCall(call);
  pair.Pump();
  stream.SendData(Bytes(std::string(size, 'x')), true);
  const std::vector<uint8_t> bytes = pair.client.Take(1 << 20);
  std::copy(bytes.begin(), bytes.end(), input.memory().begin());
  const Chunk shared = input.Filled(bytes.size());
  pair.server.session.Receive(shared.bytes(), Instant(), shared);
  EXPECT_EQ(pair.server.request(0).body.size(), size);
  stream.Detach();
}

size_t BytesWithin(std::span<const uint8_t> memory, const std::vector<Chunk>& pieces) {
  size_t bytes = 0;
  for (const Chunk& piece : pieces) {
    if (piece.data() >= memory.data() && piece.data() < memory.data() + memory.size()) {
      bytes += piece.size();
    }
  }
  return bytes;
}

TEST(Session, LargeBodiesAreHandedOnWhereTheyWereRead) {
  SessionPair pair;
  ReadBlocks input(1 << 20);
  const std::span<const uint8_t> memory = input.memory();
  SendAtOnce(pair, 10 * 16'384 + 100, input);
  EXPECT_EQ(BytesWithin(memory, pair.server.request(0).pieces), 10 * 16'384u);
  EXPECT_NE(input.memory().data(), memory.data());
}

TEST(Session, SmallBodiesKeepNoLargeMemoryAlive) {
  SessionPair pair;
  ReadBlocks input(1 << 20);
  const std::span<const uint8_t> memory = input.memory();
  SendAtOnce(pair, 7 * 16'384, input);
  EXPECT_EQ(BytesWithin(memory, pair.server.request(0).pieces), 0u);
  EXPECT_EQ(input.memory().data(), memory.data());
}

TEST(Session, DataStopsAtTheWindowUntilItIsCredited) {
  Session::Options options;
  options.stream_window_bytes = 100'000;
  SessionPair pair({}, options);
  pair.server.credit_requests = false;
  RecordingHandler call;
  Stream& stream = pair.StartCall(call);
  pair.Pump();  // The window is told in SETTINGS.
  stream.SendData(Bytes(std::string(250'000, 'x')), true);
  pair.Pump();
  EXPECT_EQ(pair.server.request(0).body.size(), 100'000u);
  EXPECT_EQ(stream.queued_bytes(), 150'000u);

  pair.server.request(0).stream->Credit(100'000);
  pair.Pump();
  EXPECT_EQ(pair.server.request(0).body.size(), 200'000u);
  pair.server.request(0).stream->Credit(100'000);
  pair.Pump();
  EXPECT_EQ(pair.server.request(0).body.size(), 250'000u);
  EXPECT_THAT(pair.server.request(0).events, HasSubstr("end"));
}

TEST(Session, StreamThatIsNotReadDoesNotHoldUpOthers) {
  Session::Options options;
  options.connection_window_bytes = 300'000;
  SessionPair pair({}, options);
  pair.server.credit_requests = false;
  // Together they leave more unread than the connection's window holds.
  RecordingHandler stuck[4];
  for (RecordingHandler& call : stuck) {
    pair.StartCall(call).SendData(Bytes(std::string(200'000, 'x')), false);
  }
  pair.Pump();
  RecordingHandler call;
  pair.StartCall(call).SendData(Bytes(std::string(200'000, 'y')), true);
  pair.Pump();
  EXPECT_EQ(pair.server.request(4).body.size(), 200'000u);
  EXPECT_THAT(pair.server.request(4).events, HasSubstr("end"));
}

TEST(Session, ResetReachesThePeerWithItsCode) {
  SessionPair pair;
  RecordingHandler first;
  RecordingHandler second;
  Stream& stream = pair.StartCall(first);
  pair.StartCall(second);
  pair.Pump();
  stream.Reset(kResetCancel);
  pair.server.request(1).stream->Reset(kResetRefusedStream);
  pair.Pump();
  EXPECT_THAT(pair.server.request(0).events, HasSubstr("closed reset 8"));
  EXPECT_THAT(second.events, HasSubstr("closed reset 7"));
  EXPECT_EQ(first.events, "");
}

TEST(Session, CallCancelledBeforeItLeftNeverReachesThePeer) {
  SessionPair pair;
  pair.Pump();
  RecordingHandler call;
  Stream& stream = pair.StartCall(call, /*end=*/true);
  stream.Reset(kResetCancel);
  pair.Pump();
  EXPECT_TRUE(pair.server.requests.empty());
  EXPECT_EQ(pair.client.session.stream_count(), 0u);
}

TEST(Session, MetadataOverTheLimitIsCutAndMarked) {
  Session::Options options;
  options.metadata_bytes = 1000;
  SessionPair pair({}, options);
  RecordingHandler call;
  Stream& stream = pair.client.session.Open(call);
  call.stream = &stream;
  for (const char* name : {":method", ":scheme", ":path", ":authority"}) {
    stream.head().Add(name, name == std::string(":path") ? "/a.B/C" : "http");
  }
  stream.head().Add("x-large", std::string(2000, 'v'));
  stream.SendHead(true);
  RecordingHandler fine;
  pair.StartCall(fine, true);
  pair.Pump();
  ASSERT_EQ(pair.server.requests.size(), 2u);
  EXPECT_THAT(pair.server.request(0).events, HasSubstr("(cut)"));
  EXPECT_EQ(pair.server.request(1).events, std::string("only ") + kRequestHead);
}

TEST(Session, StreamsOpenedNeverExceedThePeersLimit) {
  Session::Options options;
  options.max_concurrent_streams = 2;
  SessionPair pair({}, options);
  EXPECT_EQ(pair.client.session.FreeSlots(), 100);  // Until SETTINGS have come.
  pair.Pump();
  EXPECT_EQ(pair.client.session.FreeSlots(), 2);
  RecordingHandler first;
  RecordingHandler second;
  pair.StartCall(first, true);
  pair.StartCall(second, true);
  EXPECT_EQ(pair.client.session.FreeSlots(), 0);
  pair.Pump();
  AnswerWith(*pair.server.request(0).stream, "x");
  pair.Pump();
  EXPECT_EQ(pair.client.session.FreeSlots(), 1);
}

TEST(Session, APeerThatTakesTheLastPlaceIsToldOfOnce) {
  Session::Options options;
  options.max_concurrent_streams = 2;
  SessionPair pair({}, options);
  pair.Pump();
  RecordingHandler first;
  RecordingHandler second;
  pair.StartCall(first, true);
  pair.Pump();
  EXPECT_TRUE(pair.server.limits.empty());
  pair.StartCall(second, true);
  pair.Pump();
  EXPECT_EQ(pair.server.limits, std::vector{SessionLimit::kStreams});
}

TEST(Session, StreamsThatHaveNotLeftEndWhenThePeerAllowsFewer) {
  SessionPair pair;
  RecordingHandler early, late, later;
  pair.StartCall(early, /*end=*/true);
  pair.Pump();
  pair.StartCall(late, /*end=*/true);
  pair.StartCall(later, /*end=*/true).Reset(kResetCancel);
  // SETTINGS with MAX_CONCURRENT_STREAMS = 0.
  pair.client.session.Receive(std::vector<uint8_t>{0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0},
                              Instant());
  // The SETTINGS' acknowledgement is all that is said.
  EXPECT_EQ(pair.client.Take().size(), 9u);
  EXPECT_EQ(late.events, "closed lost before it left");
  EXPECT_EQ(later.events, "");
  EXPECT_EQ(pair.client.session.stream_count(), 1u);

  AnswerWith(*pair.server.request(0).stream, "answer");
  pair.client.session.Receive(pair.server.Take(), Instant());
  EXPECT_THAT(early.events, HasSubstr("closed complete"));
  EXPECT_EQ(pair.client.session.stream_count(), 0u);
}

TEST(Session, GoawayExcludesOnlyStreamsThePeerHasNotSeen) {
  SessionPair pair;
  RecordingHandler seen;
  pair.StartCall(seen, true);
  pair.Pump();
  RecordingHandler late;
  pair.StartCall(late, true);
  const std::vector<uint8_t> on_its_way = pair.client.Take();
  pair.server.session.Shutdown();
  const std::vector<uint8_t> goaway = pair.server.Take();
  pair.client.session.Receive(goaway, Instant());
  EXPECT_EQ(late.events, "closed excluded");
  EXPECT_EQ(pair.client.goaways, 1);
  EXPECT_EQ(pair.client.session.FreeSlots(), 0);

  AnswerWith(*pair.server.request(0).stream, "still");
  pair.Pump();
  EXPECT_EQ(seen.body, "still");
  EXPECT_THAT(seen.events, HasSubstr("closed complete"));
}

TEST(Session, AnnouncedShutdownLetsStreamsOnTheirWayThrough) {
  SessionPair pair;
  RecordingHandler call;
  pair.StartCall(call, true);
  const std::vector<uint8_t> on_its_way = pair.client.Take();
  pair.server.session.AnnounceShutdown();
  pair.client.session.Receive(pair.server.Take(), Instant());
  EXPECT_EQ(pair.client.goaways, 1);
  pair.server.session.Receive(on_its_way, Instant());
  ASSERT_EQ(pair.server.requests.size(), 1u);
  AnswerWith(*pair.server.request(0).stream, "x");
  pair.Pump();
  EXPECT_THAT(call.events, HasSubstr("closed complete"));
}

TEST(Session, AfterTheLastGoawayNoneFollowsThatWouldTakeMore) {
  SessionPair pair;
  RecordingHandler call;
  pair.StartCall(call, true);
  pair.Pump();
  pair.server.session.Shutdown();
  pair.Pump();
  ASSERT_EQ(pair.client.goaways, 1);
  pair.server.session.AnnounceShutdown();
  pair.server.session.Shutdown();
  pair.Pump();
  EXPECT_EQ(pair.client.goaways, 1);
}

TEST(Session, LostConnectionTellsWhetherTheHeadHadLeft) {
  SessionPair pair;
  pair.Pump();
  RecordingHandler left;
  pair.StartCall(left, true);
  pair.client.Take();
  const uint64_t written = pair.client.session.serialized_bytes();
  RecordingHandler serialised;
  pair.StartCall(serialised, true);
  pair.client.Take();
  RecordingHandler queued;
  pair.StartCall(queued, true);
  pair.client.session.ConnectionLost(written);
  EXPECT_EQ(left.events, "closed lost");
  EXPECT_EQ(serialised.events, "closed lost before it left");
  EXPECT_EQ(queued.events, "closed lost before it left");
  EXPECT_TRUE(pair.client.session.Done());
}

TEST(Session, BytesThatAreNoFramesEndTheSessionWithGoaway) {
  SessionPair pair;
  RecordingHandler call;
  pair.StartCall(call, true);
  pair.Pump();
  // A DATA frame on stream 0 (RFC 9113, section 6.1).
  const uint8_t malformed[] = {0, 0, 1, 0, 0, 0, 0, 0, 0, 'x'};
  pair.server.session.Receive(malformed, Instant());
  pair.client.session.Receive(pair.server.Take(), Instant());
  EXPECT_EQ(pair.server.protocol_error, "DATA on a stream that is not open");
  EXPECT_EQ(pair.client.goaways, 1);
  EXPECT_TRUE(pair.server.session.Done());
}

TEST(Session, NeverIndexedFieldsStayNeverIndexed) {
  SessionPair pair;
  RecordingHandler call;
  Stream& stream = pair.client.session.Open(call);
  call.stream = &stream;
  stream.head().Add(":method", "POST");
  stream.head().Add(":scheme", "http");
  stream.head().Add(":path", "/a.B/C");
  stream.head().Add("authorization", "secret", /*never_index=*/true);
  stream.SendHead(true);
  const std::vector<uint8_t> bytes = pair.client.Take();
  // RFC 7541, section 6.2.3: the representation starts with 0001, here with the index of
  // "authorization" (23) in the static table.
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_NE(text.find("\x1f\x08"), std::string::npos);
}

}  // namespace
}  // namespace levee::h2
