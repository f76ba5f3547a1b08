// SPDX-License-Identifier: Apache-2.0
// Fields of requests and answers, grpc-timeout, and PINGs.
#include <google/protobuf/descriptor.pb.h>

#include <chrono>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "integration/faulty_service.h"
#include "integration/scripted.h"
#include "wire/retry_report.h"
#include "wire/timeout.h"

namespace levee {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;

TEST(WireFields, AnUpperCaseNameIsMalformed) {  // RFC 9113, section 8.2.1
  Wire wire(ForEach(TellHead));
  const RawAnswer answer = wire.client.AnswerTo(wire.client.Call({{"X-Upper", "1"}}));
  EXPECT_EQ(answer.reset, static_cast<uint32_t>(H2Error::kProtocol));
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).grpc_status(), "0");
}

// RFC 9113, section 8.3.1, and RFC 9110, section 5.5. Levee and the upstream could take such a call
// for two different ones.
TEST(WireFields, H15_ACallWhoseAddressIsAmbiguousIsMalformed) {
  Wire wire(ForEach(TellHead));
  const std::string authority = RawClient::CallHead()[3].second;
  std::vector<HeaderList> heads = {
      RawClient::CallHead({{"host", "other.test"}}),
      RawClient::CallHead({{"host", authority}, {"host", authority}}),
  };
  for (const char* path :
       {"/test.Echo/Un ary", "/test.Echo/\1", "/test.Echo/\t", "/test.Echo/\x7f"}) {
    heads.push_back(RawClient::CallHead());
    heads.back()[2].second = path;
  }
  for (const HeaderList& head : heads) {
    const RawAnswer answer = wire.client.AnswerTo(wire.client.Open(head, true));
    EXPECT_EQ(answer.reset, static_cast<uint32_t>(H2Error::kProtocol)) << head.back().second;
  }
  EXPECT_EQ(wire.upstream.connections(), 0);
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call({{"host", authority}})).grpc_status(), "0");
}

TEST(WireFields, PathAndAuthorityArriveAsSent) {
  Wire wire(ForEach(TellHead));
  HeaderList head = RawClient::CallHead();
  head[2].second = "/Pkg.Service/Method%20x?q=1;2";
  head[3].second = "Shop.Test:50051";
  const RawAnswer answer = wire.client.AnswerTo(wire.client.Open(head, true));
  EXPECT_THAT(Values(answer.trailers, "told"),
              HasSubstr("|:path=/Pkg.Service/Method%20x?q=1;2|:authority=Shop.Test:50051|"));
}

const HeaderList kOdd = {{"x-b", "2"},
                         {"x-a", "1"},
                         {"x-b", "1"},
                         {"x-empty", ""},
                         {"x-b-bin", "AAE"},
                         {"x-b-bin", "AAE="},
                         {"x-b", "3, 2"},
                         {"x-8bit", "\xc3\xa9\xff"},
                         {"grpc-tags-bin", "/+8"}};

TEST(WireFields, OddOnesOfARequestArriveInTheirOrder) {
  Told<HeaderList> head;
  Wire wire(ForEach([&](UpstreamPeer& peer, const RawRequest& request) {
    head.Tell({request.head.begin() + 7, request.head.end()});
    peer.Answer(request.stream);
  }));
  wire.client.AnswerTo(wire.client.Call(kOdd));
  HeaderList arrived = head.Next().value_or(HeaderList());
  ASSERT_EQ(arrived.size(), kOdd.size() + 2);
  EXPECT_EQ(arrived[kOdd.size()].first, "via");  // The last two are the sidecar's own.
  EXPECT_EQ(arrived.back().first, kRetriesHeader);
  arrived.resize(kOdd.size());
  EXPECT_EQ(arrived, kOdd);
}

TEST(WireFields, OddOnesOfHeadAndTrailersArriveInTheirOrder) {
  HeaderList head = {{":status", "200"}, {"content-type", "application/grpc"}};
  head.insert(head.end(), kOdd.begin(), kOdd.end());
  Wire wire(ForEach([&](UpstreamPeer& peer, const RawRequest& request) {
    peer.WriteHeaders(request.stream, head, false);
    peer.AnswerTrailers(request.stream, 0, kOdd);
  }));
  const RawAnswer answer = wire.client.AnswerTo(wire.client.Call());
  EXPECT_EQ(answer.head, head);
  HeaderList trailers = {{"grpc-status", "0"}};
  trailers.insert(trailers.end(), kOdd.begin(), kOdd.end());
  EXPECT_EQ(answer.trailers, trailers);
}

TEST(WireFields, AStatusMessageWithSpacesAtItsEndsArrivesFromAGrpcService) {
  FaultyService service(
      [](const SeenCall&) { return Fails(StatusCode::NOT_FOUND, " no such cart: "); });
  SidecarProcess sidecar({.endpoints = {service.address()}, .retry = kNoRetry});
  EXPECT_EQ(CallUnary(NewChannel(sidecar.address())).status.error_message(), " no such cart: ");
}

TEST(WireFields, ValuesWithSpacesAtTheirEndsAreNotLost) {
  Wire wire(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerTrailersOnly(request.stream, 0, {{"x-told", Values(request.head, "x-value")}});
  }));
  const RawAnswer answer = wire.client.AnswerTo(wire.client.Call({{"x-value", " v "}}));
  EXPECT_EQ(Values(answer.head, "x-told"), " v ");
}

// The timeouts that attempts arrive with; the first `failures` of each call fail.
class Timeouts {
 public:
  explicit Timeouts(int failures = 0, const std::string& retry = kNoRetry)
      : upstream_(ForEach([this, failures](UpstreamPeer& peer, const RawRequest& request) {
          told.Tell(Values(request.head, "grpc-timeout"));
          const std::string before = Values(request.head, "grpc-previous-rpc-attempts");
          const bool fails = std::atoi(before.c_str()) < failures;
          peer.AnswerTrailersOnly(request.stream, fails ? 14 : 0);
        })),
        sidecar_({.endpoints = {upstream_.address()}, .retry = retry}),
        client_(sidecar_.address()) {}

  std::string StatusWith(const std::string& timeout) {
    return client_.AnswerTo(client_.Call({{"grpc-timeout", timeout}})).grpc_status();
  }

  Told<std::string> told;

 private:
  RawUpstream upstream_;
  SidecarProcess sidecar_;
  RawClient client_;
};

TEST(WireTimeout, OfEveryUnitReachesTheUpstreamALittleShorter) {
  Timeouts run;
  for (const std::string text : {"999999H", "99999999M", "99999999S", "99999999m", "99999999u",
                                 "1H", "1M", "90S", "90000m", "90000000u"}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(run.StatusWith(text), "0") << text;
    const absl::Duration took = absl::FromChrono(std::chrono::steady_clock::now() - start);
    const std::string told = run.told.Next().value_or("");
    EXPECT_LE(told.size(), 9u) << told;
    const auto given = ParseGrpcTimeout(text), left = ParseGrpcTimeout(told);
    ASSERT_TRUE(left.has_value()) << text << " became " << told;
    EXPECT_LE(*left, *given) << text << " became " << told;
    // Eight digits hold no more.
    EXPECT_GE(*left, *given - took - *given / 1'000'000) << text << " became " << told;
  }
}

TEST(WireTimeout, OfALaterAttemptIsShorterByTheBackoff) {  // A22
  Timeouts run(2,
               "{min_remaining: off, budget: {ratio: 100}, backoff: {constant: 50ms}, "
               "max_attempts: 3}");
  EXPECT_EQ(run.StatusWith("90S"), "0");
  std::vector<absl::Duration> left;
  for (int i = 0; i < 3; ++i) {
    left.push_back(ParseGrpcTimeout(run.told.Next().value_or("")).value_or(absl::ZeroDuration()));
  }
  EXPECT_LE(left[0], absl::Seconds(90));
  EXPECT_LE(left[1], left[0] - absl::Milliseconds(50));
  EXPECT_LE(left[2], left[1] - absl::Milliseconds(50));
  EXPECT_GT(left[2], absl::ZeroDuration());
}

// A server would end the first stream of a method that nobody knows.
TEST(WireTimeout, OfThePolicyReachesAnUpstreamIfADescriptorSaysThatTheCallIsUnary) {
  google::protobuf::FileDescriptorSet set;
  auto& service = *set.add_file()->add_service();
  set.mutable_file(0)->set_package("test");
  service.set_name("Echo");
  service.add_method()->set_name("Unary");
  const TempFile descriptors(set.SerializeAsString());
  Told<std::string> told;
  RawUpstream upstream(ForEach([&](UpstreamPeer& peer, const RawRequest& request) {
    told.Tell(Values(request.head, "grpc-timeout"));
    peer.Answer(request.stream);
  }));
  SidecarProcess sidecar({.endpoints = {upstream.address()},
                          .policy = ", timeout: 90s",
                          .upstream = ", descriptor_set: \"" + descriptors.path() + "\""});
  RawClient client(sidecar.address());
  for (const HeaderList& more : {HeaderList{}, HeaderList{{"grpc-timeout", "1H"}}}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(client.AnswerTo(client.Call(more)).grpc_status(), "0");
    const absl::Duration took = absl::FromChrono(std::chrono::steady_clock::now() - start);
    const auto left = ParseGrpcTimeout(told.Next().value_or(""));
    ASSERT_TRUE(left.has_value());
    EXPECT_LE(*left, absl::Seconds(90));
    EXPECT_GE(*left, absl::Seconds(90) - took);
  }
}

TEST(WirePing, NoneIsSentUpstreamUnlessConfigured) {
  Told<int> pings;
  RawUpstream upstream([&](UpstreamPeer& peer) {
    peer.Handshake();
    int count = 0;
    while (const auto frame = peer.Read()) {
      count += frame->type == FrameType::kPing;
      if (frame->type == FrameType::kHeaders) peer.Decode(*frame);
      if (!frame->ends_stream() || frame->type != FrameType::kData) continue;
      peer.Answer(frame->stream);
      pings.Tell(count);
    }
  });
  SidecarProcess sidecar({.endpoints = {upstream.address()}});
  const auto codes = RunLoad({NewChannel(sidecar.address())}, {.calls = 200, .per_second = 500});
  EXPECT_EQ(codes.at(StatusCode::OK), 200);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(pings.Next(), 0);
}

TEST(WirePing, AllOfACallerAreAnsweredWithinAndBetweenCalls) {
  Wire wire(
      ForEach([](UpstreamPeer& peer, const RawRequest& request) { peer.Answer(request.stream); }));
  const int32_t stream = wire.client.Open(RawClient::CallHead(), false);
  for (int i = 0; i < 20; ++i) {
    const std::string payload = "ping" + std::to_string(1000 + i);
    wire.client.Write(FrameType::kPing, 0, 0, payload);
    for (auto frame = wire.client.Read();; frame = wire.client.Read()) {
      ASSERT_TRUE(frame.has_value());
      if (frame->type != FrameType::kPing) continue;
      EXPECT_EQ(frame->payload, payload);
      break;
    }
  }
  wire.client.WriteData(stream, GrpcMessage("x"), true);
  EXPECT_EQ(wire.client.AnswerTo(stream).grpc_status(), "0");
}

}  // namespace
}  // namespace levee
