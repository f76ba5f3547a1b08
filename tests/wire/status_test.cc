// SPDX-License-Identifier: Apache-2.0
#include "wire/status.h"

#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(Status, A5_NumberAndNameInAnyCaseAreTheSameCode) {
  for (const char* text : {"14", "UNAVAILABLE", "unavailable", "UnAvailable"}) {
    EXPECT_EQ(ParseStatusCode(text), StatusCode::kUnavailable) << text;
  }
}

TEST(Status, EveryCodeIsFoundByItsNameAndItsNumber) {
  for (int i = 0; i < kStatusCodes; ++i) {
    const StatusCode code = static_cast<StatusCode>(i);
    EXPECT_EQ(ParseStatusCode(StatusCodeName(code)), code);
    EXPECT_EQ(ParseStatusCode(std::to_string(i)), code);
    EXPECT_EQ(ParseGrpcStatus(std::to_string(i)), code);
  }
}

TEST(Status, WhatAPersonMisspellsNamesNoCode) {
  for (const char* text :
       {"", "17", "-1", "UNAVAILABLE ", "unavail", "1.0", "99999999999999999999"}) {
    EXPECT_EQ(ParseStatusCode(text), std::nullopt) << text;
  }
}

TEST(Status, AnUnknownNumberFromAServerIsUnknown) {
  EXPECT_EQ(ParseGrpcStatus("17"), StatusCode::kUnknown);
  EXPECT_EQ(ParseGrpcStatus("170"), StatusCode::kUnknown);
  EXPECT_EQ(ParseGrpcStatus("4294967296"), StatusCode::kUnknown);
  EXPECT_EQ(ParseGrpcStatus("99999999999999999999"), StatusCode::kUnknown);
}

TEST(Status, TextFromAServerIsNoCode) {
  for (const char* text : {"", "-1", "UNAVAILABLE", "1x", " 1"}) {
    EXPECT_EQ(ParseGrpcStatus(text), std::nullopt) << text;
  }
}

TEST(Status, HttpStatusesMapAsTheTableSays) {
  EXPECT_EQ(StatusFromHttp(400), StatusCode::kInternal);
  EXPECT_EQ(StatusFromHttp(431), StatusCode::kInternal);
  EXPECT_EQ(StatusFromHttp(401), StatusCode::kUnauthenticated);
  EXPECT_EQ(StatusFromHttp(403), StatusCode::kPermissionDenied);
  EXPECT_EQ(StatusFromHttp(404), StatusCode::kUnimplemented);
  for (int status : {429, 502, 503, 504}) {
    EXPECT_EQ(StatusFromHttp(status), StatusCode::kUnavailable) << status;
  }
  for (int status : {0, 200, 204, 302, 408, 418, 500, 599}) {
    EXPECT_EQ(StatusFromHttp(status), StatusCode::kUnknown) << status;
  }
}

TEST(Status, ResetsMapAsTheTableSays) {
  for (uint32_t code : {0x0, 0x1, 0x2, 0x3, 0x4, 0x6, 0x9, 0xa}) {
    EXPECT_EQ(StatusFromReset(code), StatusCode::kInternal) << code;
  }
  EXPECT_EQ(StatusFromReset(kResetRefusedStream), StatusCode::kUnavailable);
  EXPECT_EQ(StatusFromReset(kResetCancel), StatusCode::kCancelled);
  EXPECT_EQ(StatusFromReset(kResetEnhanceYourCalm), StatusCode::kResourceExhausted);
  EXPECT_EQ(StatusFromReset(0xc), StatusCode::kPermissionDenied);
  for (uint32_t code : {0x5u, 0xdu, 0xeu, 0xffffffffu}) {
    EXPECT_EQ(StatusFromReset(code), StatusCode::kUnknown) << code;
  }
}

TEST(Status, ResetsHaveTheirNames) {
  EXPECT_EQ(ResetName(kResetNoError), "NO_ERROR");
  EXPECT_EQ(ResetName(kResetProtocolError), "PROTOCOL_ERROR");
  EXPECT_EQ(ResetName(kResetInternalError), "INTERNAL_ERROR");
  EXPECT_EQ(ResetName(kResetRefusedStream), "REFUSED_STREAM");
  EXPECT_EQ(ResetName(kResetCancel), "CANCEL");
  EXPECT_EQ(ResetName(kResetEnhanceYourCalm), "ENHANCE_YOUR_CALM");
  EXPECT_EQ(ResetName(0xd), "HTTP_1_1_REQUIRED");
  EXPECT_EQ(ResetName(0xe), "unknown error");
}

TEST(Status, FaultsOfTheServerAreToldFromThoseOfTheRequest) {
  std::string faults;
  for (int code = 0; code < kStatusCodes; ++code) {
    if (IsServerFault(static_cast<StatusCode>(code))) faults += std::to_string(code) + " ";
  }
  EXPECT_EQ(faults, "2 4 8 12 13 14 15 ");
}

TEST(StatusCodeSet, HoldsWhatWasAdded) {
  StatusCodeSet set = {StatusCode::kUnavailable, StatusCode::kOk};
  set.Add(StatusCode::kUnauthenticated);
  EXPECT_TRUE(set.Has(StatusCode::kOk));
  EXPECT_TRUE(set.Has(StatusCode::kUnavailable));
  EXPECT_TRUE(set.Has(StatusCode::kUnauthenticated));
  EXPECT_FALSE(set.Has(StatusCode::kInternal));
  EXPECT_TRUE(StatusCodeSet().empty());
  EXPECT_FALSE(set.empty());
}

}  // namespace
}  // namespace levee
