// SPDX-License-Identifier: Apache-2.0
// Retries by HTTP status, by rule, by the server's advice, and those that are only observed.
#include <atomic>
#include <string>

#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/raw_upstream.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Answers the first `failures` requests with an answer that is not gRPC, the others well.
class HttpUpstream {
 public:
  HttpUpstream(int failures, int status, HeaderList more = {})
      : upstream_([this, failures, status, more](UpstreamPeer& peer) {
          peer.Handshake();
          while (const auto request = peer.NextRequest()) {
            if (++requests_ > failures) {
              peer.Answer(request->stream);
              continue;
            }
            HeaderList head = {{":status", std::to_string(status)}, {"content-type", "text/html"}};
            head.insert(head.end(), more.begin(), more.end());
            peer.WriteHeaders(request->stream, head, false);
            peer.WriteData(request->stream, "<html>no</html>", true);
          }
        }) {}

  std::string address() const { return upstream_.address(); }
  int requests() const { return requests_; }

 private:
  std::atomic<int> requests_ = 0;
  RawUpstream upstream_;
};

std::string Retry(const std::string& more) {
  return "{codes: [], budget: {ratio: 100}, exhausted: keep, backoff: {initial: 1ms, max: 5ms}, " +
         more + "}";
}

Reply CallThrough(const std::string& endpoint, const std::string& retry) {
  SidecarProcess sidecar({.endpoints = {endpoint}, .retry = retry});
  return CallUnary(NewChannel(sidecar.address()));
}

TEST(HttpRetries, A11_AStatusThatIsNotListedIsMappedAndNotRetried) {
  HttpUpstream upstream(1, 503);
  const Reply reply = CallThrough(upstream.address(), Retry("http: [429]"));
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(upstream.requests(), 1);
}

TEST(HttpRetries, AListedStatusOrClassIsRetried) {
  for (const auto& [status, listed] :
       {std::pair(429, "[429]"), std::pair(502, "[5xx]"), std::pair(408, "[429, 408]")}) {
    HttpUpstream upstream(1, status);
    EXPECT_TRUE(CallThrough(upstream.address(), Retry(std::string("http: ") + listed)).status.ok())
        << status;
    EXPECT_EQ(upstream.requests(), 2) << status;
  }
}

TEST(HttpRetries, A11_TheMappedCodeCountsToo) {
  HttpUpstream upstream(1, 503);
  EXPECT_TRUE(CallThrough(upstream.address(), "{}").status.ok());
}

TEST(HttpRetries, A40_RetryAfterIsTheLeastDelay) {
  HttpUpstream upstream(1, 429, {{"retry-after", "1"}});
  const auto start = steady_clock::now();
  EXPECT_TRUE(CallThrough(upstream.address(), Retry("http: [429]")).status.ok());
  EXPECT_GE(steady_clock::now() - start, milliseconds(1000));
}

TEST(HttpRetries, A40_AdviceBeyondMaxAdviceEndsRetrying) {
  HttpUpstream upstream(1, 429, {{"retry-after", "61"}});
  SidecarProcess sidecar({.endpoints = {upstream.address()}, .retry = Retry("http: [429]")});
  EXPECT_FALSE(CallUnary(NewChannel(sidecar.address())).status.ok());
  EXPECT_EQ(upstream.requests(), 1);
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_refused_total", {R"(reason="advice")"}, 1));
}

TEST(HttpRetries, A40_AnHttpDateIsAdviceToo) {
  HttpUpstream upstream(1, 503,
                        {{"date", "Fri, 20 Nov 2026 12:00:00 GMT"},
                         {"retry-after", "Fri, 20 Nov 2026 12:02:00 GMT"}});
  SidecarProcess sidecar({.endpoints = {upstream.address()}, .retry = Retry("http: [503]")});
  EXPECT_FALSE(CallUnary(NewChannel(sidecar.address())).status.ok());
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_refused_total", {R"(reason="advice")"}, 1));
}

TEST(RetryRules, ARuleBringsItsOwnAttemptsAndBackoff) {
  // As in the published policy: 408 once more after a fixed time, 429 and 5xx more often.
  const std::string rules =
      "rules: [{http: [429, 5xx], max_attempts: 5, backoff: {constant: 1ms}}, "
      "{http: [408], max_attempts: 2, backoff: {constant: 100ms}}]";
  HttpUpstream busy(4, 429);
  EXPECT_TRUE(CallThrough(busy.address(), Retry(rules)).status.ok());
  EXPECT_EQ(busy.requests(), 5);
  HttpUpstream slow(2, 408);
  const auto start = steady_clock::now();
  EXPECT_FALSE(CallThrough(slow.address(), Retry(rules)).status.ok());
  EXPECT_EQ(slow.requests(), 2);
  EXPECT_GE(steady_clock::now() - start, milliseconds(100));
}

TEST(RetryRules, ARuleMakesACodeRetryable) {
  FaultyService service([](const SeenCall& call) {
    return call.number == 1 ? Fails(StatusCode::ABORTED) : Answer();
  });
  EXPECT_TRUE(CallThrough(service.address(), Retry("rules: [{codes: [ABORTED]}]")).status.ok());
  EXPECT_EQ(service.calls(), 2);
}

TEST(RetryRules, MaxElapsedEndsRetrying) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .retry = "{max_attempts: 100, budget: {ratio: 100}, "
                                   "backoff: {constant: 100ms, max_elapsed: 250ms}}"});
  EXPECT_FALSE(CallUnary(NewChannel(sidecar.address())).status.ok());
  EXPECT_LE(service.calls(), 3);
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_refused_total", {R"(reason="max_elapsed")"}, 1));
}

TEST(Observe, APolicyThatObservesCountsWhatItWouldHaveDone) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar({.endpoints = {service.address()}, .retry = "{mode: observe}"});
  const Reply reply = CallUnary(NewChannel(sidecar.address()));
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(reply.status.error_message(), "scripted");
  EXPECT_EQ(Values(reply.trailers, "levee-overload"), "");
  EXPECT_EQ(service.calls(), 1);
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_refused_total", {R"(reason="observe")"}, 1));
  EXPECT_EQ(sidecar.Sum("levee_retries_total"), 0);
}

// CallMinRemaining has it on virtual time.
TEST(MinRemainingSoak, A31_NoAttemptIsMadeThatCanHardlyFinish) {
  FaultyService service([](const SeenCall& call) {
    if (call.number > 10) return Fails(StatusCode::UNAVAILABLE);
    Answer answer;
    answer.delay = milliseconds(3000);
    return answer;
  });
  SidecarProcess sidecar({.endpoints = {service.address()}, .retry = "{budget: {ratio: 100}}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  RunLoad({channel}, {.calls = 10, .at_once = 10});
  const Reply reply = CallUnary(channel, "x", [](grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + milliseconds(2500));
  });
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(service.calls(), 11);
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_refused_total", {R"(reason="deadline")"}, 1));
}

}  // namespace
}  // namespace levee
