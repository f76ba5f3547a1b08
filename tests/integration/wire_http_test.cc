// SPDX-License-Identifier: Apache-2.0
// HTTP below gRPC: statuses, content types, informational heads, fields, time and PINGs.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "integration/scripted.h"

namespace levee {
namespace {

using grpc::StatusCode;

struct HttpCase {
  std::string status;
  StatusCode code;
};

// grpc/doc/http-grpc-status-mapping.md.
const HttpCase kHttpCases[] = {
    {"400", StatusCode::INTERNAL},          {"401", StatusCode::UNAUTHENTICATED},
    {"403", StatusCode::PERMISSION_DENIED}, {"404", StatusCode::UNIMPLEMENTED},
    {"429", StatusCode::UNAVAILABLE},       {"431", StatusCode::INTERNAL},
    {"502", StatusCode::UNAVAILABLE},       {"503", StatusCode::UNAVAILABLE},
    {"504", StatusCode::UNAVAILABLE},       {"200", StatusCode::UNKNOWN},
    {"204", StatusCode::UNKNOWN},           {"302", StatusCode::UNKNOWN},
    {"408", StatusCode::UNKNOWN},           {"418", StatusCode::UNKNOWN},
    {"500", StatusCode::UNKNOWN},           {"501", StatusCode::UNKNOWN},
};

// Answers with the HTTP status that stands in x-http, and with what `more` adds.
using Adder = std::function<void(UpstreamPeer&, int32_t stream, HeaderList head)>;
RawUpstream::Script AnswerHttp(const Adder& more) {
  return ForEach([more](UpstreamPeer& peer, const RawRequest& request) {
    more(peer, request.stream, {{":status", Values(request.head, "x-http")}});
  });
}

class HttpStatus : public testing::Test {
 protected:
  void ExpectMapped(const Adder& more) {
    Hostile run(AnswerHttp(more), kNoRetry);
    for (const auto& [status, code] : kHttpCases) {
      const Reply reply = Ask(run, status);
      EXPECT_EQ(reply.status.error_code(), code) << status;
    }
  }

  static Reply Ask(Hostile& run, const std::string& status) {
    return CallUnary(run.channel, "x",
                     [&](grpc::ClientContext& c) { c.AddMetadata("x-http", status); });
  }
};

TEST_F(HttpStatus, WithoutBodyIsMapped) {
  ExpectMapped([](UpstreamPeer& peer, int32_t stream, const HeaderList& head) {
    peer.WriteHeaders(stream, head, true);
  });
}

TEST_F(HttpStatus, WithATextBodyIsMapped) {
  ExpectMapped([](UpstreamPeer& peer, int32_t stream, HeaderList head) {
    head.emplace_back("content-type", "text/html");
    peer.WriteHeaders(stream, head, false);
    peer.WriteData(stream, "<html>no</html>", true);
  });
}

TEST_F(HttpStatus, WithGrpcsContentTypeAndBodyIsMapped) {
  ExpectMapped([](UpstreamPeer& peer, int32_t stream, HeaderList head) {
    head.emplace_back("content-type", "application/grpc");
    peer.WriteHeaders(stream, head, false);
    peer.WriteData(stream, "", true);
  });
}

TEST_F(HttpStatus, AGrpcStatusRulesOverIt) {
  Hostile run(AnswerHttp([](UpstreamPeer& peer, int32_t stream, HeaderList head) {
                head.emplace_back("content-type", "application/grpc");
                head.emplace_back("grpc-status", "5");
                peer.WriteHeaders(stream, head, true);
              }),
              kNoRetry);
  for (const auto& [status, code] : kHttpCases) {
    EXPECT_EQ(Ask(run, status).status.error_code(), StatusCode::NOT_FOUND) << status;
  }
}

TEST_F(HttpStatus, OverWhichAGrpcStatusRulesIsNotForwarded) {
  Wire wire(AnswerHttp([](UpstreamPeer& peer, int32_t stream, HeaderList head) {
    head.emplace_back("content-type", "text/html");
    head.emplace_back("grpc-status", "5");
    head.emplace_back("x-trailer", "kept");
    peer.WriteHeaders(stream, head, true);
  }));
  const RawAnswer answer = wire.client.AnswerTo(wire.client.Call({{"x-http", "502"}}));
  EXPECT_TRUE(answer.head_ended);
  EXPECT_EQ(answer.head, HeaderList({{":status", "200"},
                                     {"content-type", "application/grpc"},
                                     {"grpc-status", "5"},
                                     {"x-trailer", "kept"}}));
}

TEST_F(HttpStatus, NeverReachesTheCaller) {
  Wire wire(AnswerHttp([](UpstreamPeer& peer, int32_t stream, HeaderList head) {
    head.emplace_back("content-type", "text/html");
    head.emplace_back("x-secret", "of some proxy");
    peer.WriteHeaders(stream, head, false);
    peer.WriteData(stream, "<html>no</html>", true);
  }));
  const RawAnswer answer = wire.client.AnswerTo(wire.client.Call({{"x-http", "403"}}));
  EXPECT_TRUE(answer.head_ended);
  EXPECT_EQ(Values(answer.head, ":status"), "200");
  EXPECT_EQ(Values(answer.head, "content-type"), "application/grpc");
  EXPECT_EQ(answer.grpc_status(), "7");
  EXPECT_EQ(Values(answer.head, "x-secret"), "");
}

TEST(WireStatus, AnAnswerThatEndsWithoutOneIsUnknown) {
  Hostile run(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
                peer.AnswerHead(request.stream);
                peer.WriteData(request.stream, GrpcMessage("all"), false);
                peer.WriteHeaders(request.stream, {{"x-trailer", "but no status"}}, true);
              }),
              kNoRetry);
  const Reply reply = CallUnary(run.channel);
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNKNOWN);
  EXPECT_EQ(Values(reply.trailers, "x-trailer"), "but no status");
}

TEST(WireStatus, ANumberThatNobodyKnowsIsPassedOnAndCountedAsUnknown) {
  Wire wire(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerTrailersOnly(request.stream, 99);
  }));
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).grpc_status(), "99");
  EXPECT_TRUE(wire.sidecar.WaitForSum("levee_calls_total", {R"(code="UNKNOWN")"}, 1));
}

TEST(WireStatus, AMessageArrivesByteForByteInTrailersToo) {
  const std::string message = "%E2%98%BA caf%c3%a9 100% %zz ~";
  Wire wire(ForEach([&](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerHead(request.stream);
    peer.AnswerTrailers(request.stream, 9, {{"grpc-message", message}});
  }));
  EXPECT_EQ(Values(wire.client.AnswerTo(wire.client.Call()).trailers, "grpc-message"), message);
}

void WriteInformational(UpstreamPeer& peer, int32_t stream) {
  peer.WriteHeaders(stream, {{":status", "100"}}, false);
  peer.WriteHeaders(stream, {{":status", "103"}, {"link", "</x>"}, {"x-early", "1"}}, false);
}

TEST(Informational, HeadsBeforeAnAnswerAreNotForwarded) {
  Wire wire(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    WriteInformational(peer, request.stream);
    peer.Answer(request.stream);
  }));
  const RawAnswer answer = wire.client.AnswerTo(wire.client.Call());
  EXPECT_EQ(Values(answer.head, ":status"), "200");
  EXPECT_EQ(Values(answer.head, "x-early"), "");
  EXPECT_EQ(answer.body, GrpcMessage("fine"));
  EXPECT_EQ(answer.grpc_status(), "0");
}

TEST(Informational, HeadsHarmNoGrpcCaller) {
  Hostile run(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    WriteInformational(peer, request.stream);
    peer.Answer(request.stream);
  }));
  EXPECT_EQ(CallUnary(run.channel).body, "fine");
}

TEST(Informational, HeadsCommitNothingWhileTheCallerStillSends) {  // A8, A12
  Hostile run([](UpstreamPeer& peer) {
    peer.Handshake();
    auto request = peer.NextHead();
    if (!request.has_value()) return;
    WriteInformational(peer, request->stream);
    peer.AnswerTrailersOnly(request->stream, 14);
    request = peer.NextHead();
    if (request.has_value()) peer.Answer(request->stream);
    peer.ReadToEnd();
  });
  ByteCall call(run.channel, "/test.Echo/Chat");
  ASSERT_TRUE(call.Start());
  EXPECT_EQ(call.Read(), "fine");
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_EQ(run.sidecar.Sum("levee_retries_total", {R"(trigger="status")"}), 1);
}

HeaderList HeadWithType(const std::string& type) {
  HeaderList head = RawClient::CallHead();
  head[5].second = type;
  return head;
}

TEST(ContentType, AnyOfGrpcPassesBothWays) {
  Wire wire(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    const std::string type = Values(request.head, "content-type");
    peer.WriteHeaders(request.stream, {{":status", "200"}, {"content-type", type}}, false);
    peer.AnswerTrailers(request.stream, 0);
  }));
  for (const std::string type :
       {"application/grpc", "application/grpc+proto", "application/grpc+json",
        "application/grpc;charset=utf-8", "application/grpc+thrift; x=1"}) {
    const RawAnswer answer = wire.client.AnswerTo(wire.client.Open(HeadWithType(type), true));
    EXPECT_EQ(answer.grpc_status(), "0") << type;
    EXPECT_EQ(Values(answer.head, "content-type"), type);
  }
}

TEST(ContentType, H21_OfAnAnswerThatLeveeMakesIsTheRequests) {
  const std::string type = "application/grpc+json";
  Wire wire(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    HeaderList head = {{":status", "503"}, {"content-type", "text/html"}};
    const std::string status = Values(request.head, "x-status");
    if (!status.empty()) head.emplace_back("grpc-status", status);  // It rules.
    peer.WriteHeaders(request.stream, head, true);
  }));
  for (const std::string status : {"", "5"}) {
    HeaderList head = HeadWithType(type);
    if (!status.empty()) head.emplace_back("x-status", status);
    const RawAnswer mapped = wire.client.AnswerTo(wire.client.Open(head, true));
    EXPECT_EQ(mapped.grpc_status(), status.empty() ? "14" : status);
    EXPECT_EQ(Values(mapped.head, "content-type"), type);
  }
  HeaderList large = HeadWithType(type);
  large.emplace_back("x-large", std::string(150'000, 'x'));
  const RawAnswer refused = wire.client.AnswerTo(wire.client.Open(large, true));
  EXPECT_EQ(refused.grpc_status(), "8");
  EXPECT_EQ(Values(refused.head, "content-type"), type);
}

TEST(ContentType, H21_OfAnUpstreamsOwnHeadIsForwardedUntouched) {
  Wire wire(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    peer.WriteHeaders(
        request.stream,
        {{":status", "200"}, {"content-type", "application/grpc+proto;v=1"}, {"grpc-status", "5"}},
        true);
  }));
  const RawAnswer answer =
      wire.client.AnswerTo(wire.client.Open(HeadWithType("application/grpc+json"), true));
  EXPECT_EQ(answer.grpc_status(), "5");
  EXPECT_EQ(Values(answer.head, "content-type"), "application/grpc+proto;v=1");
}

TEST(ContentType, AnyOtherGets415AndReachesNobody) {
  Told<bool> arrived;
  Wire wire(ForEach([&](UpstreamPeer&, const RawRequest&) { arrived.Tell(true); }));
  for (const std::string type : {"application/json", "application/grpc-web", "application/grpcx",
                                 "application/grp", "text/plain", ""}) {
    const RawAnswer answer = wire.client.AnswerTo(wire.client.Open(HeadWithType(type), true));
    EXPECT_EQ(Values(answer.head, ":status"), "415") << type;
  }
  EXPECT_EQ(wire.upstream.connections(), 0);
}

constexpr char kHopByHop[][2][20] = {
    {"connection", "close"},          {"keep-alive", "timeout=5"}, {"proxy-connection", "close"},
    {"transfer-encoding", "chunked"}, {"upgrade", "h2c"},          {"te", "gzip"}};

TEST(HopByHop, FieldsOfARequestReachNoUpstream) {
  // RFC 9113, section 8.2.2: such a request is malformed.
  Wire wire(ForEach(TellHead));
  for (const auto& [name, value] : kHopByHop) {
    const RawAnswer answer = wire.client.AnswerTo(wire.client.Call({{name, value}}));
    EXPECT_EQ(answer.reset, static_cast<uint32_t>(H2Error::kProtocol)) << name;
  }
  EXPECT_EQ(wire.upstream.connections(), 0);
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).grpc_status(), "0");
}

TEST(HopByHop, FieldsOfAnAnswerReachNoCaller) {
  Wire wire(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerTrailersOnly(request.stream, 0,
                            {{Values(request.head, "x-name"), Values(request.head, "x-value")}});
  }));
  for (const auto& [name, value] : kHopByHop) {
    if (name == std::string("te")) continue;  // Of requests only.
    const RawAnswer answer =
        wire.client.AnswerTo(wire.client.Call({{"x-name", name}, {"x-value", value}}));
    EXPECT_EQ(answer.grpc_status(), "13") << name;
    EXPECT_EQ(Values(answer.head, name), "") << name;
  }
}

}  // namespace
}  // namespace levee
