// SPDX-License-Identifier: Apache-2.0
// A worker's way to the access log and to the recent calls.
#pragma once

#include <string_view>

#include "base/random.h"
#include "insight/access_log.h"
#include "insight/recent_calls.h"
#include "net/line_writer.h"
#include "policy/access_log_filter.h"
#include "server/accepted_connection.h"
#include "wire/call_record.h"
#include "wire/metadata.h"

namespace levee {

// Returns the part of a line about the request whose head is `request`: views into it and into
// `origin`. The rest is the caller's to fill in.
AccessLogFacts FactsOf(const ConnectionOrigin& origin, const Metadata& request);

// One thread.
class CallLog {
 public:
  // Where an ended call is to be told of.
  struct Choice {
    bool line = false;    // in the access log
    bool recent = false;  // among the recent calls

    // It was retried, hedged, limited or refused: RecentCalls::Wants.
    bool notable = false;

    double sample = 1;  // the share of such calls that the access log has

    explicit operator bool() const { return line || recent; }
  };

  // Both outlive it.
  CallLog(RecentCalls& recent, Random& random) : recent_(recent), random_(random) {}

  // Where lines go from now on; nullptr: there is no access log. Not owned.
  void SetLines(net::LineWriter* lines) { lines_ = lines; }

  // Asked once per call, since it may be left to chance, and in the order in which calls end: of
  // many that are to be remembered only some are.
  Choice Choose(const AccessLogFilter& filter, const CallRecord& record) {
    const bool notable = RecentCalls::Wants(record);
    return {
        .line = lines_ != nullptr && filter.Selects(record, random_),
        .recent = notable && recent_.enabled() && recent_gate_.Admit(KindOf(record), record.end),
        .notable = notable,
        .sample = filter.sample};
  }

  // `facts.start` is found here.
  void Write(Choice choice, AccessLogFacts facts, const CallRecord& record,
             AccessLogFormatter::EndpointNames endpoint_name);

  // Chooses and writes, of a call that has ended as its head was read.
  void WriteRefused(const AccessLogFilter& filter, const ConnectionOrigin& origin,
                    const Metadata& request, std::string_view upstream, std::string_view message,
                    const CallRecord& record);

 private:
  RecentCalls& recent_;
  RecentCallsGate recent_gate_;
  net::LineWriter* lines_ = nullptr;
  Random& random_;
  AccessLogFormatter formatter_;
};

}  // namespace levee
