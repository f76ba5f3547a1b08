// SPDX-License-Identifier: Apache-2.0
// RFC 9113, section 8: requests that are well-formed and heard, and malformed ones that are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "h2/raw_peer.h"

namespace levee::h2_test {
namespace {

using namespace std::string_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

HeaderList With(const std::string& name, const std::string& value) {
  HeaderList head = RequestHead();
  head.emplace_back(name, value);
  return head;
}

HeaderList Without(std::string_view name) {
  HeaderList head = RequestHead();
  std::erase_if(head, [&](const auto& field) { return field.first == name; });
  return head;
}

// A request of which its handler hears nothing, and which is all that ends.
testing::AssertionResult IsMalformed(const HeaderList& head) {
  RawPeer peer;
  peer.WriteHeaders(1, head, true);
  if (!peer.side.requests.empty()) return testing::AssertionFailure() << "heard " << peer.Heard();
  return peer.StreamEnds(1, {H2Error::kProtocol});
}

// A request that is heard with all of its fields.
testing::AssertionResult IsHeard(const HeaderList& head) {
  RawPeer peer;
  peer.WriteHeaders(1, head, true);
  std::string expected = "only";
  for (const auto& [name, value] : head) expected += " " + name + "=" + value;
  if (peer.Heard() != expected) return testing::AssertionFailure() << "heard " << peer.Heard();
  return peer.Lives();
}

TEST(Rfc9113, C1_8_1_AGetIsAnswered) {
  RawPeer peer;
  HeaderList head = RequestHead();
  head[0].second = "GET";
  peer.WriteHeaders(1, head, true);
  peer.Answer(0, "answer");
  const std::vector<Frame> frames = peer.Read();
  const auto blocks = Of(frames, FrameType::kHeaders, 1);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(peer.Decode(blocks[0]), ResponseHead());
  EXPECT_EQ(peer.Decode(blocks[1]), HeaderList({{"grpc-status", "0"}}));
  EXPECT_TRUE(blocks[1].ends_stream());
}

TEST(Rfc9113, C1_8_1_AHeadIsAnswered) {
  RawPeer peer;
  HeaderList head = RequestHead();
  head[0].second = "HEAD";
  peer.WriteHeaders(1, head, true);
  ASSERT_EQ(peer.side.requests.size(), 1u);
  FillResponseHead(*peer.side.request(0).stream);
  peer.side.request(0).stream->SendHead(true);
  const auto blocks = Of(peer.Read(), FrameType::kHeaders, 1);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_TRUE(blocks[0].ends_stream());
}

TEST(Rfc9113, C1_8_1_APostWithABodyIsAnswered) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteData(1, "question", true);
  EXPECT_EQ(peer.side.request(0).body, "question");
  peer.Answer(0, "answer");
  EXPECT_EQ(peer.ReadBody(1), "answer");
}

TEST(Rfc9113, C1_8_1_APostWithTrailersIsAnswered) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteData(1, "question", false);
  peer.WriteHeaders(1, {{"x-trailer", "1"}}, true);
  EXPECT_EQ(peer.side.request(0).body, "question");
  EXPECT_THAT(peer.Heard(), HasSubstr("; end"));
  peer.Answer(0, "answer");
  EXPECT_EQ(peer.ReadBody(1), "answer");
}

TEST(Rfc9113, C1_8_1_TrailersWithoutEndOfStreamAreMalformed) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteHeaders(1, {{"x-trailer", "1"}}, false);
  EXPECT_TRUE(peer.StreamEnds(1, {H2Error::kProtocol}));
  EXPECT_THAT(peer.Heard(), EndsWith("; closed reset 1"));
}

TEST(Rfc9113, C1_8_1_AnAnswerBeforeTheRequestEndsAsksTheCallerToStop) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.Answer(0, "answer");
  const std::vector<Frame> frames = peer.Read();
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back().type, FrameType::kReset);
  EXPECT_EQ(frames.back().stream, 1);
  EXPECT_EQ(ReadNumber(frames.back().payload), static_cast<uint32_t>(H2Error::kNone));
  EXPECT_EQ(Of(frames, FrameType::kHeaders, 1).size(), 2u);
  peer.WriteData(1, "on its way", true);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_8_1_1_WhatFollowsAMalformedHeadIsDiscarded) {
  RawPeer peer;
  peer.WriteHeaders(1, Without(":path"), false);
  EXPECT_TRUE(peer.StreamEnds(1, {H2Error::kProtocol}));
  peer.WriteData(1, "on its way", false);
  peer.WriteHeaders(1, {{"x-trailer", "1"}}, true);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_8_1_1_AContentLengthThatIsTheBodysIsHeard) {
  RawPeer peer;
  peer.WriteHeaders(1, With("content-length", "8"), false);
  peer.Write(FrameType::kData, kPadded, 1, Padded("ques", 5));
  peer.WriteData(1, "tion", true);
  EXPECT_THAT(peer.Heard(), EndsWith(" content-length=8; end"));
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_8_1_1_AContentLengthThatIsNotTheBodysIsMalformed) {
  RawPeer peer;
  peer.WriteHeaders(1, With("content-length", "1"), false);
  peer.WriteData(1, "test", true);
  EXPECT_TRUE(peer.StreamEnds(1, {H2Error::kProtocol}));
  EXPECT_THAT(peer.Heard(), EndsWith(" content-length=1; closed reset 1"));
}

TEST(Rfc9113, C1_8_1_1_AContentLengthThatIsNotThatOfSeveralDataFramesIsMalformed) {
  RawPeer peer;
  peer.WriteHeaders(1, With("content-length", "5"), false);
  peer.WriteData(1, "test", false);
  peer.WriteData(1, "test", true);
  EXPECT_TRUE(peer.StreamEnds(1, {H2Error::kProtocol}));
  EXPECT_THAT(peer.Heard(), Not(HasSubstr("; end")));
}

TEST(Rfc9113, C1_8_1_1_ABodyShorterThanItsContentLengthIsMalformed) {
  RawPeer peer;
  peer.WriteHeaders(1, With("content-length", "5"), false);
  peer.WriteData(1, "test", true);
  EXPECT_TRUE(peer.StreamEnds(1, {H2Error::kProtocol}));
  EXPECT_THAT(peer.Heard(), EndsWith(" content-length=5; closed reset 1"));
}

TEST(Rfc9113, C1_8_1_1_ABodyShorterThanItsContentLengthIsMalformedWithTrailersToo) {
  RawPeer peer;
  peer.WriteHeaders(1, With("content-length", "5"), false);
  peer.WriteData(1, "test", false);
  peer.WriteHeaders(1, {{"x-trailer", "1"}}, true);
  EXPECT_TRUE(peer.StreamEnds(1, {H2Error::kProtocol}));
  EXPECT_THAT(peer.Heard(), EndsWith(" content-length=5; closed reset 1"));
}

TEST(Rfc9113, C1_8_1_1_AContentLengthWithoutBodyIsMalformed) {
  EXPECT_TRUE(IsMalformed(With("content-length", "1")));
  EXPECT_TRUE(IsHeard(With("content-length", "0")));
}

TEST(Rfc9113, C1_8_1_1_AContentLengthThatIsNoNumberIsMalformed) {
  for (const std::string value : {"", "x", "-1", "1x", "99999999999999999999"}) {
    EXPECT_TRUE(IsMalformed(With("content-length", value))) << value;
  }
}

TEST(Rfc9113, C1_8_1_1_TwoContentLengthsAreMalformedAlsoIfTheyAreEqual) {
  for (const char* const second : {"0", "1"}) {
    HeaderList head = With("content-length", "0");
    head.emplace_back("content-length", second);
    EXPECT_TRUE(IsMalformed(head)) << second;
  }
}

TEST(Rfc9113, C1_8_2_1_AnUpperCaseNameIsMalformed) {
  EXPECT_TRUE(IsMalformed(With("X-TEST", "test")));
}

TEST(Rfc9113, C1_8_2_1_ANameWithOctetsThatNoNameMayHaveIsMalformed) {
  for (const std::string& name : {""s, "x y"s, "x\ty"s, "x:y"s, "x\x7fy"s, "x\xc3y"s, "x\0y"s}) {
    EXPECT_TRUE(IsMalformed(With(name, "test"))) << name;
  }
}

TEST(Rfc9113, C1_8_2_1_AValueWithALineEndOrNulIsMalformed) {
  for (const std::string& value : {"a\rb"s, "a\nb"s, "a\0b"s}) {
    EXPECT_TRUE(IsMalformed(With("x-test", value)));
  }
}

TEST(Rfc9113, C1_8_2_1_AValueMayHaveAnyOtherOctetOrNone) {
  EXPECT_TRUE(IsHeard(With("x-test", "")));
  EXPECT_TRUE(IsHeard(With("x-test", "caf\xc3\xa9 \xff, \"q\" = 1:2")));
}

// RFC 9113 calls spaces at the ends of a value malformed. gRPC's metadata and status messages have
// them, and its libraries send them as they are, so they are passed on.
TEST(Rfc9113, C1_8_2_1_SpacesAtTheEndsOfAValueArePassedOn) {
  EXPECT_TRUE(IsHeard(With("x-test", " two words ")));
}

TEST(Rfc9113, C1_8_2_2_AConnectionSpecificFieldIsMalformed) {
  EXPECT_TRUE(IsMalformed(With("connection", "keep-alive")));
  EXPECT_TRUE(IsMalformed(With("keep-alive", "timeout=5")));
  EXPECT_TRUE(IsMalformed(With("proxy-connection", "keep-alive")));
  EXPECT_TRUE(IsMalformed(With("transfer-encoding", "chunked")));
  EXPECT_TRUE(IsMalformed(With("upgrade", "h2c")));
}

TEST(Rfc9113, C1_8_2_2_TeMayBeTrailersAndNothingElse) {
  EXPECT_TRUE(IsMalformed(With("te", "trailers, deflate")));
  EXPECT_TRUE(IsHeard(With("te", "trailers")));
}

TEST(Rfc9113, C1_8_3_AnUnknownPseudoHeaderIsMalformed) {
  HeaderList head = RequestHead();
  head.insert(head.begin(), {":test", "test"});
  EXPECT_TRUE(IsMalformed(head));
}

TEST(Rfc9113, C1_8_3_APseudoHeaderOfResponsesIsMalformed) {
  HeaderList head = RequestHead();
  head.insert(head.begin(), {":status", "200"});
  EXPECT_TRUE(IsMalformed(head));
}

TEST(Rfc9113, C1_8_3_APseudoHeaderInTrailersIsMalformed) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteData(1, "test", false);
  peer.WriteHeaders(1, {{":method", "POST"}}, true);
  EXPECT_TRUE(peer.StreamEnds(1, {H2Error::kProtocol}));
  EXPECT_THAT(peer.Heard(), EndsWith("; closed reset 1"));
}

TEST(Rfc9113, C1_8_3_APseudoHeaderAfterAFieldIsMalformed) {
  HeaderList head = RequestHead();
  head.insert(head.begin() + 3, {"x-test", "ok"});
  EXPECT_TRUE(IsMalformed(head));
}

TEST(Rfc9113, C1_8_3_1_AnEmptyPathIsMalformed) {
  HeaderList head = RequestHead();
  head[2].second = "";
  EXPECT_TRUE(IsMalformed(head));
}

TEST(Rfc9113, C1_8_3_1_ARequestWithoutMethodIsMalformed) {
  EXPECT_TRUE(IsMalformed(Without(":method")));
}

TEST(Rfc9113, C1_8_3_1_ARequestWithoutSchemeIsMalformed) {
  EXPECT_TRUE(IsMalformed(Without(":scheme")));
}

TEST(Rfc9113, C1_8_3_1_ARequestWithoutPathIsMalformed) {
  EXPECT_TRUE(IsMalformed(Without(":path")));
}

TEST(Rfc9113, C1_8_3_1_ASchemeThatIsNoneIsMalformed) {
  for (const char* scheme : {"", "h,p", "1http", "http:", "a-scheme-that-is-longer-than-any-one"}) {
    HeaderList head = RequestHead();
    head[1] = {":scheme", scheme};
    EXPECT_TRUE(IsMalformed(head)) << scheme;
  }
  for (const char* scheme : {"https", "HTTP", "a1+.-"}) {
    HeaderList head = RequestHead();
    head[1] = {":scheme", scheme};
    EXPECT_TRUE(IsHeard(head)) << scheme;
  }
}

TEST(Rfc9113, C1_8_3_1_AnAsteriskIsThePathOfOptionsAlone) {
  HeaderList head = RequestHead();
  head[2] = {":path", "*"};
  EXPECT_TRUE(IsMalformed(head));
  head[0] = {":method", "OPTIONS"};
  EXPECT_TRUE(IsHeard(head));
  std::swap(head[0], head[2]);
  EXPECT_TRUE(IsHeard(head));
}

TEST(Rfc9113, C1_8_3_1_TwoMethodsAreMalformed) {
  EXPECT_TRUE(IsMalformed(With(":method", "POST")));
}

TEST(Rfc9113, C1_8_3_1_UserinfoInAnAuthorityOrHostIsMalformed) {
  for (const char* const name : {"admin@shop.test", "shop.test:80@evil.test", "@shop.test", "a@"}) {
    HeaderList head = Without(":authority");
    head.emplace_back("host", name);
    EXPECT_TRUE(IsMalformed(head)) << name;
    head = Without(":authority");
    head.insert(head.begin(), {":authority", name});
    EXPECT_TRUE(IsMalformed(head)) << name;
  }
}

TEST(Rfc9113, C1_8_3_1_AFragmentInAPathIsMalformed) {
  for (const char* const path : {"/a.B/C#d", "/a.B/C#", "/#/C"}) {
    HeaderList head = Without(":path");
    head.insert(head.begin(), {":path", path});
    EXPECT_TRUE(IsMalformed(head)) << path;
  }
}

TEST(Rfc9113, C1_8_3_1_TwoSchemesAreMalformed) {
  EXPECT_TRUE(IsMalformed(With(":scheme", "http")));
}

TEST(Rfc9113, C1_8_3_1_TwoPathsAreMalformed) { EXPECT_TRUE(IsMalformed(With(":path", "/a.B/C"))); }

TEST(Rfc9113, C1_8_3_1_TwoAuthoritiesAreMalformed) {
  EXPECT_TRUE(IsMalformed(With(":authority", "x:1")));
}

TEST(Rfc9113, H15_8_3_1_AHostUnlikeTheAuthorityIsMalformed) {
  EXPECT_TRUE(IsMalformed(With("host", "other.test")));
  EXPECT_TRUE(IsMalformed(With("host", "")));
}

TEST(Rfc9113, C1_8_3_1_AnEmptyHostAloneIsMalformed) {
  HeaderList head = Without(":authority");
  head.emplace_back("host", "");
  EXPECT_TRUE(IsMalformed(head));
}

TEST(Rfc9113, H15_8_3_1_TwoHostsAreMalformed) {
  HeaderList head = Without(":authority");
  head.insert(head.end(), 2, {"host", "shop.test"});
  EXPECT_TRUE(IsMalformed(head));
}

TEST(Rfc9113, H15_8_3_1_AHostThatIsTheAuthorityIsHeard) {
  RawPeer peer;
  HeaderList head = RequestHead();
  std::string host = Values(head, ":authority");
  host[0] = static_cast<char>(std::toupper(host[0]));
  head.emplace_back("host", host);
  peer.WriteHeaders(1, head, true);
  EXPECT_EQ(peer.side.requests.size(), 1u);
  HeaderList alone = Without(":authority");
  alone.emplace_back("host", host);
  peer.WriteHeaders(3, alone, true);
  EXPECT_EQ(peer.side.requests.size(), 2u);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, H15_8_3_1_SpacesAndControlsInPseudoHeadersAreMalformed) {
  for (size_t field = 0; field < 4; ++field) {
    for (const char c : std::string_view(" \t\x01\x1f\x7f")) {
      // In one piece with other bytes, and among those that are left.
      for (const size_t at : {3, 16}) {
        HeaderList head = RequestHead();
        head[field].second = "/" + std::string(16, 'x');
        head[field].second[at] = c;
        EXPECT_TRUE(IsMalformed(head)) << head[field].first << ' ' << static_cast<int>(c);
      }
    }
  }
}

// Also where only the name of an entry is used, and where a whole entry is.
TEST(Rfc9113, H15_8_3_1_ASpaceInAPathOfTheTableIsMalformed) {
  RawPeer peer;
  HeaderList head = Without(":path");
  std::string path = Encode({{":path", "/a b"}});
  path[0] = '\x40';
  peer.Write(FrameType::kHeaders, kEndHeaders | kEndStream, 1, path + Encode(head));
  EXPECT_TRUE(peer.IsReset(1, {H2Error::kProtocol}));
  peer.Write(FrameType::kHeaders, kEndHeaders | kEndStream, 3, "\xbe" + Encode(head));
  EXPECT_TRUE(peer.IsReset(3, {H2Error::kProtocol}));
  peer.Write(FrameType::kHeaders, kEndHeaders | kEndStream, 5, "\x0f\x2f\x04/a/b" + Encode(head));
  EXPECT_TRUE(peer.Lives());
  EXPECT_EQ(peer.side.requests.size(), 2u);
}

TEST(Rfc9113, H15_8_3_1_BytesOfOtherAlphabetsInAPathAreNot) {
  RawPeer peer;
  HeaderList head = RequestHead();
  head[2].second = "/g\xc3\xbcte.Test/Caf\xc3\xa9~";
  peer.WriteHeaders(1, head, true);
  EXPECT_EQ(peer.side.requests.size(), 1u);
}

}  // namespace
}  // namespace levee::h2_test
