// SPDX-License-Identifier: Apache-2.0
// The same frames into Levee's session and into another library's, both as servers: they accept the
// same streams, with the same heads and bodies, and end the connection for the same faults. Where
// they differ, session_exceptions.cc says why.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "fuzz/byte_source.h"
#include "fuzz/frame_grammar.h"
#include "fuzz/server_sessions.h"
#include "fuzz/session_exceptions.h"
#include "h2/frame.h"

namespace levee {
namespace {

constexpr int kMaxSteps = 200;

constexpr std::array kHead = {
    HeaderField{":method", "POST"},      HeaderField{":scheme", "http"},
    HeaderField{":path", "/shop.C/Get"}, HeaderField{":authority", "shop:1"},
    HeaderField{"te", "trailers"},       HeaderField{"content-type", "application/grpc"},
};
constexpr std::array kFields = {
    HeaderField{"content-length", "5"},
    HeaderField{"content-length", "05"},
    HeaderField{"content-length", "-1"},
    HeaderField{"content-length", ""},
    HeaderField{"host", "shop:1"},
    HeaderField{"host", ""},
    HeaderField{"te", "gzip"},
    HeaderField{"connection", "close"},
    HeaderField{"x-space", " a"},
    HeaderField{"x-space", "a\t"},
    HeaderField{"x-empty", ""},
    HeaderField{"x_odd!", "~"},
    HeaderField{"X-Upper", "1"},
    HeaderField{"x nul", "1"},
    HeaderField{":path", "/shop.C/Put"},
    HeaderField{":path", "shop"},
    HeaderField{":path", ""},
    HeaderField{":path", "*"},
    HeaderField{":authority", ""},
    HeaderField{":authority", "sh op"},
    HeaderField{":method", "CONNECT"},
    HeaderField{":method", "G T"},
    HeaderField{":method", ""},
    HeaderField{":scheme", ""},
    HeaderField{":scheme", "h,p"},
    HeaderField{":status", "200"},
    HeaderField{":protocol", "x"},
    HeaderField{"cookie", "a=1"},
    // Beside the odd ones, for heads that are not kHead.
    HeaderField{":method", "PUT"},
    HeaderField{":scheme", "https"},
    HeaderField{":path", "/"},
    HeaderField{":authority", "a"},
};
constexpr FrameWords kWords = {kHead, kFields};

// Ends the process with what both have seen. `last`: the frame after which they differ.
[[noreturn]] void Differ(const h2::FrameHead& last, const Seen& own, const Seen& peer) {
  std::fprintf(stderr, "they differ after a frame of type %u, flags %u, stream %u, %u bytes\n",
               unsigned{last.type}, unsigned{last.flags}, last.stream_id, last.length);
  for (const auto& [name, seen] : {std::pair{"levee", &own}, std::pair{"nghttp2", &peer}}) {
    std::fprintf(stderr, "%s: broken %d, error %u %s\n", name, seen->broken, seen->error,
                 seen->why.c_str());
    for (const auto& [id, each] : seen->streams) {
      std::fprintf(stderr, "  %u:", id);
      for (const auto& [field, value] : each.head) {
        std::fprintf(stderr, " %s=%s", field.c_str(), value.c_str());
      }
      std::fprintf(stderr, "; %zu bytes%s%s\n", each.body.size(), each.ended ? ", ended" : "",
                   each.reset ? ", reset" : "");
    }
  }
  std::abort();
}

// Cuts the bytes of a client behind each of its frames.
class FrameCutter {
 public:
  // Returns the front of `bytes`, up to a frame's end if there is one, and removes it.
  std::string_view Next(std::string_view& bytes) {
    size_t taken = 0;
    while (taken < bytes.size() && head_.size() < h2::kFrameHeadBytes) head_ += bytes[taken++];
    if (head_.size() == h2::kFrameHeadBytes) {
      last_ = h2::ReadFrameHead(reinterpret_cast<const uint8_t*>(head_.data()));
      const size_t rest = std::min(bytes.size() - taken, last_.length - payload_);
      taken += rest;
      payload_ += rest;
      if (payload_ == last_.length) {
        head_.clear();
        payload_ = 0;
        block_ = IsOfBlock(last_) && !last_.Has(h2::kFlagEndHeaders);
      }
    }
    const std::string_view front = bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    return front;
  }

  // Whether the bytes so far end within a frame or a header block, of which one session may have
  // judged more than the other.
  bool within() const { return !head_.empty() || block_; }

  // The last frame whose head is whole.
  const h2::FrameHead& last() const { return last_; }

 private:
  std::string head_;
  size_t payload_ = 0;  // that has come of the frame
  bool block_ = false;  // that has not ended
  h2::FrameHead last_{};
};

class DifferentialRun {
 public:
  explicit DifferentialRun(ByteSource& source) : source_(source) {}

  void Run() {
    own_.Receive(kPreface);
    peer_.Receive(kPreface);
    Send(EmptySettings());
    for (int i = 0; i < kMaxSteps && !source_.empty() && !over_; ++i) {
      Send(NextFrame(source_, kWords));
    }
  }

 private:
  void Send(std::string_view bytes) {
    while (!bytes.empty() && !over_) {
      const std::string_view piece = cutter_.Next(bytes);
      const SeenStream before = Of(own_.seen(), cutter_.last().stream_id);
      own_.Receive(piece);
      peer_.Receive(piece);
      over_ = own_.seen().broken && peer_.seen().broken;
      if (over_ || cutter_.within()) continue;
      // Behind it, nghttp2 takes no further streams.
      over_ = cutter_.last().Is(h2::FrameType::kGoaway);
      if (Same()) continue;
      if (ReasonFor({cutter_.last(), own_.seen(), peer_.seen(), before}) == nullptr) {
        Differ(cutter_.last(), own_.seen(), peer_.seen());
      }
      over_ = true;  // Both go on in different ways.
    }
  }

  bool Same() const {
    return own_.seen().broken == peer_.seen().broken && own_.seen().streams == peer_.seen().streams;
  }

  ByteSource& source_;
  FrameCutter cutter_;
  LeveeServer own_;
  PeerServer peer_;
  bool over_ = false;
};

}  // namespace
}  // namespace levee

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  levee::ByteSource source({data, size});
  levee::DifferentialRun(source).Run();
  return 0;
}
