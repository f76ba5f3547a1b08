// SPDX-License-Identifier: Apache-2.0
// How spans get to their receiver, a real one of OTLP, or why not.
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "certificates/authority.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/event_lines.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"
#include "integration/span_receiver.h"
#include "integration/tcp.h"
#include "integration/traced.h"

namespace levee {
namespace {

using grpc::StatusCode;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr char kSpans[] = "levee_otlp_spans_total";

// A variable of the environment of children that start meanwhile.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), /*overwrite=*/1);
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

// Makes one call without a trace.
void Call(const SidecarProcess& sidecar) {
  EXPECT_TRUE(CallUnary(NewChannel(sidecar.address())).status.ok());
}

TEST(OtlpExport, SpansOfAReceiverThatIsAwayComeWhenItIsBackAndTheLogTellsOnce) {
  FaultyService service;
  const ReservedPort port;
  SidecarProcess sidecar(Traced(service, port.address(), kAllSpans));
  Call(sidecar);
  EXPECT_THAT(AwaitLines(sidecar, "otlp_away"),
              ElementsAre(AllOf(HasSubstr("receiver=" + port.address()),
                                HasSubstr("reason=\"UNAVAILABLE: "))));
  Call(sidecar);
  SpanReceiver receiver(nullptr, {.port = port.port()});
  EXPECT_THAT(receiver.Await(4), SizeIs(4));
  EXPECT_THAT(AwaitLines(sidecar, "otlp_back"),
              ElementsAre(HasSubstr("receiver=" + port.address() + " seconds=")));
  EXPECT_THAT(LinesOf(sidecar, "otlp_away"), SizeIs(1));
  EXPECT_TRUE(sidecar.WaitForSum(kSpans, {R"(result="exported")"}, 4));
  EXPECT_EQ(sidecar.Sum(kSpans, {R"(result="dropped")"}), 0);
}

TEST(OtlpExport, AFullQueueDropsSpansAndNoCall) {
  FaultyService service;
  const ReservedPort port;
  SidecarProcess sidecar(Traced(service, port.address(), kAllSpans));
  constexpr int kCalls = 4000;
  const auto codes = RunLoad({ConnectedChannel(sidecar.address())}, {.calls = kCalls});
  EXPECT_EQ(codes.at(StatusCode::OK), kCalls);
  EXPECT_TRUE(sidecar.WaitForSum("levee_calls_total", {R"(code="OK")"}, kCalls));
  EXPECT_GT(sidecar.Sum(kSpans, {R"(result="dropped")"}), 0);
  EXPECT_GT(sidecar.Sum("levee_limit_hits_total", {R"(limit="otlp_spans")"}), 0);
}

TEST(OtlpExport, ManyCallsLoseNoSpanWhereTheReceiverTakesThem) {
  FaultyService service;
  SpanReceiver receiver;
  SidecarProcess sidecar(Traced(service, receiver.address(), kAllSpans), {"--workers", "2"});
  constexpr int kCalls = 4000;
  const auto codes =
      RunLoad({ConnectedChannel(sidecar.address()), ConnectedChannel(sidecar.address())},
              {.calls = kCalls});
  EXPECT_EQ(codes.at(StatusCode::OK), kCalls);
  EXPECT_THAT(receiver.Await(2 * kCalls), SizeIs(2 * kCalls));
  EXPECT_EQ(sidecar.Sum(kSpans, {R"(result="dropped")"}), 0);
}

TEST(OtlpExport, SpansThatTheReceiverDoesNotWantAreNotSentAgain) {
  FaultyService service;
  SpanReceiver receiver([](const SeenExport& seen, grpc::ServerContext&, SpanReceiver::Response&) {
    return seen.number == 1 ? grpc::Status(StatusCode::UNAUTHENTICATED, "no key")
                            : grpc::Status::OK;
  });
  SidecarProcess sidecar(Traced(service, receiver.address(), kAllSpans));
  Call(sidecar);
  EXPECT_TRUE(sidecar.WaitForSum(kSpans, {R"(result="refused")"}, 2));
  EXPECT_THAT(AwaitLines(sidecar, "otlp_away"),
              ElementsAre(HasSubstr("reason=\"UNAUTHENTICATED: no key\"")));
  Call(sidecar);
  EXPECT_THAT(receiver.Await(2), SizeIs(2));
  EXPECT_THAT(AwaitLines(sidecar, "otlp_back"), SizeIs(1));
  EXPECT_THAT(receiver.exports(), SizeIs(2));
}

TEST(OtlpExport, SpansThatTheReceiverRejectsOfABatchAreCounted) {
  FaultyService service;
  SpanReceiver receiver(
      [](const SeenExport&, grpc::ServerContext&, SpanReceiver::Response& response) {
        response.mutable_partial_success()->set_rejected_spans(1);
        return grpc::Status::OK;
      });
  SidecarProcess sidecar(Traced(service, receiver.address(), kAllSpans));
  Call(sidecar);
  EXPECT_TRUE(sidecar.WaitForSum(kSpans, {R"(result="refused")"}, 1));
  EXPECT_TRUE(sidecar.WaitForSum(kSpans, {R"(result="exported")"}, 1));
}

TEST(OtlpExport, AReceiverThatAsksForAWaitGetsTheSpansAfterIt) {
  FaultyService service;
  SpanReceiver receiver(
      [](const SeenExport& seen, grpc::ServerContext& context, SpanReceiver::Response&) {
        if (seen.number > 1) return grpc::Status::OK;
        context.AddTrailingMetadata("grpc-retry-pushback-ms", "50");
        return grpc::Status(StatusCode::RESOURCE_EXHAUSTED, "busy");
      });
  SidecarProcess sidecar(Traced(service, receiver.address(), kAllSpans));
  Call(sidecar);
  EXPECT_THAT(receiver.Await(2), SizeIs(2));
  EXPECT_TRUE(sidecar.WaitForSum(kSpans, {R"(result="exported")"}, 2));
}

TEST(OtlpExport, AReloadAddsChangesAndRemovesTheReceiver) {
  FaultyService service;
  SpanReceiver first;
  SpanReceiver second;
  ConfigParts none = Traced(service, first.address(), kAllSpans);
  none.more = "";
  SidecarProcess sidecar(none);
  auto reload = [&, count = 0](const ConfigParts& parts) mutable {
    sidecar.Rewrite(parts);
    EXPECT_TRUE(sidecar.WaitForSum("levee_config_reloads_total", {R"(result="success")"}, ++count));
  };
  Call(sidecar);
  EXPECT_THAT(Traceparents(service), ElementsAre(""));
  reload(Traced(service, first.address(), kAllSpans));
  Call(sidecar);
  EXPECT_THAT(first.Await(2), SizeIs(2));
  reload(Traced(service, second.address(), kAllSpans));
  Call(sidecar);
  EXPECT_THAT(second.Await(2), SizeIs(2));
  reload(none);
  Call(sidecar);
  EXPECT_EQ(Traceparents(service).back(), "");
  EXPECT_THAT(first.spans(), SizeIs(2));
  EXPECT_THAT(second.spans(), SizeIs(2));
  EXPECT_EQ(sidecar.Sum(kSpans, {R"(result="dropped")"}), 0);
}

TEST(OtlpExport, HeadersGoWithEachExportAndFollowTheirFile) {
  FaultyService service;
  SpanReceiver receiver;
  const TempFile headers("x-key: first-secret\n");
  SidecarProcess sidecar(
      Traced(service, receiver.address(), ", sample: 1, headers_file: " + headers.path()));
  Call(sidecar);
  EXPECT_THAT(receiver.Await(2), SizeIs(2));
  EXPECT_EQ(Values(receiver.exports().back().metadata, "x-key"), "first-secret");
  RewriteFile(headers.path(), "X-Key: other-secret\nx-tenant: shop\n");
  EXPECT_TRUE(sidecar.WaitForSum("levee_config_reloads_total", {R"(result="success")"}, 1));
  Call(sidecar);
  EXPECT_THAT(receiver.Await(4), SizeIs(4));
  EXPECT_EQ(Values(receiver.exports().back().metadata, "x-key"), "other-secret");
  EXPECT_EQ(Values(receiver.exports().back().metadata, "x-tenant"), "shop");
  EXPECT_THAT(sidecar.process().Errors(), Not(HasSubstr("secret")));
}

std::shared_ptr<grpc::ServerCredentials> Credentials(const PemPair& pair) {
  grpc::SslServerCredentialsOptions options;
  options.pem_key_cert_pairs.push_back({.private_key = pair.key, .cert_chain = pair.certificate});
  return grpc::SslServerCredentials(options);
}

TEST(OtlpExport, WithHttpsTheReceiverMustHaveACertificateOfATrustedAuthority) {
  const Authority trusted;
  const Authority other;
  FaultyService service;
  const TempFile roots(trusted.pem());
  const Variable variable("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", roots.path());
  // An address, since gRPC's library leaks some bytes where it looks localhost up.
  const Authority::Wanted address = {.names = {"127.0.0.1"}};
  SpanReceiver good(nullptr, {.credentials = Credentials(trusted.Issue(address))});
  SpanReceiver bad(nullptr, {.credentials = Credentials(other.Issue(address))});
  const auto url = [](const SpanReceiver& receiver) { return "https://" + receiver.address(); };
  SidecarProcess sidecar(Traced(service, url(good), kAllSpans));
  Call(sidecar);
  EXPECT_THAT(good.Await(2), SizeIs(2));
  SidecarProcess wrong(Traced(service, url(bad), kAllSpans));
  Call(wrong);
  EXPECT_THAT(AwaitLines(wrong, "otlp_away"), SizeIs(1));
  EXPECT_THAT(bad.exports(), SizeIs(0));
}

TEST(OtlpExport, ASidecarThatEndsSendsTheSpansOfCallsThatEndWithIt) {
  FaultyService service;
  SpanReceiver receiver;
  ConfigParts parts = Traced(service, receiver.address(), kAllSpans);
  parts.more += "\ndrain: {timeout: 0s}";
  SidecarProcess sidecar(parts);
  ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Sleep");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(service.WaitFor([&] { return service.calls() == 1; }));
  sidecar.process().Signal(SIGTERM);
  EXPECT_EQ(sidecar.process().WaitForExit(), 0);
  const std::vector<SeenSpan> spans = receiver.spans();
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0].message, "the sidecar is shutting down");
}

TEST(OtlpExport, AReceiverThatNeverAnswersHoldsUpNeitherCallsNorTheEnd) {
  FaultyService service;
  FaultyService silent([](const SeenCall&) {
    Answer answer;
    answer.delay = kLongerThanAnyTest;
    return answer;
  });
  SidecarProcess sidecar(Traced(service, silent.address(), kAllSpans));
  Call(sidecar);
  EXPECT_TRUE(silent.WaitFor([&] { return silent.calls() == 1; }));
  Call(sidecar);
  sidecar.process().Signal(SIGTERM);
  EXPECT_EQ(sidecar.process().WaitForExit(), 0);
}

TEST(OtlpExport, TheEnvironmentNamesTheService) {
  FaultyService service;
  SpanReceiver receiver;
  const Variable name("OTEL_SERVICE_NAME", "cart-levee");
  const Variable attributes("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test");
  const Variable pod("POD_NAME", "cart-1");
  SidecarProcess sidecar(Traced(service, receiver.address(), kAllSpans));
  Call(sidecar);
  EXPECT_THAT(receiver.Await(2), SizeIs(2));
  const auto resource = receiver.resource();
  EXPECT_EQ(resource.at("service.name"), "cart-levee");
  EXPECT_EQ(resource.at("deployment.environment"), "test");
  EXPECT_EQ(resource.at("k8s.pod.name"), "cart-1");
  EXPECT_EQ(resource.at("service.instance.id").size(), 36U);
}

}  // namespace
}  // namespace levee
