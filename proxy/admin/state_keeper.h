// SPDX-License-Identifier: Apache-2.0
// Records the state of a sidecar every second and makes the message that shows it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "admin/sidecar_view.h"
#include "base/instant.h"
#include "insight/state_record.h"
#include "insight/store_record.h"
#include "levee/admin/v1/admin.pb.h"

namespace levee {

// Reads the counters at every whole second since the sidecar's start, beginning with Start; the
// servers ask it for the state. Without Start it costs nothing, as in a sidecar without admin
// servers.
//
// Any thread may call Read, Endpoints and second, and may begin and end a Listening. The other
// functions belong to the thread that created the keeper.
class StateKeeper {
 public:
  // `view` must outlive the keeper. `instance` tells this process from the one before: a UUID.
  StateKeeper(const SidecarView& view, std::string instance);
  ~StateKeeper();
  StateKeeper(const StateKeeper&) = delete;
  StateKeeper& operator=(const StateKeeper&) = delete;

  // Begins to read the counters, on a thread of its own. Does nothing if it has begun already.
  // Events that were counted before are part of no sample.
  void Start();

  // Stops reading; the samples stay. A second call does nothing.
  void Stop();

  // Reads the counters if a second has become whole by `now` that was not read yet. Start's thread
  // does this every second. The first call only notes the values of the counters.
  void Tick(Instant now);

  // The last whole second that was read; 0 before the first.
  uint32_t second() const;

  // Returns the state now, bounded as the message says. NotFound if `request` names an upstream
  // that does not exist. Only one state is made at a time, so that many readers need no more memory
  // than one.
  absl::StatusOr<admin::v1::State> Read(const admin::v1::GetStateRequest& request);

  // Returns the workers' views of their endpoints. The workers are asked at most once for every
  // second that was read, and only on demand, since it takes a turn of their loops. So this may
  // take as long as SidecarView::Endpoints. Never nullptr.
  std::shared_ptr<const std::vector<EndpointView>> Endpoints();

  // While it lives, its function is called after every second that was read, on the thread that
  // read it. The function must neither block nor call back. When the destructor returns, the
  // function is not running.
  class Listening {
   public:
    Listening(StateKeeper& keeper, std::function<void()> heard);
    ~Listening();
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

   private:
    StateKeeper& keeper_;
    int number_;
  };

 private:
  void Run();
  bool ReadCounters(Instant now);  // False if there is no new second.
  void AddCertificates(const ConfigStatus& config, admin::v1::State& state) const;
  void AddShared(admin::v1::Sidecar& sidecar) const;
  RecentState Recent(const admin::v1::GetStateRequest& request, const Snapshot& snapshot) const;

  const SidecarView& view_;
  const std::string instance_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  StateRecord record_;
  StoreRecord stores_;

  std::mutex building_;  // held while a state is put together

  std::mutex endpoints_mutex_;  // held while the workers are asked
  uint32_t endpoints_second_ = 0;
  std::shared_ptr<const std::vector<EndpointView>> endpoints_;

  std::mutex listeners_mutex_;  // held while they are called
  std::map<int, std::function<void()>> listeners_;
  int next_listener_ = 0;

  std::thread thread_;
};

}  // namespace levee
