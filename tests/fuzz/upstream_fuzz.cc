// SPDX-License-Identifier: Apache-2.0
// Bytes of an upstream into a whole worker that carries a well-behaved caller's calls: whatever the
// upstream does, every call has one answer in time, no answer is malformed, and no more requests
// reach the upstream than the policy allows.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "fuzz/byte_source.h"
#include "fuzz/frame_grammar.h"
#include "fuzz/scripted_peers.h"
#include "fuzz/worker_run.h"
#include "virtual/wire_end.h"

namespace levee {
namespace {

constexpr int kMaxSteps = 300;
constexpr size_t kMaxCalls = 8;

class UpstreamRun {
 public:
  explicit UpstreamRun(ByteSource& source)
      : source_(source),
        worker_(source.Below(WorkerRun::kShapes)),
        // How much of what the upstream says arrives at a time.
        piece_(source.Flag() ? SIZE_MAX : 1 + source.Byte()),
        speaks_(source.Flag()),
        caller_(worker_.Connect()) {
    Settle();
    StartCall();
    Settle();
  }

  void Run() {
    for (int i = 0; i < kMaxSteps && !source_.empty(); ++i) Step();
    for (int i = 0; i < 4; ++i) {
      Settle();
      WorkerRun::Advance(WorkerRun::kTimeout / 3);
    }
    Settle();
    caller_.CheckAnswered();
    // One transparent retry is outside of the count.
    const auto calls = static_cast<int>(caller_.calls());
    LEVEE_CHECK(requests() <= calls * (WorkerRun::kMaxAttempts + 1));
    caller_.Close();
    Settle();
    worker_.CheckNothingLeft();
  }

 private:
  struct Connection {
    explicit Connection(int fd) : wire(fd) {}
    WireEnd wire;
    HeadersCounter requests{/*preface=*/true};
  };

  void Step() {
    switch (source_.Below(16)) {
      case 0:
      case 1:
        return Settle();
      case 2:
        WorkerRun::Advance(absl::Microseconds(source_.Below(1 << 21)));
        return Settle();
      case 3:
        return StepOfCaller();
      case 4:
        return StepRarely();
      default:
        if (!connections_.empty()) Newest().wire.Send(NextFrame(source_, kResponseWords));
    }
  }

  void StepOfCaller() {
    const uint64_t kind = source_.Below(8);
    if (kind < 4 || caller_.calls() == 0) return StartCall();
    const size_t call = source_.Below(caller_.calls());
    if (kind == 4) return caller_.Reset(call);
    const bool end = source_.Flag();
    caller_.Send(call, std::string(source_.Below(400), 'y'), end);
  }

  void StepRarely() {
    if (connections_.empty()) return;
    switch (source_.Below(4)) {
      case 0:
        return Newest().wire.HalfClose();
      case 1:
        return Newest().wire.Close();
      case 2:
        return worker_.AnnounceShutdown();
      default:
        return Newest().wire.Send(source_.Take(source_.Below(256)));
    }
  }

  // Mostly: one of those before it is asked for now and then.
  Connection& Newest() {
    const size_t back = source_.Below(8) == 0 ? source_.Below(connections_.size()) : 0;
    return *connections_[connections_.size() - 1 - back];
  }

  void StartCall() {
    if (caller_.calls() >= kMaxCalls) return;
    const bool end = source_.Flag();
    caller_.Start(std::string(source_.Below(400), 'x'), end);
  }

  bool Pump() {
    bool moved = caller_.Pump();
    for (int fd = worker_.Accept(); fd >= 0; fd = worker_.Accept()) {
      connections_.push_back(std::make_unique<Connection>(fd));
      if (speaks_) connections_.back()->wire.Send(EmptySettings());
      moved = true;
    }
    for (const auto& connection : connections_) {
      std::string received;
      moved = connection->wire.Read(received) || moved;
      connection->requests.Receive(received);
      moved = connection->wire.Write(piece_) || moved;
    }
    return moved;
  }

  void Settle() {
    worker_.Settle([this] { return Pump(); });
  }

  int requests() const {
    int count = 0;
    for (const auto& connection : connections_) count += connection->requests.count();
    return count;
  }

  ByteSource& source_;
  WorkerRun worker_;
  const size_t piece_;
  const bool speaks_;  // every connection begins with SETTINGS
  Caller caller_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace
}  // namespace levee

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  levee::ByteSource source({data, size});
  levee::UpstreamRun(source).Run();
  return 0;
}
