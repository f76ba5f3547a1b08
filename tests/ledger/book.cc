// SPDX-License-Identifier: Apache-2.0
#include "ledger/book.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace levee::ledger {
namespace {

// What may pass until the end of a call is seen here.
constexpr std::chrono::seconds kSlack{60};

constexpr std::array<std::string_view, 17> kCodes = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

constexpr uint64_t kMostPrinted = 20;

// Whether a call that is not idempotent may be attempted again after an attempt that met `fault`.
bool MayFollow(Method method, Fault fault) {
  switch (fault) {
    case Fault::kRefuse:
    case Fault::kGoawayBefore:
      return true;  // Surely not processed.
    case Fault::kUnavailable:
    case Fault::kEarlyUnavailable:
    case Fault::kLateUnavailable:
    case Fault::kPushback:
    case Fault::kHttp503:
      return method == Method::kPlain;  // The upstream says so.
    default:
      return false;
  }
}

}  // namespace

int StatusNumber(std::string_view name) {
  const auto found = std::find(kCodes.begin(), kCodes.end(), name);
  return found == kCodes.end() ? -1 : static_cast<int>(found - kCodes.begin());
}

uint64_t Book::Begin(Clock::time_point now) {
  Entry& entry = entries_.emplace_back();
  entry.begun = now;
  ++open_;
  ++under_way_;
  sums_.most_entries = std::max(sums_.most_entries, entries_.size());
  return next_++;
}

Book::Entry* Book::Find(uint64_t id) {
  if (id >= first_ && id < next_) return &entries_[id - first_];
  Violate(id, "something came of a call that is over, or never was");
  return nullptr;
}

void Book::Note(Entry& entry, char kind, uint8_t detail) {
  if (entry.events_used == entry.events.size()) return;
  entry.events[entry.events_used++] = {kind, detail};
}

int Book::Started(uint64_t id, int previous, FaultShape& fault) {
  Entry* const entry = Find(id);
  if (entry == nullptr) return 0;
  const int before = entry->starts++;
  ++sums_.starts;
  fault = schedule_.FaultOf(id, before);
  ++sums_.faults[static_cast<size_t>(fault.fault)];
  if (fault.fault == Fault::kReset) ++sums_.moments[0][static_cast<size_t>(fault.moment)];
  if (fault.fault == Fault::kKill) ++sums_.moments[1][static_cast<size_t>(fault.moment)];
  const CallShape shape = schedule_.CallOf(id);
  if (before > 0 && !shape.allowed->idempotent && !MayFollow(shape.method, entry->last_fault)) {
    Violate(id, "attempted again after an attempt that may have run");
  }
  entry->last_fault = fault.fault;
  entry->most_previous = std::max(entry->most_previous, static_cast<uint8_t>(previous));
  Note(*entry, 's', static_cast<uint8_t>(fault.fault));
  return before;
}

void Book::Executed(uint64_t id) {
  Entry* const entry = Find(id);
  if (entry == nullptr) return;
  ++entry->executions;
  ++sums_.executions;
  const CallShape shape = schedule_.CallOf(id);
  if (shape.may_be_replayed) ran_.insert(shape.content);
  Note(*entry, 'x', entry->executions);
}

void Book::CloseIfDone(const Entry& entry) {
  if (entry.ended && entry.lines == 1) --open_;
}

void Book::GotStatus(uint64_t id, std::string_view status) {
  Entry* const entry = Find(id);
  if (entry == nullptr) return;
  int number = -1;
  std::from_chars(status.data(), status.data() + status.size(), number);
  entry->status = static_cast<int16_t>(number);
  ++entry->statuses;
  Note(*entry, 'g', static_cast<uint8_t>(number));
}

void Book::Refused(uint64_t id) {
  GotStatus(id, "14");
  if (Entry* const entry = Find(id)) entry->refused = true;
}

void Book::Ended(uint64_t id, size_t answer_bytes, Clock::time_point now) {
  Entry* const entry = Find(id);
  if (entry == nullptr) return;
  if (entry->ended) {
    Violate(id, "ended twice");
  } else {
    --under_way_;
  }
  entry->ended = true;
  entry->changed = now;
  entry->ended_at = now;
  entry->answer_bytes = static_cast<uint32_t>(answer_bytes);
  CloseIfDone(*entry);
}

void Book::Aborted(uint64_t id, Clock::time_point now) {
  Entry* const entry = Find(id);
  if (entry == nullptr || entry->ended) return;
  entry->aborted = true;
  Note(*entry, 'a', 0);
  Ended(id, 0, now);
}

void Book::Logged(const LoggedCall& call, Clock::time_point now) {
  ++sums_.logged;
  sums_.attempts += static_cast<uint64_t>(call.attempts);
  Entry* const entry = Find(call.id);
  if (entry == nullptr) return;
  entry->logged_status = static_cast<int16_t>(StatusNumber(call.code));
  entry->logged_answer_bytes = static_cast<uint32_t>(call.answer_bytes);
  entry->attempts = static_cast<uint8_t>(call.attempts);
  entry->transparent = static_cast<uint8_t>(call.transparent);
  entry->changed = now;
  Note(*entry, 'l', entry->attempts);
  if (++entry->lines > 1) {
    Violate(call.id, "logged twice");
  } else {
    CloseIfDone(*entry);
  }
  const auto method = static_cast<size_t>(schedule_.CallOf(call.id).method);
  ++sums_.calls_by_method[method];
  sums_.retries_by_method[method] +=
      static_cast<uint64_t>(std::max(call.attempts - call.transparent - 1, 0));
}

bool Book::Settled(const Entry& entry, Clock::time_point now) const {
  // Of a call whose caller hung up, or that crossed a GOAWAY, the sidecar may never have heard.
  const bool told = entry.lines > 0 || entry.aborted || entry.refused;
  return entry.ended && told && now - entry.changed > lateness_;
}

void Book::Sweep(Clock::time_point now, bool all) {
  while (!entries_.empty() && (all || Settled(entries_.front(), now))) {
    const Entry& entry = entries_.front();
    Judge(first_, entry);
    if (!entry.ended || entry.lines == 0) --open_;
    entries_.pop_front();
    ++first_;
  }
}

void Book::Judge(uint64_t id, const Entry& entry) {
  const CallShape shape = schedule_.CallOf(id);
  const Allowance& allowed = *shape.allowed;
  ++sums_.judged;
  if (!entry.ended) Violate(id, "never ended");
  if (entry.ended_at - entry.begun > allowed.longest + kSlack) {
    Violate(id, "ended after its deadline");
  }
  if (entry.aborted) ++sums_.aborted;
  if (!entry.aborted && entry.statuses != 1) Violate(id, "not exactly one status");
  if (entry.refused && entry.executions > 0) Violate(id, "refused, but ran");
  if (!allowed.idempotent && entry.executions > 1) Violate(id, "not idempotent, but ran twice");
  if (allowed.transparent_once && entry.starts > allowed.attempts + 1) {
    Violate(id, "more starts than the policy allows");
  }
  if (entry.most_previous >= allowed.attempts + shape.previous) {
    Violate(id, "a start beyond max_attempts");
  }
  if (entry.status == 0 && !entry.aborted) {
    const bool ran =
        entry.executions > 0 || (shape.may_be_replayed && ran_.contains(shape.content));
    if (!ran) Violate(id, "OK, but never ran");
    if (entry.answer_bytes != shape.answer_bytes + 5) Violate(id, "OK, but the answer is cut off");
  }
  const int code = entry.aborted ? -1 : entry.status;
  ++sums_.codes[entry.aborted            ? "given up by the caller"
                : code < 0 || code >= 17 ? "none"
                                         : std::string(kCodes[static_cast<size_t>(code)])];
  if (entry.lines > 0) {
    JudgeLog(id, entry);
  } else if ((entry.aborted || entry.refused) && entry.starts == 0) {
    ++sums_.unlogged;
  } else {
    Violate(id, "not logged");
  }
}

void Book::JudgeLog(uint64_t id, const Entry& entry) {
  const Allowance& allowed = *schedule_.CallOf(id).allowed;
  if (entry.starts > entry.attempts) Violate(id, "more starts than attempts logged");
  if (entry.executions > entry.attempts) Violate(id, "more executions than attempts logged");
  if (entry.attempts - entry.transparent > allowed.attempts) Violate(id, "too many attempts");
  if (entry.aborted) return;
  if (entry.logged_status != entry.status) Violate(id, "logged with another status");
  if (entry.logged_answer_bytes != entry.answer_bytes) {
    Violate(id, "logged with another number of bytes");
  }
}

void Book::Violate(uint64_t id, std::string_view what) {
  if (++violations_ > kMostPrinted) return;
  std::printf("VIOLATION call %llu, seed %llu: %.*s", static_cast<unsigned long long>(id),
              static_cast<unsigned long long>(seed_), static_cast<int>(what.size()), what.data());
  if (id >= first_ && id < next_) std::printf("; %s", History(entries_[id - first_]).c_str());
  std::printf("\n");
  std::fflush(stdout);
}

std::string Book::History(const Entry& entry) const {
  std::string text;
  for (size_t i = 0; i < entry.events_used; ++i) {
    const Event& event = entry.events[i];
    if (!text.empty()) text += ", ";
    switch (event.kind) {
      case 's':
        text += "start (" + std::string(NameOf(static_cast<Fault>(event.detail))) + ")";
        break;
      case 'x':
        text += "execution " + std::to_string(event.detail);
        break;
      case 'g':
        text += "status " + std::to_string(event.detail);
        break;
      case 'a':
        text += "given up";
        break;
      default:
        text += "logged with " + std::to_string(event.detail) + " attempts, status " +
                std::to_string(entry.logged_status) + ", " +
                std::to_string(entry.logged_answer_bytes) + " bytes";
    }
  }
  return text;
}

}  // namespace levee::ledger
