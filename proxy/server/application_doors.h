// SPDX-License-Identifier: Apache-2.0
// The doors of the application: whether callers may come in by an inbound listener.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/intrusive_list.h"
#include "conn/worker_io.h"
#include "server/applications.h"
#include "server/call_log.h"
#include "server/call_plan.h"
#include "server/destination_table.h"
#include "server/downstream_connection.h"
#include "server/rpc_stream.h"
#include "settings/snapshot.h"
#include "upstream/upstream_connection.h"

namespace levee {

// Whether a call of `plan` has not reached the application, which takes no connections. Its
// caller's library then sends it elsewhere by itself.
bool GoesElsewhere(const CallPlan& plan, const CallRecord& record);

// A listener's door is open while one of the upstreams to which it leads takes connections, or it
// is not known yet whether one does. As it closes its callers are told to go elsewhere, as the
// application's connections would end without a sidecar, and calls that have not left end at once.
// One thread: the worker's.
class ApplicationDoors final : public ApplicationWatcher, private TurnTask {
 public:
  // `moved` is called with the name of a listener whose door has opened or closed. All outlive it.
  ApplicationDoors(WorkerIo& io, DestinationTable& destinations,
                   IntrusiveList<DownstreamConnection>& connections,
                   IntrusiveList<RpcStream>& calls, CallLog& log,
                   std::function<void(const std::string& listener, bool open)> moved)
      : io_(io),
        destinations_(destinations),
        connections_(connections),
        calls_(calls),
        log_(log),
        moved_(std::move(moved)) {}

  // Another configuration, which the table of destinations has already.
  void Reload(const Snapshot& snapshot);

  // Whether the listener's door is closed.
  bool IsClosed(const std::string& listener) const { return closed_.contains(listener); }

  // Turns a call to the application away if that cannot take it: REFUSED_STREAM, so that its
  // caller's library sends it elsewhere. Returns whether it did.
  bool TurnsAway(const CallPlan& plan, const ConnectionOrigin& origin, h2::Stream& stream,
                 const Metadata& request);

  // Whether there are doors, and all of them are closed.
  bool AllClosed() const {
    return !applications_.empty() && closed_.size() == applications_.size();
  }

  void OnReachChanged() override;

 private:
  void OnTurnEnd() override;
  // Whether one of the upstreams takes connections, or may.
  bool Leads(const std::set<std::string>& upstreams) const;
  void SendAway(const std::string& listener);
  void Close(const std::string& listener);

  WorkerIo& io_;
  DestinationTable& destinations_;
  IntrusiveList<DownstreamConnection>& connections_;
  IntrusiveList<RpcStream>& calls_;
  CallLog& log_;
  const std::function<void(const std::string&, bool)> moved_;
  Applications applications_;
  std::set<std::string> closed_;  // listeners
};

}  // namespace levee
