// SPDX-License-Identifier: Apache-2.0
// Headers that a configuration names.
#include "config/header_names.h"

#include <string>

#include "config/faults_of.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

std::string KeyFaults(const std::string& header) {
  return PolicyFaults("idempotency: {key: {header: \"" + header + "\"}}");
}

TEST(HeaderNames, AreLowerCaseTokens) {
  EXPECT_EQ(ParseHeaderName("X-Tenant").value(), "x-tenant");
  EXPECT_EQ(ParseHeaderName("!#$%&'*+-.^_`|~09").value(), "!#$%&'*+-.^_`|~09");
  EXPECT_EQ(ParseHeaderName("grpc-timeout").value(), "grpc-timeout");
  EXPECT_EQ(ParseHeaderName("token-bin").value(), "token-bin");
  EXPECT_EQ(ParseHeaderName(std::string(128, 'a')).value(), std::string(128, 'a'));
  for (const std::string& text :
       {std::string(), std::string("a b"), std::string("a:b"), std::string("caf\xc3\xa9"),
        std::string("a\n"), std::string("\"a"), std::string("a\0b", 3), std::string(129, 'a')}) {
    EXPECT_FALSE(ParseHeaderName(text).ok()) << text;
  }
}

TEST(HeaderNames, PseudoHeadersAreNoHeaders) {
  EXPECT_EQ(ParseHeaderName(":path").status().message(),
            "\":path\" is a pseudo-header; name a header");
}

TEST(HeaderNames, IdempotencyKeyIsKeptInLowerCase) {
  EXPECT_EQ(PolicyOf("idempotency: {key: {header: Idempotency-Key}}").key_header,
            "idempotency-key");
  EXPECT_EQ(PolicyOf("idempotency: {key: none}").key_header, "");
  EXPECT_EQ(SnapshotOf(PolicyText("idempotency: {key: {header: X-Id}}"))->sha256,
            SnapshotOf(PolicyText("idempotency: {key: {header: x-id}}"))->sha256);
}

TEST(HeaderNames, IdempotencyKeyMayStandBesideEveryMode) {
  const CallPolicy policy = PolicyOf("idempotency: {mode: never, key: {header: x-id}}");
  EXPECT_EQ(policy.idempotency, IdempotencyMode::kNever);
  EXPECT_EQ(policy.key_header, "x-id");
  EXPECT_EQ(PolicyOf("idempotency: {mode: always, key: {header: x-id}}").key_header, "x-id");
}

TEST(HeaderNames, IdempotencyKeyNeedsItsHeader) {
  EXPECT_EQ(PolicyFaults("idempotency: {key: {}}"),
            "f:2:15: LV110 policies[0].idempotency.key.header: is missing; it must be given");
  EXPECT_EQ(KeyFaults("a b"),
            "f:2:29: LV214 policies[0].idempotency.key.header: \"a b\" is not the name of a "
            "header; a name has 1 to "
            "128 letters, digits, '-', '_' and '.'");
  EXPECT_EQ(
      KeyFaults(":path"),
      "f:2:29: LV214 policies[0].idempotency.key.header: \":path\" is a pseudo-header; name a "
      "header");
}

TEST(HeaderNames, ReservedHeadersAreNoIdempotencyKey) {
  EXPECT_EQ(KeyFaults("Grpc-Key"),
            "f:2:29: LV214 policies[0].idempotency.key.header: \"Grpc-Key\" belongs to gRPC, as "
            "all grpc-* headers do; choose another, as in idempotency-key");
  EXPECT_EQ(KeyFaults("levee-key"),
            "f:2:29: LV214 policies[0].idempotency.key.header: \"levee-key\" belongs to Levee, as "
            "all levee-* headers do; choose another, as in idempotency-key");
  EXPECT_EQ(KeyFaults("key-bin"),
            "f:2:29: LV214 policies[0].idempotency.key.header: \"key-bin\" would hold binary data, "
            "as all *-bin headers do; choose another, as in idempotency-key");
  EXPECT_EQ(
      KeyFaults("TE"),
      "f:2:29: LV214 policies[0].idempotency.key.header: \"TE\" has a meaning of its own in HTTP; "
      "choose another, as in idempotency-key");
  for (const char* name : {"content-type", "te", "host", "user-agent", "connection",
                           "transfer-encoding", "keep-alive", "proxy-connection", "upgrade",
                           "content-length", "date", "trailer", "cookie", "authorization"}) {
    EXPECT_FALSE(ParseAddedHeader(name).ok()) << name;
  }
}

}  // namespace
}  // namespace levee
