// SPDX-License-Identifier: Apache-2.0
// The client of a rate limit service, with an HTTP/2 server on its own loop.
#include "rls/limit_service.h"

#include <memory>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "upstream/pool_run.h"

namespace levee {
namespace {

using namespace std::string_literals;

// An answer that grants, in gRPC's frame.
const std::string kOk = "\0\0\0\0\x02\x08\x01"s;

constexpr absl::Duration kPatient = absl::Seconds(20);

class LimitServiceTest : public testing::Test {
 protected:
  std::unique_ptr<LimitService> ClientOf(uint16_t port) {
    return std::make_unique<LimitService>(run_.io, run_.resolver, run_.random, "127.0.0.1", port);
  }

  // Asks for 3 permits, and waits for the answer.
  absl::StatusOr<LeaseGrant> Ask(LimitService& service, absl::Duration timeout = kPatient) {
    std::optional<absl::StatusOr<LeaseGrant>> answer;
    service.Ask("\0\0\0\0\0"s, 3, timeout,
                [&](const absl::StatusOr<LeaseGrant>& told) { answer = told; });
    run_.Until([&] { return answer.has_value(); });
    return answer.value_or(absl::UnknownError("none"));
  }

  PoolRun run_;
};

TEST_F(LimitServiceTest, ConnectsBeforeItIsAsked) {
  TestServer& server = run_.Serve();
  const auto service = ClientOf(server.address().port());
  std::string reason;
  run_.Until([&] { return service->Connected(reason); });
  EXPECT_EQ(server.calls(), 0);
}

TEST_F(LimitServiceTest, GrantsWhatTheServiceGrants) {
  TestServer& server = run_.Serve();
  server.AnswerWith(kOk);
  const auto service = ClientOf(server.address().port());
  for (int i = 0; i < 3; ++i) {
    const auto grant = Ask(*service);
    ASSERT_TRUE(grant.ok()) << grant.status();
    EXPECT_EQ(grant->granted, 3);
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(LimitServiceTest, AnAnswerThatDoesNotComeInTimeIsNone) {
  TestServer& server = run_.Serve();
  server.AnswerWith(kOk);
  const auto service = ClientOf(server.address().port());
  ASSERT_TRUE(Ask(*service).ok());
  server.Hold();
  EXPECT_TRUE(absl::IsDeadlineExceeded(Ask(*service, absl::Milliseconds(20)).status()));
}

TEST_F(LimitServiceTest, WithoutAConnectionThereIsNoAnswer) {
  const ClosedPort port;
  const auto service = ClientOf(port.port());
  EXPECT_TRUE(absl::IsUnavailable(Ask(*service).status()));
  std::string reason;
  EXPECT_FALSE(service->Connected(reason));
  EXPECT_EQ(reason, "connection refused");
}

TEST_F(LimitServiceTest, ALostConnectionIsMadeAgain) {
  TestServer& server = run_.Serve();
  server.AnswerWith(kOk);
  const auto service = ClientOf(server.address().port());
  ASSERT_TRUE(Ask(*service).ok());
  server.HangUp();
  while (!Ask(*service).ok()) {
  }
}

TEST_F(LimitServiceTest, WhatIsNoAnswerIsAnError) {
  TestServer& server = run_.Serve();
  const auto service = ClientOf(server.address().port());
  EXPECT_TRUE(absl::IsInternal(Ask(*service).status()));  // It has no message.
  server.AnswerWith(std::string(100'000, 'x'));
  EXPECT_TRUE(absl::IsInternal(Ask(*service).status()));
  server.Break();
  EXPECT_TRUE(absl::IsUnavailable(Ask(*service).status()));
}

TEST_F(LimitServiceTest, AsItEndsItAnswersWhatWasAsked) {
  TestServer& server = run_.Serve();
  server.Hold();
  auto service = ClientOf(server.address().port());
  std::optional<absl::Status> answer;
  service->Ask("\0\0\0\0\0"s, 1, kPatient,
               [&](const absl::StatusOr<LeaseGrant>& told) { answer = told.status(); });
  run_.Until([&] { return server.calls() == 1; });
  service.reset();
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(absl::IsUnavailable(*answer));
}

}  // namespace
}  // namespace levee
