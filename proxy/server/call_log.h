// A worker's way to the access log.
#pragma once

#include "base/random.h"
#include "net/line_writer.h"
#include "policy/access_log_filter.h"
#include "server/accepted_connection.h"
#include "telemetry/access_log.h"
#include "wire/call_record.h"
#include "wire/metadata.h"

namespace levee {

// What a line says of the request whose head is `request`; views into it and into `origin`. The
// rest is the caller's to fill in.
AccessLogFacts FactsOf(const ConnectionOrigin& origin, const Metadata& request);

// One thread.
class CallLog {
 public:
  // `lines`: nullptr if there is no access log. Both outlive it.
  CallLog(net::LineWriter* lines, Random& random) : lines_(lines), random_(random) {}

  // Whether this ended call gets a line. Asked once per call, since it may be left to chance.
  bool Wants(const AccessLogFilter& filter, const CallRecord& record) {
    return lines_ != nullptr && filter.Selects(record, random_);
  }

  // Writes the line; `facts.start` is found here.
  void Write(AccessLogFacts facts, const CallRecord& record,
             AccessLogFormatter::EndpointNames endpoint_name);

 private:
  net::LineWriter* const lines_;
  Random& random_;
  AccessLogFormatter formatter_;
};

}  // namespace levee
