// SPDX-License-Identifier: Apache-2.0
#include "server/call_log.h"

#include <string>

#include "net/event_loop.h"
#include "server/call_address.h"
#include "server/request_head.h"
#include "wire/traceparent.h"

namespace levee {

AccessLogFacts FactsOf(const ConnectionOrigin& origin, const Metadata& request) {
  const RequestHead head = ReadRequestHead(request);
  AccessLogFacts facts;
  facts.listener = origin.listener->name;
  facts.peer = origin.identity;
  facts.original_destination = origin.original;
  facts.authority = AddressOf(origin, head.authority).routed_by;
  facts.path = head.path;
  facts.trace_id = TraceIdOf(request);
  return facts;
}

void CallLog::Write(Choice choice, AccessLogFacts facts, const CallRecord& record,
                    AccessLogFormatter::EndpointNames endpoint_name) {
  facts.start = net::WallClock() - (record.end - record.start);
  facts.sample = choice.sample;
  if (choice.line) lines_->Write(formatter_.Format(facts, record, endpoint_name));
  if (choice.recent) recent_.Add(facts, record, endpoint_name);
}

void CallLog::WriteRefused(const AccessLogFilter& filter, const ConnectionOrigin& origin,
                           const Metadata& request, std::string_view upstream,
                           std::string_view message, const CallRecord& record) {
  const Choice choice = Choose(filter, record);
  if (!choice) return;
  AccessLogFacts facts = FactsOf(origin, request);
  facts.upstream = upstream;
  facts.message = message;
  Write(choice, facts, record, [](int64_t) { return std::string(); });
}

}  // namespace levee
