// SPDX-License-Identifier: Apache-2.0
// Callers that attack what protects an application from them: the guard's queue, its headers, and
// the table of ties.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "integration/attacker.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/mebibyte.h"
#include "integration/raw_client.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

// A call with its whole request.
std::string WholeCall(int call, const HeaderList& more = {}) {
  return OpenCall(call, more) +
         EncodeFrame(FrameType::kData, kEndStream, StreamOf(call), GrpcMessage("x"));
}

// A sidecar of an application, whose one slot is taken, and which calls another service.
class GuardUnderAttack : public testing::Test {
 protected:
  void Start(const std::string& queue, const std::string& more = "",
             const std::string& streams = "count") {
    config_ = std::make_unique<TempFile>(
        absl::StrCat("listeners: [{name: egress, address: \"127.0.0.1:0\"},\n"
                     "  {name: ingress, address: \"127.0.0.1:0\", direction: inbound}]\n"
                     "metrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n"
                     "upstreams: [{name: app, endpoints: [\"",
                     application_.address(), "\"]}, {name: next, endpoints: [\"", next_.address(),
                     "\"]}]\n"
                     "routes: [{match: {listener: ingress}, upstream: app, policy: protect},\n"
                     "  {upstream: next}]\n"
                     "policies: [{name: default}, {name: protect,\n"
                     "  guard: {concurrency: {limit: 1, streams: ",
                     streams, "}, queue: {", queue, "}}}]\n", more));
    sidecar_ = SidecarProcess::Run({"--config", config_->path()});
    inbound_ = NewChannel(sidecar_->address("ingress"));
    outbound_ = NewChannel(sidecar_->address());
    EXPECT_TRUE(CallUnary(inbound_).status.ok());
    EXPECT_TRUE(CallUnary(outbound_).status.ok());
  }

  // A call whose deadline is later than an attack's end, on a slow machine too.
  std::unique_ptr<ByteCall> LongCall(const std::string& method) const {
    auto call = std::make_unique<ByteCall>(inbound_, method);
    call->context().set_deadline(std::chrono::system_clock::now() + 10 * kPatience);
    return call;
  }

  // Takes the slot.
  std::unique_ptr<ByteCall> Occupy() const {
    auto call = LongCall("/test.Echo/Chat");
    EXPECT_TRUE(call->Start());
    EXPECT_TRUE(call->Write("x"));
    EXPECT_EQ(call->Read(), "x");
    return call;
  }
  static void ExpectGoodEnd(ByteCall& call) {
    EXPECT_TRUE(call.HalfClose());
    EXPECT_TRUE(call.Finish().ok());
  }

  // Starts a call, which waits for the slot as the only one.
  std::unique_ptr<ByteCall> Wait(const std::string& priority = "64") const {
    auto call = LongCall("/test.Echo/Unary");
    call->context().AddMetadata("levee-priority", priority);
    EXPECT_TRUE(call->Start());
    EXPECT_TRUE(call->Write("patient"));
    EXPECT_TRUE(call->HalfClose());
    return call;
  }
  void AwaitWaiting(int calls) const {
    EXPECT_TRUE(sidecar_->WaitForSum("levee_guard_queue_length", {}, calls));
  }

  // Eager answers with a head before it has read a message, as a server may.
  FaultyService application_{
      [](const SeenCall& call) { return Answer{.send_head = call.method == "/test.Echo/Eager"}; }};
  FaultyService next_;
  std::unique_ptr<TempFile> config_;
  std::unique_ptr<SidecarProcess> sidecar_;
  ChannelPtr inbound_, outbound_;
};

// Two calls with 250 KB each on each of many connections. Nothing of it is kept for retries.
TEST_F(GuardUnderAttack, CallsThatWaitWithLargeBodiesEndAndNobodyElses) {
  constexpr long kLimit = 48 * kMiB;
  Start("max: 100000, interval: 1h", "limits: {memory: 48MiB, replay_bytes: 0B}\n");
  const long resident = sidecar_->process().ResidentBytes();
  const auto occupant = Occupy();
  std::vector<std::unique_ptr<Attacker>> attackers;
  std::unique_ptr<ByteCall> patient;
  int good = 0;
  for (int i = 0; i < 200; ++i) {
    attackers.push_back(std::make_unique<Attacker>(sidecar_->address("ingress")));
    for (const int call : {0, 1}) {
      std::string frames = OpenCall(call);
      for (int sent = 0; sent < 16; ++sent) {
        frames += EncodeFrame(FrameType::kData, 0, StreamOf(call), std::string(16'000, 'u'));
      }
      attackers.back()->Send(frames);
    }
    if (i == 50) {
      AwaitWaiting(2 * (i + 1));
      patient = Wait("10");
      AwaitWaiting(2 * (i + 1) + 1);
    }
    if (i % 4 == 0) good += CallUnary(outbound_, std::string(20'000, 'o')).status.ok();
  }
  EXPECT_GE(good, 47);  // of 50
  // There is room for further callers.
  const auto patiently = [](grpc::ClientContext& context) { context.set_wait_for_ready(true); };
  EXPECT_TRUE(CallUnary(NewChannel(sidecar_->address()), "new", patiently).status.ok());
  EXPECT_GT(Hits(*sidecar_, "memory"), 0);
  EXPECT_LE(sidecar_->Sum("levee_memory_bytes"), kLimit);
  EXPECT_LT(sidecar_->process().ResidentBytes() - resident, kLimit + kSanitizerMayKeep);
  ExpectGoodEnd(*occupant);
  EXPECT_EQ(patient->Read(), "patient");
  EXPECT_TRUE(patient->Finish().ok());
}

TEST_F(GuardUnderAttack, ADearCallIsServedBeforeAQueueFullOfOthers) {
  Start("max: 200, interval: 1h");
  const auto occupant = Occupy();
  Attacker attacker(sidecar_->address("ingress"));
  for (int call = 0; call < 400; ++call) {
    // Users that differ, and one whose name is as long as a header may be.
    const std::string user = call == 0 ? std::string(15'000, 'u') : std::to_string(call);
    ASSERT_TRUE(attacker.Send(WholeCall(call, {{"levee-priority", "65;u=" + user}})));
  }
  AwaitWaiting(200);
  const auto dear = Wait("10");
  EXPECT_TRUE(sidecar_->WaitForSum("levee_guard_calls_total",
                                   {R"(decision="refused")", R"(priority="64-95")"}, 201));
  ExpectGoodEnd(*occupant);
  EXPECT_EQ(dear->Read(), "patient");
  EXPECT_TRUE(dear->Finish().ok());
}

TEST_F(GuardUnderAttack, ACallerThatLiesOfItsRetriesMakesNobodyElseGiveUp) {
  Start("max: 0");
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(CallUnary(inbound_).status.ok());
  const auto occupant = Occupy();
  const auto lie = [](grpc::ClientContext& context) {
    context.AddMetadata("levee-retries", "a0=0, a3=999999999, refused=999999999");
  };
  EXPECT_FALSE(CallUnary(NewChannel(sidecar_->address("ingress")), "x", lie).status.ok());
  const Reply reply = CallUnary(inbound_);
  EXPECT_EQ(Values(reply.trailers, "levee-overload").substr(0, 9), "endpoint;");
  ExpectGoodEnd(*occupant);
}

// They end before the application could say that it has no such method.
TEST_F(GuardUnderAttack, PathsThatAreMadeUpTakeNoPlaceFromMethodsThatExist) {
  constexpr int kCalls = 70;
  Start("max: 1000, interval: 1h", "limits: {method_labels: 20}\n", "free");
  Attacker attacker(sidecar_->address("ingress"));
  for (int call = 0; call < kCalls; ++call) {
    HeaderList head = RawClient::CallHead();
    for (auto& [name, value] : head) {
      if (name == ":path") value = absl::StrCat("/test.Invented", call, "/Sleep");
    }
    ASSERT_TRUE(
        attacker.Send(EncodeFrame(FrameType::kHeaders, kEndHeaders, StreamOf(call), Encode(head)) +
                      EncodeFrame(FrameType::kData, 0, StreamOf(call), GrpcMessage("x"))));
    EXPECT_TRUE(application_.WaitFor([&] { return application_.calls() == call + 2; }));
    ASSERT_TRUE(attacker.Send(ResetCall(call)));
    EXPECT_TRUE(sidecar_->WaitForSum("levee_guard_in_flight", {}, 0));
  }
  const auto stream = Occupy();
  EXPECT_TRUE(stream->Write("y"));
  EXPECT_EQ(stream->Read(), "y");
  EXPECT_TRUE(sidecar_->WaitForSum("levee_guard_in_flight", {}, 0));
  // Now the method is known as one whose calls are streams.
  const auto second = Occupy();
  EXPECT_EQ(sidecar_->Sum("levee_guard_in_flight"), 0);
  ExpectGoodEnd(*stream);
  ExpectGoodEnd(*second);
  EXPECT_TRUE(sidecar_->WaitForSum("levee_calls_total", {R"(method="test.Echo/Chat")"}, 2));
}

// The one slot would be theirs until their calls' deadline, which they do not have.
TEST_F(GuardUnderAttack, HeadsWithoutMessagesHoldNoSlotThatOthersNeed) {
  Start("max: 100, interval: 1h");
  Attacker attacker(sidecar_->address("ingress"));
  for (int call = 0; call < 8; ++call) ASSERT_TRUE(attacker.Send(OpenCall(call)));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(CallUnary(inbound_).status.ok());
  // While nobody else comes, one of them borrows the slot, and is told to go.
  EXPECT_TRUE(application_.WaitFor([&] { return application_.calls() == 22; }));
  EXPECT_TRUE(CallUnary(inbound_).status.ok());
  ExpectGoodEnd(*Occupy());
}

TEST_F(GuardUnderAttack, ACallerThatSendsNothingBeforeTheHeadOfTheAnswerIsServed) {
  Start("max: 100, interval: 1h");
  ByteCall call(inbound_, "/test.Echo/Eager");
  ASSERT_TRUE(call.Start());
  EXPECT_TRUE(call.ReadHead());
  EXPECT_TRUE(call.Write("x"));
  EXPECT_EQ(call.Read(), "x");
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_TRUE(sidecar_->WaitForSum("levee_guard_in_flight", {}, 0));
}

TEST_F(GuardUnderAttack, CallersThatReadNoRefusalAreClosed) {
  // Neither their number a second nor the time is what ends them: both depend on the machine.
  Start("max: 0",
        "limits: {resets_per_second: 1000000, idle_frames_per_second: 1000000, send_timeout: "
        "none}\n");
  const auto occupant = Occupy();
  const long resident = sidecar_->process().ResidentBytes();
  Attacker deaf(sidecar_->address("ingress"), Attacker::Reading::kNothing);
  const std::string head = Encode(RawClient::CallHead());
  const std::string body = GrpcMessage("x");
  deaf.Flood(20'000, [&](int i) {
    std::string frames;
    for (int call = 100 * i; call < 100 * (i + 1); ++call) {
      frames += EncodeFrame(FrameType::kHeaders, kEndHeaders, StreamOf(call), head) +
                EncodeFrame(FrameType::kData, kEndStream, StreamOf(call), body);
    }
    return frames;
  });
  EXPECT_TRUE(sidecar_->WaitForSum("levee_downstream_connections", {}, 2));
  EXPECT_EQ(Hits(*sidecar_, "pending_frames"), 1);
  EXPECT_LT(sidecar_->process().ResidentBytes() - resident, 16 * kMiB + kSanitizerMayKeep);
  EXPECT_TRUE(CallUnary(outbound_).status.ok());
  ExpectGoodEnd(*occupant);
}

TEST_F(GuardUnderAttack, HeadersThatAreTooLongToReadAreIgnored) {
  Start("max: 0");
  const std::string x(15'000, 'x');
  std::string members = "a1=999999999999999";
  while (members.size() < x.size()) members += ",a1=999999999999999";
  RawClient caller(sidecar_->address("ingress"));
  for (const auto& [name, value] :
       {std::pair{"levee-retries", members}, std::pair{"levee-retries", "a0=1,x=" + x},
        std::pair{"levee-priority", "0;u=" + x}, std::pair{"traceparent", "00-" + x}}) {
    EXPECT_EQ(caller.AnswerTo(caller.Call({{name, value}})).grpc_status(), "0") << name;
  }
  EXPECT_TRUE(sidecar_->WaitForSum("levee_guard_headers_ignored_total", {}, 4));
  EXPECT_EQ(sidecar_->Sum("levee_guard_reported_retry_share"), 0);
}

std::string TraceOf(int call) {
  return absl::StrCat("00-", absl::Hex(call + 1, absl::kZeroPad16), "aaaaaaaaaaaaaaaa-",
                      "00f067aa0ba902b7-01");
}

TEST_F(GuardUnderAttack, CallersThatLeaveTheirTracesBehindTakeNoPlaceFromOthers) {
  constexpr int kCalls = 4'000;
  Start("max: 0", "tie: {carry: [mark, cancel], max_traces: 64}\n");
  Attacker attacker(sidecar_->address("ingress"));
  attacker.Flood(kCalls, [](int call) {
    return OpenCall(call, {{"traceparent", TraceOf(call)}}) + ResetCall(call);
  });
  EXPECT_TRUE(sidecar_->WaitForSum("levee_active_calls", {}, 0));
  EXPECT_TRUE(CallUnary(inbound_).status.ok());
  EXPECT_EQ(sidecar_->Sum("levee_tie_total", {R"(result="no_place")"}), 0);
}

}  // namespace
}  // namespace levee
