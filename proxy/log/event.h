// SPDX-License-Identifier: Apache-2.0
// The events that a sidecar reports to its operators: the table of their kinds, and one event as a
// value.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace levee {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError, kOff };
std::string_view LogLevelName(LogLevel level);  // "debug", "info", "warning", "error", "off"

// The table in docs/logs.md has a row for each of these and says what to do about it.
enum class EventKind : uint8_t {
  // Of the process.
  kStarted,
  kStopped,
  kListenerOpened,
  kListenerClosed,
  kPortLost,
  kDrainBegun,
  kDrainGoaway,
  kApplicationGone,
  kApplicationBack,
  kDrainEnded,
  // Of the configuration.
  kConfigInEffect,
  kConfigWarning,
  kConfigRefused,
  kConfigFault,
  kConfigUnwatched,
  // Of upstreams. An event that begins a state is followed by the event that ends it.
  kEndpointUnreachable,
  kEndpointReachable,
  kEndpointEjected,
  kEndpointReturned,
  kBudgetExhausted,
  kBudgetRecovered,
  kGuardRefusing,
  kGuardCalm,
  // Of stores, likewise.
  kStoreAway,
  kStoreBack,
  // Of the receiver of spans, likewise.
  kOtlpAway,
  kOtlpBack,
  // Of Workload APIs, likewise.
  kWorkloadApiAway,
  kWorkloadApiBack,
  kSvidReceived,
  kSvidRefused,
  // Of bounds.
  kLimitReached,
  kDescriptorsFew,
  kTunnelCarriesTls,
  kCaptureLoop,
  kAccessLogLost,
  // Of connections.
  kConnectionAccepted,
  kConnectionIdentified,
  kConnectionRefused,
  kConnectionClosed,
  kProtocolError,
  kUpstreamConnecting,
  kUpstreamConnected,
  kUpstreamGoaway,
  kUpstreamClosed,
  // Of calls.
  kCallBroken,
  kRequestRefused,
  kCallDecided,
};

struct EventKindFacts {
  EventKind kind;
  LogLevel level;
  std::string_view name;
  std::string_view message;  // a clause for people
};

inline constexpr auto kEventKinds = std::to_array<EventKindFacts>({
    {EventKind::kStarted, LogLevel::kInfo, "started", "the sidecar serves"},
    {EventKind::kStopped, LogLevel::kInfo, "stopped", "the sidecar has stopped"},
    {EventKind::kListenerOpened, LogLevel::kInfo, "listener_opened", "a port is open"},
    {EventKind::kListenerClosed, LogLevel::kInfo, "listener_closed", "a port is closed"},
    {EventKind::kPortLost, LogLevel::kError, "port_lost",
     "a port that was closed cannot be opened again"},
    {EventKind::kDrainBegun, LogLevel::kInfo, "drain_begun", "the drain has begun"},
    {EventKind::kDrainGoaway, LogLevel::kInfo, "drain_goaway", "callers are told to go elsewhere"},
    {EventKind::kApplicationGone, LogLevel::kWarning, "application_gone",
     "the application accepts no connections, so callers are sent elsewhere"},
    {EventKind::kApplicationBack, LogLevel::kInfo, "application_back",
     "the application accepts connections again, and so does its listener"},
    {EventKind::kDrainEnded, LogLevel::kInfo, "drain_ended", "the drain is over"},
    {EventKind::kConfigInEffect, LogLevel::kInfo, "config_in_effect",
     "a configuration is in effect"},
    {EventKind::kConfigWarning, LogLevel::kWarning, "config_warning",
     "the configuration is legal but dangerous"},
    {EventKind::kConfigRefused, LogLevel::kError, "config_refused",
     "the new configuration is refused; the running one stays"},
    {EventKind::kConfigFault, LogLevel::kError, "config_fault",
     "the new configuration has a fault"},
    {EventKind::kConfigUnwatched, LogLevel::kWarning, "config_unwatched",
     "changes of the configuration are noticed up to 10 s late; send SIGHUP to read it at once"},
    {EventKind::kEndpointUnreachable, LogLevel::kWarning, "endpoint_unreachable",
     "an endpoint is unreachable"},
    {EventKind::kEndpointReachable, LogLevel::kInfo, "endpoint_reachable",
     "an endpoint is reachable again"},
    {EventKind::kEndpointEjected, LogLevel::kWarning, "endpoint_ejected",
     "an endpoint fails far more often than the others, or does not answer, so it gets only a "
     "probe from time to time"},
    {EventKind::kEndpointReturned, LogLevel::kInfo, "endpoint_returned",
     "an endpoint gets calls again"},
    {EventKind::kBudgetExhausted, LogLevel::kWarning, "budget_exhausted",
     "the retry budget is used up"},
    {EventKind::kBudgetRecovered, LogLevel::kInfo, "budget_recovered",
     "the retry budget has refused nothing for a while"},
    {EventKind::kGuardRefusing, LogLevel::kWarning, "guard_refusing", "the guard refuses calls"},
    {EventKind::kGuardCalm, LogLevel::kInfo, "guard_calm",
     "the guard has refused nothing for a while"},
    {EventKind::kStoreAway, LogLevel::kWarning, "store_away", "a store is unreachable"},
    {EventKind::kStoreBack, LogLevel::kInfo, "store_back", "a store is reachable again"},
    {EventKind::kOtlpAway, LogLevel::kWarning, "otlp_away", "the receiver of spans is unreachable"},
    {EventKind::kOtlpBack, LogLevel::kInfo, "otlp_back",
     "the receiver of spans is reachable again"},
    {EventKind::kWorkloadApiAway, LogLevel::kWarning, "workload_api_away",
     "a Workload API gives no certificate"},
    {EventKind::kWorkloadApiBack, LogLevel::kInfo, "workload_api_back",
     "a Workload API gives certificates again"},
    {EventKind::kSvidReceived, LogLevel::kInfo, "svid_received",
     "a Workload API has given a certificate"},
    {EventKind::kSvidRefused, LogLevel::kError, "svid_refused",
     "a Workload API has given a certificate that cannot be used; the old one stays"},
    {EventKind::kLimitReached, LogLevel::kWarning, "limit_reached", "a limit was reached"},
    {EventKind::kDescriptorsFew, LogLevel::kWarning, "descriptors_few",
     "the process may have too few file descriptors for limits.connections"},
    {EventKind::kTunnelCarriesTls, LogLevel::kWarning, "tunnel_carries_tls",
     "calls in a tunnel are encrypted, so they are neither retried nor counted"},
    {EventKind::kCaptureLoop, LogLevel::kError, "capture_loop",
     "the firewall redirects Levee's own connections to Levee, which refuses them"},
    {EventKind::kAccessLogLost, LogLevel::kError, "access_log_lost",
     "lines of the access log are lost"},
    {EventKind::kConnectionAccepted, LogLevel::kDebug, "connection_accepted",
     "a caller has connected"},
    {EventKind::kConnectionIdentified, LogLevel::kDebug, "connection_identified",
     "the first bytes say what a connection carries"},
    {EventKind::kConnectionRefused, LogLevel::kDebug, "connection_refused",
     "a connection carries a protocol that the listener does not accept"},
    {EventKind::kConnectionClosed, LogLevel::kDebug, "connection_closed",
     "a caller's connection is closed"},
    {EventKind::kProtocolError, LogLevel::kDebug, "protocol_error", "a peer broke HTTP/2"},
    {EventKind::kUpstreamConnecting, LogLevel::kDebug, "upstream_connecting",
     "Levee dials an endpoint"},
    {EventKind::kUpstreamConnected, LogLevel::kDebug, "upstream_connected",
     "a connection to an endpoint is ready"},
    {EventKind::kUpstreamGoaway, LogLevel::kDebug, "upstream_goaway",
     "an endpoint wants no more calls on a connection"},
    {EventKind::kUpstreamClosed, LogLevel::kDebug, "upstream_closed",
     "a connection to an endpoint is closed"},
    {EventKind::kCallBroken, LogLevel::kError, "call_broken",
     "the sidecar broke a rule of its own in a call, and has ended it"},
    {EventKind::kRequestRefused, LogLevel::kDebug, "request_refused",
     "a request is refused before it has a route"},
    {EventKind::kCallDecided, LogLevel::kDebug, "call_decided",
     "a call was retried, hedged, limited or refused"},
});
inline constexpr size_t kEventKindCount = kEventKinds.size();

constexpr const EventKindFacts& FactsOf(EventKind kind) {
  return kEventKinds[static_cast<size_t>(kind)];
}
constexpr LogLevel LevelOf(EventKind kind) { return FactsOf(kind).level; }

// One detail of an event. `name` is a literal of the program.
struct LogField {
  LogField(std::string_view field, std::string value) : name(field), text(std::move(value)) {}
  LogField(std::string_view field, std::string_view value) : name(field), text(value) {}
  LogField(std::string_view field, const char* value) : name(field), text(value) {}
  LogField(std::string_view field, std::integral auto value)
      : name(field), text(std::to_string(value)), number(true) {}

  std::string_view name;
  std::string text;
  bool number = false;  // `text` is a decimal number
};

struct LogEvent {
  EventKind kind;
  std::vector<LogField> fields;
};

}  // namespace levee
