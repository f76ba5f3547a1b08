// SPDX-License-Identifier: Apache-2.0
// The result of reading an import, before it is written: the parts of a policy file for which other
// formats have equivalents, with notes about them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "config/fault.h"
#include "import/import.h"
#include "policy/header_match.h"

namespace levee::importer {

// Comments of the output, one paragraph each.
using Notes = std::vector<std::string>;

// Adds a note unless it is empty.
void AddNote(std::string note, Notes& notes);

// A field of the output. Without a value the output has its default; its notes stand in its place.
template <typename T>
struct Field {
  std::optional<T> value;
  Notes notes;

  friend bool operator==(const Field&, const Field&) = default;
};

struct BackoffDraft {
  absl::Duration initial;
  double multiplier = 2;
  absl::Duration max;
  double factor = 0;   // of jitter; 0: full jitter, or `add`
  absl::Duration add;  // of jitter; 0: none is added

  friend bool operator==(const BackoffDraft&, const BackoffDraft&) = default;
};

struct BudgetDraft {
  double ratio = 0;
  std::optional<double> least;  // of the burst
  std::optional<absl::Duration> window;
  std::optional<double> per_second;  // of the floor

  friend bool operator==(const BudgetDraft&, const BudgetDraft&) = default;
};

struct RetryDraft {
  Field<int> max_attempts;
  Field<std::vector<std::string>> codes;
  Field<std::vector<std::string>> failures;
  Field<std::vector<std::string>> http;
  Field<absl::Duration> attempt_timeout;
  Field<BackoffDraft> backoff;
  Field<BudgetDraft> budget;
  Field<int64_t> buffer_bytes;
  Field<std::string> commit;
  Notes notes;  // about input that none of the fields stands for

  friend bool operator==(const RetryDraft&, const RetryDraft&) = default;
};

struct HedgeDraft {
  absl::Duration delay;
  int max_attempts = 2;
  std::vector<std::string> non_fatal;

  friend bool operator==(const HedgeDraft&, const HedgeDraft&) = default;
};

// A service that keeps the rate of a limit.
struct LimitServiceDraft {
  std::string address;  // HOST:PORT
  std::string domain;
  absl::Duration timeout;
  bool deny = false;  // while it is away

  friend bool operator==(const LimitServiceDraft&, const LimitServiceDraft&) = default;
};

struct RateLimitDraft {
  std::string name = {};
  std::string rate = {};  // "100/s"; empty with `service`
  int burst = 1;
  std::vector<std::string> key = {};
  std::optional<LimitServiceDraft> service = std::nullopt;

  friend bool operator==(const RateLimitDraft&, const RateLimitDraft&) = default;
};

// The rules of a policy, without its name.
struct PolicyRules {
  Field<absl::Duration> timeout;
  RetryDraft retry;
  Field<HedgeDraft> hedge;
  Field<std::string> idempotency;  // its mode
  Field<std::vector<RateLimitDraft>> rate_limit;

  friend bool operator==(const PolicyRules&, const PolicyRules&) = default;
};

// Whether a call may be tried more than once.
bool Retries(const PolicyRules& rules);

// Returns the rules of a policy that tries each call once, and says nothing else.
PolicyRules OnceRules();

struct PolicyDraft {
  std::string name;
  Notes notes;
  PolicyRules rules;
};

// The parts of a route of the source that no route of a policy can say.
struct Unsaid {
  std::vector<std::string> conditions;  // which of the calls of its globs it takes
  std::vector<std::string> changes;     // what happens to its calls on their way to the upstream
  std::vector<std::string> answers;     // it answers its calls itself, and they have no upstream
  std::vector<std::string> unknown;     // its calls go where no upstream of a policy can lead
};

struct RouteDraft {
  Notes notes;
  std::string authority = "*";
  std::string method = "*";
  std::vector<HeaderMatch> headers = {};
  std::string upstream;
  std::string policy;
  // The route is written as a comment, for the user to choose. If it has no upstream, only its
  // notes are written.
  bool left_out = false;

  // For FitRoutes: the route of the source, which several routes of the draft may stand for.
  static constexpr int kAdded = -1;  // the source has no such route
  int source = kAdded;
  Place place;  // of the source's route
  Unsaid unsaid;
  bool narrowed = false;  // takes fewer calls than the source's, or leads to fewer destinations
  bool denied = false;    // left out, since its calls have no route then, as they shall have none
};

struct TlsDraft {
  std::string ca;           // empty: the system's
  std::string server_name;  // empty: the endpoint's
  std::vector<std::string> subject_alt_names;

  friend bool operator==(const TlsDraft&, const TlsDraft&) = default;
};

// An endpoint gets no calls for a while after so many failures in a row.
struct EjectionDraft {
  int failures = 0;
  absl::Duration base;
  std::optional<absl::Duration> max = std::nullopt;

  friend bool operator==(const EjectionDraft&, const EjectionDraft&) = default;
};

struct KeepaliveDraft {
  absl::Duration interval;
  absl::Duration timeout;

  friend bool operator==(const KeepaliveDraft&, const KeepaliveDraft&) = default;
};

struct UpstreamDraft {
  std::string name;
  Notes notes;
  Field<std::vector<std::string>> endpoints;
  Field<absl::Duration> connect_timeout;
  Field<absl::Duration> connect_wait;
  Field<KeepaliveDraft> keepalive;
  Field<absl::Duration> max_connection_age;
  Field<TlsDraft> tls;
  Field<EjectionDraft> ejection;
};

// The sections in the order in which they are written. Every name that one of them refers to
// exists.
struct Draft {
  Notes notes;
  std::vector<UpstreamDraft> upstreams;
  std::vector<RouteDraft> routes;
  Notes policy_notes;
  std::vector<PolicyDraft> policies;
  Field<std::vector<std::string>> honor;
  RouteCounts counts;  // set by FitRoutes
};

// Makes names of the policy file out of other names. Characters that no name may hold become '-'.
// Long names lose their beginning, which says less than the end. No name is given out twice.
class Names {
 public:
  // The names in `reserved` are never given out.
  explicit Names(std::set<std::string> reserved) : used_(std::move(reserved)) {}

  std::string Next(const std::string& like);

 private:
  std::set<std::string> used_;
};

// Sets the budget's window to `wanted`, or to the nearest that a policy may have: then a note says
// so of the input's field `name`. The budget has a value.
void SetWindow(std::string_view name, absl::Duration wanted, Field<BudgetDraft>& field);

// Returns `duration`, or the longest that a policy takes, with a note about that.
absl::Duration Bounded(absl::Duration duration, Notes& notes);

// Sets `field` to Bounded(duration).
void SetDuration(absl::Duration duration, Field<absl::Duration>& field);

// Returns the first line of the output; `what` is the input's kind, `file` may be "-".
std::string TitleOf(const std::string& what, const std::string& file);

// Notes what `tool`, from which the draft is made, answers when retrying ends without success.
void NoteExhausted(const std::string& tool, Notes& notes);

// Notes that, and what `commit` does in the draft's policies.
void NoteRetrying(const std::string& tool, Notes& notes);

// Returns the upstream of the built-in default, which dials the call's :authority.
UpstreamDraft AnywhereUpstream();

// The names of an upstream that takes no calls, for those that the source answers itself, and of a
// policy that retries nothing. FitRoutes adds both to the draft where a route has them.
inline constexpr char kNowhere[] = "nowhere";
inline constexpr char kNoAddress[] = "unix:/nowhere";  // nothing is there
inline constexpr char kNoRetries[] = "no-retries";

}  // namespace levee::importer
