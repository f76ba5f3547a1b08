// SPDX-License-Identifier: Apache-2.0
// A simulated service that has only so much room, and does not know when to stop.
#pragma once

#include <cstdint>
#include <functional>
#include <list>

#include "absl/time/time.h"
#include "base/random.h"
#include "sim/sim_clock.h"
#include "sim/sim_endpoints.h"
#include "sim/sim_host.h"
#include "wire/status.h"

namespace levee {

// How the work of a service is done.
enum class WorkKind {
  kFixed,        // in slots, in the order of arrival; each piece takes as long
  kExponential,  // the same, but what a piece takes is distributed exponentially
  kCpu,          // all at once, by as many processors as there are slots
};

// Work goes on when the caller has gone. It outlives the clock's events.
class LoadedService {
 public:
  LoadedService(SimClock& clock, WorkKind kind, int slots, uint64_t seed)
      : clock_(clock), kind_(kind), slots_(slots), random_(seed) {}
  LoadedService(const LoadedService&) = delete;
  LoadedService& operator=(const LoadedService&) = delete;

  // Serves attempts that take `work`, on average, when nothing else is done.
  Service Method(absl::Duration work);
  // Serves the attempt with the work that `work` returns for it, and answers with `code`.
  Service Methods(std::function<absl::Duration(const SimHost& host)> work,
                  std::function<StatusCode(const SimHost& host)> code = nullptr);

  void SetSlots(int slots);

 private:
  struct Piece {
    SimHost::Ref host;
    AttemptId attempt;
    absl::Duration left;
    StatusCode code;
  };

  void Begin(Piece piece);
  void BeginNext();
  void Advance();
  void Arm();
  void EndDone();
  static void Answer(const Piece& piece);

  SimClock& clock_;
  const WorkKind kind_;
  int slots_;
  Random random_;
  std::list<Piece> waiting_;  // of services with slots
  int working_ = 0;
  std::list<Piece> shared_;  // of kCpu: all pieces
  absl::Duration advanced_;  // up to then
  int64_t armed_ = 0;
};

}  // namespace levee
