// SPDX-License-Identifier: Apache-2.0
#include "server/request_head.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace levee {
namespace {

std::string Text(const Metadata& fields) {
  std::string text;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += ' ';
    text.append(fields[i].name).append("=").append(fields[i].value);
  }
  return text;
}

constexpr char kVia[] = "2 levee-5d41402abc4b2a76";
const Hop kHop = {Direction::kEgress, kVia};

// The fields of an attempt's head without the one that is the sidecar's own.
std::string AttemptText(const Metadata& head) {
  std::string text = Text(head) + " ";
  const std::string own = std::string("via=") + kVia + " ";
  const size_t at = text.find(own);
  EXPECT_NE(at, std::string::npos) << text;
  text.erase(at, own.size());
  return text.substr(0, text.size() - 1);
}

TEST(RequestHead, IsReadFromTheFieldsItIsMadeOf) {
  Metadata fields;
  fields.Add(":method", "POST");
  fields.Add(":path", "/shop.Cart/Add");
  fields.Add(":authority", "cart.shop:50051");
  fields.Add("content-type", "application/grpc+proto");
  fields.Add("grpc-timeout", "250m");
  fields.Add("grpc-previous-rpc-attempts", "2");
  const RequestHead head = ReadRequestHead(fields);
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.path, "/shop.Cart/Add");
  EXPECT_EQ(head.authority, "cart.shop:50051");
  EXPECT_EQ(head.content_type, "application/grpc+proto");
  EXPECT_EQ(head.facts.timeout, absl::Milliseconds(250));
  EXPECT_EQ(head.facts.previous_attempts, 2);
}

TEST(RequestHead, HostStandsInForAMissingAuthority) {
  Metadata fields;
  fields.Add("host", "cart.shop:50051");
  EXPECT_EQ(ReadRequestHead(fields).authority, "cart.shop:50051");
}

TEST(RequestHead, AttemptCountThatIsNoCountIsIgnored) {
  for (const char* value : {"", "-1", "x", "1x", "99999999999", "00000000002"}) {
    Metadata fields;
    fields.Add("grpc-previous-rpc-attempts", value);
    EXPECT_EQ(ReadRequestHead(fields).facts.previous_attempts, 0) << value;
  }
}

TEST(RequestHead, H2_ACallThatHasPassedTheSidecarIsKnownByItsVia) {
  for (const auto& [value, passed] : std::vector<std::pair<const char*, bool>>{
           {kVia, true},
           {"1.1 edge, 2 levee-5d41402abc4b2a76, 1.1 lb", true},
           {"222 levee-5d412 levee-5d41402abc4b2a76", true},
           {"2 levee-7d793037a0760186", false},
           {"1.1 edge", false},
           {"", false}}) {
    Metadata fields;
    fields.Add("via", "2 levee-0000000000000000");
    fields.Add("via", value);
    EXPECT_TRUE(ReadRequestHead(fields).has_via);
    EXPECT_EQ(HasPassed(fields, kVia), passed) << value;
  }
  Metadata none;
  none.Add("viaduct", kVia);
  EXPECT_FALSE(ReadRequestHead(none).has_via);
}

TEST(RequestHead, H2_EverySidecarHasAViaOfItsOwn) {
  Random one(1), other(2);
  const Hops hops = NewHops(one);
  EXPECT_EQ(hops.egress.via.size(), std::string(kVia).size());
  EXPECT_NE(hops.egress.via, hops.inbound.via);
  EXPECT_NE(hops.egress.via, NewHops(other).egress.via);
}

TEST(AttemptHead, H2_AddsItsViaToThoseOfOthers) {
  Metadata request;
  request.Add("via", "1.1 edge");
  Metadata head;
  Random random(1);
  WriteAttemptHead(request, {}, Instant(), kHop, false, nullptr, random, head);
  EXPECT_EQ(AttemptText(head), "via=1.1 edge");
  EXPECT_TRUE(HasPassed(head, kVia));
}

TEST(AttemptHead, KeepsTheCallersFieldsAndItsOrder) {
  Metadata request;
  request.Add(":path", "/a.B/C");
  request.Add("x-a", "1");
  request.Add("x-b", "2");
  request.Add("x-a", "3");
  Metadata head;
  Random random(1);
  WriteAttemptHead(request, {}, Instant(), kHop, false, nullptr, random, head);
  EXPECT_EQ(AttemptText(head), ":path=/a.B/C x-a=1 x-b=2 x-a=3");
}

TEST(AttemptHead, SaysThatItGoesThroughTls) {
  Metadata request;
  request.Add(":scheme", "http");
  request.Add(":path", "/a.B/C");
  Metadata head, plain;
  Random random(1);
  WriteAttemptHead(request, {}, Instant(), kHop, true, nullptr, random, head);
  EXPECT_EQ(AttemptText(head), ":scheme=https :path=/a.B/C");
  WriteAttemptHead(request, {}, Instant(), kHop, false, nullptr, random, plain);
  EXPECT_EQ(AttemptText(plain), ":scheme=http :path=/a.B/C");
}

TEST(AttemptHead, SaysItsOwnTimeoutAndAttemptCount) {
  Metadata request;
  request.Add("grpc-timeout", "1S");
  request.Add("grpc-previous-rpc-attempts", "1");
  Metadata head;
  Random random(1);
  WriteAttemptHead(request, {.previous_attempts = 3, .told = Instant() + absl::Milliseconds(40)},
                   Instant(), kHop, false, nullptr, random, head);
  EXPECT_EQ(AttemptText(head), "grpc-timeout=40000000n grpc-previous-rpc-attempts=3");
}

TEST(AttemptHead, FirstAttemptWithoutDeadlineCarriesNeither) {
  Metadata request;
  request.Add("grpc-previous-rpc-attempts", "1");
  Metadata head;
  Random random(1);
  WriteAttemptHead(request, {}, Instant(), kHop, false, nullptr, random, head);
  EXPECT_EQ(AttemptText(head), "");
}

TEST(AttemptHead, A65_ForgedLeveeHeadersAreDropped) {
  Metadata request;
  request.Add("levee-overload", "service");
  request.Add("leveed", "kept");
  Metadata head;
  Random random(1);
  WriteAttemptHead(request, {}, Instant(), kHop, false, nullptr, random, head);
  EXPECT_EQ(AttemptText(head), "leveed=kept");
}

TEST(AttemptHead, ThePriorityThatTheApplicationSetPassesItsSidecarAndEndsBeforeTheNextApplication) {
  Metadata request;
  request.Add("levee-priority", "7");
  Metadata out, in;
  Random random(1);
  WriteAttemptHead(request, {}, Instant(), kHop, false, nullptr, random, out);
  EXPECT_EQ(AttemptText(out), "levee-priority=7");
  WriteAttemptHead(request, {}, Instant(), {Direction::kInbound, kVia}, false, nullptr, random, in);
  EXPECT_EQ(AttemptText(in), "");
}

// The traceparent of an attempt of this request, and what else it has.
std::string TracedHead(const Metadata& request, Random& random) {
  Metadata head;
  WriteAttemptHead(request, {}, Instant(), kHop, false, nullptr, random, head);
  return AttemptText(head);
}

TEST(AttemptHead, AValidTraceparentGoesOnWithASpanOfEachAttempt) {
  Metadata request;
  request.Add("x-a", "1");
  request.Add("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  request.Add("tracestate", "vendor=00f067aa0ba902b7");
  Random random(1);
  const std::string first = TracedHead(request, random);
  const std::string second = TracedHead(request, random);
  const std::string before = "x-a=1 traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-";
  const std::string after = "-01 tracestate=vendor=00f067aa0ba902b7";
  for (const std::string& head : {first, second}) {
    EXPECT_EQ(head.size(), before.size() + 16 + after.size());
    EXPECT_TRUE(head.starts_with(before)) << head;
    EXPECT_TRUE(head.ends_with(after)) << head;
    EXPECT_EQ(head.find("00f067aa0ba902b7"), head.size() - 16) << head;
  }
  EXPECT_NE(first, second);
}

TEST(AttemptHead, ATraceparentThatIsInvalidIsLeftAlone) {
  Metadata request;
  request.Add("traceparent", "00-00000000000000000000000000000000-00f067aa0ba902b7-01");
  Random random(1);
  EXPECT_EQ(TracedHead(request, random), Text(request));
}

TEST(AttemptHead, SeveralTraceparentsAreLeftAlone) {
  Metadata request;
  request.Add("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  request.Add("traceparent", "00-5bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  Random random(1);
  EXPECT_EQ(TracedHead(request, random), Text(request));
}

TEST(AttemptHead, WithoutTraceparentNoneIsMadeUp) {
  Metadata request;
  request.Add("tracestate", "vendor=1");
  Random random(1);
  EXPECT_EQ(TracedHead(request, random), "tracestate=vendor=1");
}

TEST(AttemptHead, ACallWithSpansSendsTheIdOfEachAttemptsSpan) {
  Metadata request;
  request.Add("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  request.Add("tracestate", "vendor=1");
  Random random(1);
  const auto trace = CallTrace::Follow(*TraceparentOf(request), random);
  for (const uint32_t record : {0u, 1u}) {
    Metadata head;
    WriteAttemptHead(request, {.record = record}, Instant(), kHop, false, trace.get(), random,
                     head);
    EXPECT_EQ(TraceparentOf(head)->parent_id, trace->AttemptSpanId(record));
    EXPECT_EQ(TraceIdOf(head), TraceIdOf(request));
    EXPECT_EQ(head.Get("tracestate"), "vendor=1");
  }
}

TEST(AttemptHead, ATraceThatBeginsHereTakesThePlaceOfWhatCannotBeRead) {
  Metadata request;
  request.Add("traceparent", "00-x");
  request.Add("tracestate", "vendor=1");
  request.Add("te", "trailers");
  Random random(1);
  const auto trace = CallTrace::Begin({.high = 1, .low = 2}, /*sample=*/1, random);
  Metadata head;
  WriteAttemptHead(request, {}, Instant(), kHop, false, trace.get(), random, head);
  EXPECT_EQ(AttemptText(head), "te=trailers traceparent=" + trace->AttemptTraceparent(0));
}

TEST(AttemptHead, ATimeoutThatCannotBeReadIsLeftToTheUpstream) {
  Metadata request;
  request.Add("grpc-timeout", "soon");
  EXPECT_EQ(ReadRequestHead(request).facts.timeout, absl::InfiniteDuration());
  Metadata head;
  Random random(1);
  WriteAttemptHead(request, {}, Instant(), kHop, false, nullptr, random, head);
  EXPECT_EQ(AttemptText(head), "grpc-timeout=soon");
}

TEST(AttemptHead, ATimeoutOfThePolicyTakesThePlaceOfOneThatCannotBeRead) {
  Metadata request;
  request.Add("grpc-timeout", "soon");
  Metadata head;
  Random random(1);
  WriteAttemptHead(request, {.told = Instant() + absl::Seconds(1)}, Instant(), kHop, false, nullptr,
                   random, head);
  EXPECT_EQ(head.Count("grpc-timeout"), 1u);
  EXPECT_NE(head.Get("grpc-timeout"), "soon");
}

TEST(RateKey, NamesEachPartOfTheLimitsKeyInOrder) {
  Metadata head;
  head.Add(":authority", "made.up:1");
  head.Add(":path", "/shop.Cart/Add");
  head.Add("x-tenant", "blue");
  head.Add("x-tenant", "green");
  RateLimitPolicy limit;
  limit.key = {RateLimitKey::Authority(),
               RateLimitKey::Method(),
               RateLimitKey::Peer(),
               RateLimitKey::Header("x-tenant"),
               RateLimitKey::Header("x-absent"),
               RateLimitKey::Named("tenant", RateLimitKey::Header("x-tenant")),
               RateLimitKey::Named("tier", RateLimitKey::Text("paid"))};
  const LimitKey key =
      KeyOf(limit.key, head, /*authority=*/"cart.shop:1", /*peer=*/"spiffe://shop/web");
  const auto entries = key.entries();
  EXPECT_EQ(std::vector<LimitKey::Entry>(entries.begin(), entries.end()),
            (std::vector<LimitKey::Entry>{{"authority", "cart.shop:1"},
                                          {"method", "/shop.Cart/Add"},
                                          {"peer", "spiffe://shop/web"},
                                          {"header:x-tenant", "blue"},
                                          {"header:x-absent", ""},
                                          {"tenant", "blue"},
                                          {"tier", "paid"}}));
}

// Returns why a call with these values of its key's header is refused.
std::string_view FaultWith(const std::vector<std::string>& keys,
                           const std::vector<std::string>& tenants = {"blue"},
                           bool required = true) {
  Metadata head;
  for (const std::string& key : keys) head.Add("idempotency-key", key);
  for (const std::string& tenant : tenants) head.Add("x-tenant", tenant);
  return DedupeFault({.scope = {RateLimitKey::Header("x-tenant")}, .required = required}, head);
}

TEST(DedupeFault, ACallHasOneIdempotencyKeyThatIsNeitherBlankNorLong) {
  constexpr std::string_view kTwo = "the call has more than one idempotency key";
  constexpr std::string_view kBlank = "the call's idempotency key is blank";
  for (const bool required : {true, false}) {
    EXPECT_EQ(FaultWith({"k"}, {"blue"}, required), "");
    EXPECT_EQ(FaultWith({"a key"}, {"blue"}, required), "");
    EXPECT_EQ(FaultWith({"k", "k"}, {"blue"}, required), kTwo);
    EXPECT_EQ(FaultWith({"k", ""}, {"blue"}, required), kTwo);
    for (const char* const blank : {"", " ", " \t ", "\xa0", "\xe2\x80\x83"}) {
      EXPECT_EQ(FaultWith({blank}, {"blue"}, required), kBlank);
    }
    EXPECT_EQ(FaultWith({std::string(256, 'k')}, {"blue"}, required), "");
    EXPECT_EQ(FaultWith({std::string(257, 'k')}, {"blue"}, required),
              "the call's idempotency key has more than 256 bytes");
  }
  EXPECT_EQ(FaultWith({}),
            "the call needs an idempotency key, in the header that dedupe.header of the service's "
            "policy names");
  EXPECT_EQ(FaultWith({}, {"blue"}, /*required=*/false), "");
}

TEST(DedupeFault, AHeaderThatAKeyDependsOnHasOneValue) {
  EXPECT_EQ(FaultWith({"k"}, {}), "");
  EXPECT_EQ(FaultWith({"k"}, {"blue", "green"}),
            "the call has more than one value of a header that its idempotency key depends on");
  EXPECT_EQ(FaultWith({}, {"blue", "green"}, /*required=*/false), "") << "it has no key";
}

TEST(DedupeKey, BlanksAtTheEndsOfAKeyDoNotTellItFromAnother) {
  const auto key = [](const std::string& value) {
    Metadata head;
    head.Add("idempotency-key", value);
    return std::string(DedupeKeyOf({}, head, "cart.shop:1", "").text());
  };
  EXPECT_EQ(key(" k\t"), key("k"));
  EXPECT_NE(key("a k"), key("ak"));
  EXPECT_TRUE(DedupeKeyOf({}, Metadata(), "cart.shop:1", "").text().empty());
}

TEST(DedupeKey, BelongsToItsSenderAndTheHeadersOfItsScope) {
  DedupePolicy policy;
  const auto owner = [&](const std::string& path, const std::string& tenant, uint64_t sender = 1) {
    Metadata head;
    head.Add(":path", path);
    head.Add("x-tenant", tenant);
    const KeyOwner of = DedupeOwnerOf(policy, head, "cart.shop:1", sender);
    return std::pair(of.sender, of.scope);
  };
  EXPECT_EQ(owner("/a", "blue"), owner("/a", "green"));
  EXPECT_NE(owner("/a", "blue"), owner("/b", "blue"));
  EXPECT_NE(owner("/a", "blue"), owner("/a", "blue", 2));
  policy.scope.push_back(RateLimitKey::Header("x-tenant"));
  EXPECT_NE(owner("/a", "blue"), owner("/a", "green"));
  EXPECT_EQ(owner("/a", "blue"), owner("/b", "blue")) << "a caller can name any method";
}

TEST(LacksKey, ABlankKeyIsNone) {
  Metadata head;
  EXPECT_TRUE(LacksKey(head, "idempotency-key"));
  head.Add("idempotency-key", "");
  head.Add("idempotency-key", " ");
  head.Add("x-other", "k");
  EXPECT_TRUE(LacksKey(head, "idempotency-key"));
  head.Add("idempotency-key", "k");
  EXPECT_FALSE(LacksKey(head, "idempotency-key"));
}

}  // namespace
}  // namespace levee
