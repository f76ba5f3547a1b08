// SPDX-License-Identifier: Apache-2.0
// What a caller's bytes cost: no input makes a worker do more than so much for each of its bytes.
// They arrive a frame or more at a time: what a packet costs whatever it holds is the system's.
// Inputs that cost more for a byte than all before them are kept, whatever code they reach, so that
// the search goes there.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/byte_source.h"
#include "fuzz/frame_grammar.h"
#include "fuzz/scripted_peers.h"
#include "fuzz/worker_run.h"
#include "virtual/wire_end.h"

namespace levee {
namespace {

constexpr int kMaxSteps = 200;
constexpr int kShortRequests = 100;

// What retries cost is the upstream's doing.
constexpr std::string_view kGoodAnswers("\0", 1);

// About a microsecond (work_count.h): loops over bytes take 400 to 1000 edges in one.
constexpr uint64_t kMicrosecond = 600;
// What a connection costs whose caller says nothing, and more.
constexpr uint64_t kFloor = 100 * kMicrosecond;
// A call of 16 bytes, which is the shortest, costs up to 550 edges for each of them.
constexpr uint64_t kPerByte = kMicrosecond;

// Set is the counter of the work per byte, in quarters of powers of two. The fuzzing engine keeps
// inputs that set one that no input has set before.
constexpr size_t kSteps = 4;
__attribute__((section("__libfuzzer_extra_counters"))) uint8_t reached[64 * kSteps];

size_t StepOf(uint64_t work) {
  const auto power = static_cast<size_t>(std::bit_width(work));
  const size_t quarter = power < 3 ? 0 : work >> (power - 3) & (kSteps - 1);
  return std::min(kSteps * power + quarter, sizeof reached - 1);
}

// The names of fields that somebody reads, and of one that nobody does.
constexpr std::array<std::string_view, 16> kNames = {
    "via",          "levee-priority", "levee-retries",   "levee-overload",
    "traceparent",  "tracestate",     "grpc-timeout",    "grpc-previous-rpc-attempts",
    "content-type", "content-length", "idempotency-key", "host",
    "te",           "cookie",         "x-tenant",        "x"};

// RFC 7541, sections 5.1 and 6.2.1: a literal that HPACK's table keeps, with a new name.
std::string Kept(std::string_view name, std::string_view value) {
  std::string literal(1, '\x40');
  for (const std::string_view text : {name, value}) {
    size_t size = text.size();
    literal += static_cast<char>(std::min<size_t>(size, 0x7f));
    if (size >= 0x7f) {
      for (size -= 0x7f; size >= 0x80; size >>= 7) literal += static_cast<char>(size | 0x80);
      literal += static_cast<char>(size);
    }
    literal += text;
  }
  return literal;
}

// Requests of 16 bytes that stand for one with a large field, by references to HPACK's table.
class ShortRequests {
 public:
  // Fills the table: with the field's name, and a few bytes over and over for its value.
  static std::string Teach(ByteSource& source) {
    constexpr size_t kLarge = 3600;  // all together fit in 4096 bytes
    std::string block = "\x83\x86";  // :method POST, :scheme http
    for (const auto& [name, value] : kRequestWords.head.subspan(2)) block += Kept(name, value);
    const std::string_view name = kNames[source.Below(kNames.size())];
    const std::string some = source.Take(source.Byte() & 31) + '2';
    std::string value;
    while (value.size() < kLarge) value += some;
    return Frame(kHeaders, kEndHeaders | kEndStream, kFirst, block + Kept(name, value));
  }

  std::string Next() {
    return Frame(kHeaders, kEndHeaders | kEndStream, next_ += 2, "\x83\x86\xc2\xc1\xc0\xbf\xbe");
  }

 private:
  static constexpr uint8_t kHeaders = 1, kEndStream = 1, kEndHeaders = 4;
  static constexpr uint32_t kFirst = 17;  // above those of NextFrame
  uint32_t next_ = kFirst;
};

class CostRun {
 public:
  explicit CostRun(ByteSource& source)
      : source_(source), worker_(source.Below(WorkerRun::kShapes)), caller_(worker_.Connect()) {}

  void Run() {
    Send(std::string(kPreface) + EmptySettings());
    if (source_.Flag()) {
      SendShortRequests();
    } else {
      SendFrames();
    }
    Settle();
    caller_.Close();
    Settle();
    const uint64_t work = worker_.work() - begun_;
    reached[StepOf(work / sent_)] = 1;
    if (work <= kFloor + kPerByte * sent_) return;
    std::fprintf(stderr, "%zu bytes cost as much as %llu us\n", sent_,
                 static_cast<unsigned long long>(work / kMicrosecond));
    std::abort();
  }

 private:
  void SendFrames() {
    for (int i = 0; i < kMaxSteps && !source_.empty(); ++i) {
      Send(NextFrame(source_, kRequestWords));
      if (source_.Below(4) == 0) Settle();
    }
  }

  // What fills the table does not count.
  void SendShortRequests() {
    Send(ShortRequests::Teach(source_));
    Settle();
    sent_ = 0;
    begun_ = worker_.work();
    ShortRequests requests;
    for (int i = 0; i < kShortRequests; ++i) {
      Send(requests.Next());
      Settle();
    }
  }

  void Send(const std::string& bytes) {
    sent_ += bytes.size();
    caller_.Send(bytes);
  }

  void Settle() {
    worker_.Settle([this] { return Pump(); });
  }

  bool Pump() {
    bool moved = caller_.Write(SIZE_MAX);
    received_.clear();
    moved = caller_.Read(received_) || moved;
    for (int fd = worker_.Accept(); fd >= 0; fd = worker_.Accept()) {
      upstreams_.push_back(std::make_unique<ScriptedUpstream>(fd, kGoodAnswers, requests_));
      moved = true;
    }
    for (const auto& upstream : upstreams_) moved = upstream->Pump() || moved;
    return moved;
  }

  ByteSource& source_;
  WorkerRun worker_;
  size_t requests_ = 0;
  size_t sent_ = 0;     // bytes that count
  uint64_t begun_ = 0;  // the work before them
  std::string received_;
  WireEnd caller_;
  std::vector<std::unique_ptr<ScriptedUpstream>> upstreams_;
};

}  // namespace
}  // namespace levee

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  levee::ByteSource source({data, size});
  levee::CostRun(source).Run();
  return 0;
}
