// SPDX-License-Identifier: Apache-2.0
#include "server/application_doors.h"

#include <algorithm>
#include <utility>

#include "telemetry/record_call.h"

namespace levee {

bool GoesElsewhere(const CallPlan& plan, const CallRecord& record) {
  return plan.inbound && record.code == StatusCode::kUnavailable &&
         plan.destination->pool->refuses() &&
         std::all_of(record.attempts.begin(), record.attempts.end(),
                     [](const AttemptRecord& attempt) { return attempt.endpoint < 0; });
}

void ApplicationDoors::Reload(const Snapshot& snapshot) {
  applications_ = ApplicationsOf(snapshot);
  std::erase_if(closed_, [this](const std::string& name) { return !applications_.contains(name); });
  io_.AtTurnEnd(*this);
}

bool ApplicationDoors::Leads(const std::set<std::string>& upstreams) const {
  return !std::all_of(upstreams.begin(), upstreams.end(),
                      [this](const std::string& name) { return destinations_.Refuses(name); });
}

// Callers are told before the first call is turned away. A library that learns it the other way
// round may send that call by the same connection again, and then no more.
void ApplicationDoors::OnReachChanged() {
  for (const auto& [listener, upstreams] : applications_) {
    if (!Leads(upstreams) && !closed_.contains(listener)) SendAway(listener);
  }
  io_.AtTurnEnd(*this);
}

void ApplicationDoors::OnTurnEnd() {
  for (const auto& [listener, upstreams] : applications_) {
    const bool closed = !Leads(upstreams);
    if (closed == closed_.contains(listener)) continue;
    if (closed) {
      closed_.insert(listener);
      Close(listener);
    } else {
      closed_.erase(listener);
    }
    moved_(listener, !closed);
  }
}

bool ApplicationDoors::TurnsAway(const CallPlan& plan, const ConnectionOrigin& origin,
                                 h2::Stream& stream, const Metadata& request) {
  if (!plan.destination->pool->refuses()) return false;
  CallRecord record;
  record.start = record.end = io_.loop.now();
  record.code = StatusCode::kUnavailable;
  RecordCall(*plan.method, *plan.destination->series, io_.series, record);
  log_.WriteRefused(plan.snapshot->access_log.filter, origin, request, plan.destination->upstream,
                    "the application takes no connections", record);
  stream.Reset(kResetRefusedStream);
  return true;
}

// With the id of the last call that was taken: what is on its way then goes elsewhere as well.
void ApplicationDoors::SendAway(const std::string& listener) {
  connections_.ForEach([&](DownstreamConnection& connection) {
    if (connection.origin().listener->name == listener) connection.session().Shutdown();
  });
}

void ApplicationDoors::Close(const std::string& listener) {
  SendAway(listener);
  // Ended calls leave the list only at the end of their turn, but they leave it.
  std::vector<RpcStream*> waiting;
  calls_.ForEach([&](RpcStream& call) {
    if (call.origin().listener->name == listener) waiting.push_back(&call);
  });
  for (RpcStream* const call : waiting) call->EndUnsent();
}

}  // namespace levee
