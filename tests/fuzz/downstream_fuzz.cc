// SPDX-License-Identifier: Apache-2.0
// Bytes of a caller into a whole worker, before an upstream that follows a script: nothing that a
// caller does makes the worker break the protocol towards the upstream, or keep anything of a
// caller that has left.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/byte_source.h"
#include "fuzz/frame_grammar.h"
#include "fuzz/scripted_peers.h"
#include "fuzz/worker_run.h"
#include "virtual/wire_end.h"

namespace levee {
namespace {

constexpr int kMaxSteps = 300;
constexpr size_t kScript = 4;

class DownstreamRun {
 public:
  explicit DownstreamRun(ByteSource& source)
      : source_(source),
        worker_(source.Below(WorkerRun::kShapes)),
        script_(source.Take(kScript) + '\0'),
        // How much of what the caller says arrives at a time.
        piece_(source.Flag() ? SIZE_MAX : 1 + source.Byte()),
        caller_(worker_.Connect()) {
    if (source_.Flag()) caller_.Send(std::string(kPreface) + EmptySettings());
  }

  void Run() {
    for (int i = 0; i < kMaxSteps && !source_.empty(); ++i) Step();
    Settle();
    caller_.Close();
    Settle();
    worker_.CheckNothingLeft();
  }

 private:
  void Step() {
    switch (source_.Below(16)) {
      case 0:
      case 1:
        return Settle();
      case 2:
        WorkerRun::Advance(absl::Microseconds(source_.Below(1 << 21)));
        return Settle();
      case 3:
        return StepRarely();
      case 4:
        Pump();
        return worker_.Turn();
      default:
        caller_.Send(NextFrame(source_, kRequestWords));
    }
  }

  void StepRarely() {
    switch (source_.Below(8)) {
      case 0:
        return caller_.HalfClose();
      case 1:
        return worker_.AnnounceShutdown();
      case 2:
        if (!upstreams_.empty()) upstreams_.back()->Close();
        return;
      case 3:  // The caller reads nothing from now on, or again.
        reads_ = !reads_;
        return;
      case 4:
        return WorkerRun::Advance(absl::Seconds(source_.Below(64)));
      default:
        caller_.Send(source_.Take(source_.Below(256)));
    }
  }

  bool Pump() {
    bool moved = caller_.Write(piece_);
    received_.clear();
    if (reads_) moved = caller_.Read(received_) || moved;
    for (int fd = worker_.Accept(); fd >= 0; fd = worker_.Accept()) {
      upstreams_.push_back(std::make_unique<ScriptedUpstream>(fd, script_, requests_));
      moved = true;
    }
    for (const auto& upstream : upstreams_) moved = upstream->Pump() || moved;
    return moved;
  }

  void Settle() {
    worker_.Settle([this] { return Pump(); });
  }

  ByteSource& source_;
  WorkerRun worker_;
  const std::string script_;
  const size_t piece_;
  size_t requests_ = 0;
  bool reads_ = true;
  std::string received_;
  WireEnd caller_;
  std::vector<std::unique_ptr<ScriptedUpstream>> upstreams_;
};

}  // namespace
}  // namespace levee

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  levee::ByteSource source({data, size});
  levee::DownstreamRun(source).Run();
  return 0;
}
