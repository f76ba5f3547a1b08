// What a sidecar says about itself: it remembers the last minutes and puts the state together.
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
#include "admin/sources.h"
#include "base/instant.h"
#include "insight/history.h"
#include "insight/numbered_calls.h"
#include "levee/admin/v1/admin.pb.h"

namespace levee {

// Looks at the counters at every whole second since `sources.started`, from Start on; the servers
// ask it for the state. Without Start it costs nothing, which is how a sidecar without admin
// servers has it.
//
// Any thread may call Read, Endpoints, second, and begin and end a Listening; the rest belongs to
// the thread that created it.
class StateKeeper {
 public:
  // `sources` outlives it. `instance` tells this process from the one before: a UUID.
  StateKeeper(const AdminSources& sources, std::string instance);
  ~StateKeeper();
  StateKeeper(const StateKeeper&) = delete;
  StateKeeper& operator=(const StateKeeper&) = delete;

  // Begins to look, on a thread of its own. Does nothing if it looks already. What was counted
  // before is part of no sample.
  void Start();

  // Stops to look; what it has seen stays. Does nothing the second time.
  void Stop();

  // Looks, if a second has become whole by `now` that it has not looked at; what Start's thread
  // does every second. The first call only notes where the counters stand.
  void Tick(Instant now);

  // The last whole second it has looked at; 0 before the first.
  uint32_t second() const;

  // The state now, bounded as the message says. NotFound if `request` names an upstream that there
  // is not. One is put together at a time, so that many readers need no more memory than one.
  absl::StatusOr<admin::v1::State> Read(const admin::v1::GetStateRequest& request);

  // What the workers say of their endpoints. They are asked at most once for every second that has
  // been looked at, and only if somebody wants to know, as it takes a turn of their loops; so it
  // may take as long as AdminSources::endpoints. Never nullptr.
  std::shared_ptr<const std::vector<EndpointView>> Endpoints();

  // As long as it lives, its function is called after every second that has been looked at, on the
  // thread that looked. The function must neither block nor call back; when the destructor returns
  // it is not running.
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
  // What the history says of an upstream.
  struct Past {
    std::string name;
    HistorySample recent;  // the sum of the last `seconds`
    int seconds = 1;
    int seconds_empty = 0;
    uint32_t last_called = 0;
    size_t later = 0;  // how many samples there are that may be asked for
    std::vector<HistorySample> samples;
  };

  void Run();
  bool Look(Instant now);  // False if there is no new second.

  static admin::v1::Upstream UpstreamMessage(const Past& past,
                                             std::vector<admin::v1::Endpoint> endpoints,
                                             size_t most_endpoints);

  // With `mutex_` held.
  std::vector<std::string> ShownUpstreams(const Snapshot& snapshot,
                                          const std::string& upstream) const;
  std::vector<Past> PastOf(const std::vector<std::string>& names,
                           const admin::v1::GetStateRequest& request) const;

  const AdminSources& sources_;
  const std::string instance_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool begun_ = false;  // it has noted where the counters stand
  History history_;
  NumberedCalls calls_;

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
