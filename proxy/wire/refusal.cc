#include "wire/refusal.h"

#include <array>
#include <cstddef>

namespace levee {
namespace {

constexpr std::array<std::string_view, kRetryTriggers> kTriggerNames = {
    "status", "http", "refused", "connect", "reset", "timeout", "hedge"};

struct Reason {
  std::string_view name;
  std::string_view phrase;
};

// In the order of RefusalReason. The phrases stand before "after 2 attempts".
constexpr std::array<Reason, kRefusalReasons> kReasons = {{
    {"budget", "budget used up"},
    {"max_attempts", "no attempts left"},
    {"deadline", "deadline too near"},
    {"committed", "answer already begun"},
    {"buffer", "request too large to replay"},
    {"pushback", "server asked for no retry"},
    {"overload_mark", "overload mark received"},
    {"not_idempotent", "method not idempotent"},
    {"max_elapsed", "time for retries used up"},
    {"advice", "server asked for too long a wait"},
    {"draining", "sidecar shutting down"},
    {"observe", "policy only observes"},
}};

}  // namespace

std::string_view RetryTriggerName(RetryTrigger trigger) {
  return kTriggerNames[static_cast<size_t>(trigger)];
}

std::string_view RefusalReasonName(RefusalReason reason) {
  return kReasons[static_cast<size_t>(reason)].name;
}

std::string_view RefusalReasonPhrase(RefusalReason reason) {
  return kReasons[static_cast<size_t>(reason)].phrase;
}

}  // namespace levee
