// SPDX-License-Identifier: Apache-2.0
// The access log: a line with one JSON object for each call.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "wire/call_record.h"

namespace levee {

// The part of a line that is not in the record of the call.
struct AccessLogFacts {
  absl::Time start;  // the wall clock's, at the record's start
  std::string_view listener;
  std::string_view peer;  // the caller's name by its certificate; empty: none
  // IP:PORT where the call's connection was going when it was redirected; empty: to Levee.
  std::string_view original_destination;
  std::string_view upstream;  // "none" for a call without route
  std::string_view authority;
  std::string_view path;      // the call's :path
  std::string_view message;   // as the caller saw it, unencoded
  std::string_view trace_id;  // empty: none
  // Sizes of the messages with their prefixes, from the caller and to it.
  uint64_t request_bytes = 0;
  uint64_t response_bytes = 0;
  double sample = 1;  // the share of such calls that is written
  // For a call of which an attempt reached no endpoint: those that could not be reached.
  std::vector<std::string> unreached;
};

// Writes lines. The JSON is written by hand: its shape hardly varies, and a library would first
// build a tree of it, which costs more than ten times as much. One thread.
class AccessLogFormatter {
 public:
  // Returns the address of an endpoint; empty if the endpoint is not known any more. `endpoint` is
  // 0 or more.
  using EndpointNames = absl::FunctionRef<std::string(int64_t endpoint)>;

  // Returns the line with its line end. The view is valid until the next call. Every member is
  // always there; a member that has no value is `null`:
  //
  //   time              RFC 3339 in UTC: when the call began
  //   method            without leading slash, as in metrics; also listener, upstream, authority
  //   peer              the caller's name by its certificate
  //   original_destination  where its connection was going when the firewall redirected it
  //   kind              unary or stream, as far as it was known at the end
  //   code, message     as the caller saw them
  //   attempts          [{n, endpoint, start_ms, duration_ms, code, trigger, delay_ms}]: n counts
  //                     all from 1; start_ms since `time`; trigger: what made it necessary;
  //                     delay_ms: the delay that was chosen before it
  //   unreached         if an attempt reached no endpoint: the endpoints that had no connection
  //   when
  //                     the call ended, or some of them
  //   refused           why retrying stopped
  //   ended_by          the bound of streams that ended it: timeout or idle
  //   waits             [{after, waited_ms, end}]: of retries, for a success: after how many
  //                     attempts, and how it ended: released, expired, deadline or cancelled
  //   marks             [{direction: received|sent, scope}], those received in their order
  //   duration_ms, request_bytes, response_bytes, trace_id
  //   sample            the share of such calls that is written
  std::string_view Format(const AccessLogFacts& facts, const CallRecord& record,
                          EndpointNames endpoint_name);

 private:
  void AppendTime(absl::Time time);
  void AppendAttempts(const CallRecord& record, EndpointNames endpoint_name);
  void AppendUnreached(const std::vector<std::string>& unreached);
  void AppendWaits(const CallRecord& record);
  void AppendMarks(const CallRecord& record);
  void AppendGuard(const GuardRecord& guard);

  std::string line_;
  // Most lines of a busy log fall into the second of the one before.
  int64_t second_ = std::numeric_limits<int64_t>::min();
  std::string second_text_;
};

}  // namespace levee
