// SPDX-License-Identifier: Apache-2.0
#include "fuzz/session_exceptions.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "wire/status.h"

namespace levee {
namespace {

bool OnlyPeerBreaks(const Step& step) { return !step.own.broken && step.peer.broken; }
bool OnlyOwnBreaks(const Step& step) { return step.own.broken && !step.peer.broken; }

SeenStream Own(const Step& step) { return Of(step.own, step.last.stream_id); }
SeenStream Peer(const Step& step) { return Of(step.peer, step.last.stream_id); }

bool OnlyPeerResets(const Step& step) { return !Own(step).reset && Peer(step).reset; }
bool OnlyOwnResets(const Step& step) { return Own(step).reset && !Peer(step).reset; }

bool IsTrailers(const Step& step) {
  return IsOfBlock(step.last) && !step.before.head.empty() && !step.before.ended;
}

int64_t Count(const SeenStream& stream, std::string_view name) {
  return std::count_if(stream.head.begin(), stream.head.end(),
                       [name](const auto& field) { return field.first == name; });
}

// Empty, if there is none.
std::string Value(const SeenStream& stream, std::string_view name) {
  for (const auto& [field, value] : stream.head) {
    if (field == name) return value;
  }
  return "";
}

bool HasOuterSpaces(const SeenStream& stream) {
  constexpr std::string_view kSpaces = " \t";
  return std::any_of(stream.head.begin(), stream.head.end(), [&](const auto& field) {
    const std::string& value = field.second;
    return !value.empty() && (kSpaces.find(value.front()) != std::string_view::npos ||
                              kSpaces.find(value.back()) != std::string_view::npos);
  });
}

bool HasControls(const SeenStream& stream) {
  return std::any_of(stream.head.begin(), stream.head.end(), [](const auto& field) {
    return std::any_of(field.second.begin(), field.second.end(),
                       [](char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f; });
  });
}

uint32_t HighestId(const Seen& seen) {
  return seen.streams.empty() ? 0 : seen.streams.rbegin()->first;
}

struct Exception {
  bool (*applies)(const Step& step);
  const char* reason;
};

constexpr Exception kExceptions[] = {
    // A client's GOAWAY is about streams that a server pushes.
    {[](const Step& step) { return step.last.Is(h2::FrameType::kGoaway); },
     "Levee pushes no streams and ignores it; nghttp2 judges the id."},
    {[](const Step& step) {
       return step.last.Is(h2::FrameType::kRstStream) && OnlyPeerBreaks(step);
     },
     "A reset of a stream that never began is a call that was opened and cancelled "
     "(docs/decisions/http2.md)."},
    {[](const Step& step) {
       return IsOfBlock(step.last) && OnlyOwnBreaks(step) &&
              step.last.stream_id <= HighestId(step.own);
     },
     "RFC 9113, sections 5.1 and 5.1.1: HEADERS with an id below another one's, or of a stream "
     "that the peer has reset, end the connection. nghttp2 ignores them."},
    {[](const Step& step) {
       return step.last.Is(h2::FrameType::kData) && OnlyOwnBreaks(step) && step.before.ended &&
              step.own.error == kResetStreamClosed;
     },
     "RFC 9113, section 5.1: a frame behind END_STREAM ends the connection. nghttp2 forgets the "
     "streams that ended first once more have ended than may be open, and ignores their frames."},
    {[](const Step& step) { return OnlyPeerBreaks(step) && step.before.reset; },
     "RFC 9113, section 5.1: frames of a stream that this side has reset may have been on their "
     "way."},
    {[](const Step& step) {
       return OnlyOwnResets(step) &&
              (Value(Peer(step), ":path").find('#') != std::string::npos ||
               Value(Peer(step), ":authority").find('@') != std::string::npos ||
               Value(Peer(step), "host").find('@') != std::string::npos);
     },
     "RFC 9113, section 8.3.1: no fragment in :path, and no userinfo. nghttp2 passes both on."},
    {[](const Step& step) { return OnlyPeerResets(step) && HasOuterSpaces(Own(step)); },
     "gRPC lets metadata begin and end with spaces, which a receiver may strip. RFC 9113, section "
     "8.2.1, does not."},
    {[](const Step& step) { return IsTrailers(step) && OnlyPeerResets(step) && Own(step).ended; },
     "Requests of gRPC have no trailers. Levee drops them, with fields that do not belong there."},
    {[](const Step& step) {
       return step.last.Is(h2::FrameType::kWindowUpdate) && OnlyPeerBreaks(step) && Own(step).reset;
     },
     "RFC 9113, section 6.9: WINDOW_UPDATE of 0 for a stream ends that stream."},
    {[](const Step& step) {
       return step.last.Is(h2::FrameType::kData) && step.last.Has(h2::kFlagPadded) &&
              OnlyOwnBreaks(step) &&
              (step.before.head.empty() || step.before.ended || step.before.reset);
     },
     "RFC 9113, section 6.1: more padding than frame is a fault. nghttp2 does not look at DATA of "
     "streams that are closed."},
    {[](const Step& step) {
       return step.own.broken == step.peer.broken && (Value(Own(step), ":method") == "CONNECT" ||
                                                      Value(Peer(step), ":method") == "CONNECT");
     },
     "Levee answers every CONNECT on a stream with an error, whatever else its head says."},
    {[](const Step& step) {
       return OnlyOwnBreaks(step) && step.own.error == kResetCompressionError;
     },
     "nghttp2 allows any number of updates of the table in front of a block. hpack_fuzz compares "
     "blocks."},
    {[](const Step& step) {
       return OnlyPeerBreaks(step) && step.peer.why.ends_with("depend on itself");
     },
     "RFC 9113, section 5.3: priorities are not used any more."},
    {[](const Step& step) {
       return OnlyPeerBreaks(step) &&
              step.peer.why.ends_with("invalid SETTINGS_ENABLE_CONNECT_PROTOCOL");
     },
     "RFC 9113, section 6.5.2: unknown settings are ignored. Levee does not have RFC 8441's."},
    {[](const Step& step) {
       return OnlyPeerBreaks(step) &&
              step.peer.why.ends_with("SETTINGS_NO_RFC7540_PRIORITIES cannot be changed");
     },
     "RFC 9218, section 2.1: a receiver may take a change for a fault. Levee reads no priorities."},
    {[](const Step& step) { return OnlyPeerResets(step) && HasControls(Own(step)); },
     "RFC 9113, section 8.2.1, forbids NUL, CR and LF alone, and RFC 9110, section 5.5, lets a "
     "receiver keep other control characters. nghttp2 does not."},
    {[](const Step& step) {
       return OnlyOwnBreaks(step) && step.own.error == kResetEnhanceYourCalm;
     },
     "SETTINGS have a bound that is not in the options."},
    {[](const Step& step) {
       constexpr uint32_t kEntryBytes = 6;
       return step.last.Is(h2::FrameType::kSettings) && OnlyOwnBreaks(step) &&
              step.last.length > kEntryBytes;
     },
     "RFC 9113, section 6.5.3: the values of a frame are processed in their order. Of each "
     "setting, "
     "nghttp2 looks at the last one."},
    {[](const Step& step) {
       return step.last.Is(h2::FrameType::kSettings) && OnlyOwnBreaks(step) &&
              step.own.error == kResetFlowControlError;
     },
     "RFC 9113, section 6.9.2: SETTINGS by which a window overflows end the connection. nghttp2 "
     "resets the stream."},
    {[](const Step& step) {
       return OnlyPeerResets(step) && Count(Own(step), ":authority") == 1 &&
              Value(Own(step), ":authority").empty();
     },
     "Levee routes a request with an empty :authority like any other. Its routes decide."},
};

}  // namespace

bool IsOfBlock(const h2::FrameHead& head) {
  return head.Is(h2::FrameType::kHeaders) || head.Is(h2::FrameType::kContinuation);
}

SeenStream Of(const Seen& seen, uint32_t stream) {
  const auto found = seen.streams.find(stream);
  return found == seen.streams.end() ? SeenStream() : found->second;
}

const char* ReasonFor(const Step& step) {
  for (const Exception& each : kExceptions) {
    if (each.applies(step)) return each.reason;
  }
  return nullptr;
}

}  // namespace levee
