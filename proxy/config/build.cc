#include "config/build.h"

#include <openssl/evp.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "config/addresses.h"
#include "config/values.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace levee {
namespace {

namespace v1 = config::v1;

// The result of a parser whose text was checked before.
template <typename T>
T Checked(absl::StatusOr<T> parsed) {
  LEVEE_CHECK(parsed.ok());
  return *std::move(parsed);
}

absl::Duration DurationOf(const std::string& text) {
  return text == "none" ? absl::InfiniteDuration() : Checked(ParseDuration(text));
}

ListenAddress AddressOf(const std::string& text, const std::string& path,
                        const Positions& positions) {
  ListenAddress address = Checked(ParseListenAddress(text));
  address.position = FormatPlace(positions.Has(path) ? positions.Find(path)
                                                     : Place{"built-in default", 0, 0, path});
  return address;
}

void BuildJitter(const v1::Jitter& jitter, BackoffPolicy& backoff) {
  switch (jitter.form_case()) {
    case v1::Jitter::kFactor:
      backoff.jitter = Jitter::kFactor;
      backoff.factor = jitter.factor();
      return;
    case v1::Jitter::kAdd:
      backoff.jitter = Jitter::kAdd;
      backoff.add = DurationOf(jitter.add());
      return;
    default:
      break;
  }
  switch (jitter.kind()) {
    case v1::Jitter::KIND_NONE:
      backoff.jitter = Jitter::kNone;
      return;
    case v1::Jitter::KIND_EQUAL:
      backoff.jitter = Jitter::kEqual;
      return;
    case v1::Jitter::KIND_DECORRELATED:
      backoff.jitter = Jitter::kDecorrelated;
      return;
    default:
      backoff.jitter = Jitter::kFull;
      return;
  }
}

// What a Backoff and a Reconnect have in common.
template <typename Message>
BackoffPolicy BuildBackoff(const Message& message) {
  BackoffPolicy backoff;
  backoff.initial = DurationOf(message.initial());
  backoff.multiplier = message.multiplier();
  backoff.max = DurationOf(message.max());
  BuildJitter(message.jitter(), backoff);
  return backoff;
}

RetryBudgetPolicy BuildBudget(const v1::Budget& message) {
  RetryBudgetPolicy budget;
  budget.ratio = message.ratio();
  budget.window = DurationOf(message.window());
  budget.floor_per_second = message.floor().per_second();
  budget.floor_min_success = message.floor().min_success();
  return budget;
}

RetryableFailures BuildFailures(const v1::Retry& message) {
  RetryableFailures failures{false, false, false, false};
  for (const int failure : message.failures()) {
    failures.refused |= failure == v1::Retry::FAILURE_REFUSED;
    failures.connect |= failure == v1::Retry::FAILURE_CONNECT;
    failures.reset |= failure == v1::Retry::FAILURE_RESET;
    failures.timeout |= failure == v1::Retry::FAILURE_TIMEOUT;
  }
  return failures;
}

ExhaustedMode BuildExhausted(v1::Retry::Exhausted mode) {
  switch (mode) {
    case v1::Retry::EXHAUSTED_REPLACE:
      return ExhaustedMode::kReplace;
    case v1::Retry::EXHAUSTED_MARK:
      return ExhaustedMode::kMark;
    case v1::Retry::EXHAUSTED_KEEP:
      return ExhaustedMode::kKeep;
    default:
      return ExhaustedMode::kAuto;
  }
}

AppRetries BuildAppRetries(v1::Retry::AppRetries mode) {
  switch (mode) {
    case v1::Retry::APP_RETRIES_COUNT:
      return AppRetries::kCount;
    case v1::Retry::APP_RETRIES_IGNORE:
      return AppRetries::kIgnore;
    default:
      return AppRetries::kLimit;
  }
}

IdempotencyMode BuildIdempotency(v1::Idempotency::Mode mode) {
  switch (mode) {
    case v1::Idempotency::MODE_ALWAYS:
      return IdempotencyMode::kAlways;
    case v1::Idempotency::MODE_NEVER:
      return IdempotencyMode::kNever;
    default:
      return IdempotencyMode::kAuto;
  }
}

RetryPolicy BuildRetry(const v1::Retry& message) {
  RetryPolicy retry;
  retry.max_attempts = message.max_attempts();
  retry.codes = {};
  for (const std::string& code : message.codes()) retry.codes.Add(Checked(ParseFailureCode(code)));
  retry.failures = BuildFailures(message);
  retry.attempt_timeout = DurationOf(message.attempt_timeout());
  retry.backoff = BuildBackoff(message.backoff());
  retry.backoff.max_advice = DurationOf(message.backoff().max_advice());
  retry.budget = BuildBudget(message.budget());
  retry.buffer_bytes = static_cast<size_t>(Checked(ParseSize(message.buffer())));
  retry.commit =
      message.commit() == v1::Retry::COMMIT_HEADERS ? CommitMode::kHeaders : CommitMode::kAuto;
  retry.hold = DurationOf(message.hold());
  retry.exhausted = BuildExhausted(message.exhausted());
  retry.app_retries = BuildAppRetries(message.app_retries());
  return retry;
}

CallPolicy BuildPolicy(const v1::Policy& message) {
  CallPolicy policy;
  policy.name = message.name();
  policy.timeout = DurationOf(message.timeout());
  policy.retry = BuildRetry(message.retry());
  policy.idempotency = BuildIdempotency(message.idempotency().mode());
  return policy;
}

UpstreamSpec BuildUpstream(const v1::Upstream& message) {
  UpstreamSpec upstream;
  upstream.name = message.name();
  for (const std::string& endpoint : message.endpoints()) {
    upstream.endpoints.push_back(Checked(ParseEndpoint(endpoint)));
  }
  upstream.connect_timeout = DurationOf(message.connect_timeout());
  upstream.reconnect = BuildBackoff(message.reconnect());
  return upstream;
}

template <typename Entries>
std::map<std::string, int> IndexByName(const Entries& entries) {
  std::map<std::string, int> index;
  for (int i = 0; i < entries.size(); ++i) index[entries[i].name()] = i;
  return index;
}

RouteTable BuildRoutes(const v1::Config& config) {
  const std::map<std::string, int> upstreams = IndexByName(config.upstreams());
  const std::map<std::string, int> policies = IndexByName(config.policies());
  std::vector<Route> routes;
  for (const v1::Route& message : config.routes()) {
    routes.push_back({message.match().authority(), message.match().method(),
                      upstreams.at(message.upstream()), policies.at(message.policy())});
  }
  return RouteTable(std::move(routes));
}

OverloadPolicy BuildOverload(const v1::Overload& message) {
  OverloadPolicy overload;
  overload.status = Checked(ParseFailureCode(message.status()));
  overload.honor = {false, false, false, false};
  for (const int signal : message.honor()) {
    overload.honor.levee |= signal == v1::Overload::SIGNAL_LEVEE;
    overload.honor.error_info |= signal == v1::Overload::SIGNAL_ERROR_INFO;
    overload.honor.pushback |= signal == v1::Overload::SIGNAL_PUSHBACK;
    overload.honor.envoy |= signal == v1::Overload::SIGNAL_ENVOY;
  }
  return overload;
}

Limits BuildLimits(const v1::Limits& message) {
  Limits limits;
  limits.replay_bytes = Checked(ParseSize(message.replay_bytes()));
  limits.streams_per_connection = message.streams_per_connection();
  limits.metadata_bytes = Checked(ParseSize(message.metadata_bytes()));
  limits.metadata_fields = message.metadata_fields();
  limits.method_labels = message.method_labels();
  limits.destinations = message.destinations();
  return limits;
}

// Of the effective configuration: how it was spelled, or split into files, does not matter.
std::string Sha256(const v1::Config& config) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    const bool written = config.SerializeToCodedStream(&coded);
    LEVEE_CHECK(written);
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const int done = EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
  LEVEE_CHECK(done == 1);
  return absl::BytesToHexString(std::string(digest, digest + size));
}

}  // namespace

std::shared_ptr<const Snapshot> Build(const v1::Config& config, const Positions& positions) {
  auto snapshot = std::make_shared<Snapshot>();
  for (int i = 0; i < config.listeners_size(); ++i) {
    const v1::Listener& listener = config.listeners(i);
    snapshot->listeners.push_back(
        {listener.name(),
         AddressOf(listener.address(), absl::StrCat("listeners[", i, "].address"), positions)});
  }
  snapshot->metrics_enabled = config.metrics().address() != "none";
  if (snapshot->metrics_enabled) {
    snapshot->metrics = AddressOf(config.metrics().address(), "metrics.address", positions);
  }
  for (const v1::Upstream& upstream : config.upstreams()) {
    snapshot->upstreams.push_back(BuildUpstream(upstream));
  }
  for (const v1::Policy& policy : config.policies()) {
    snapshot->policies.push_back(BuildPolicy(policy));
  }
  snapshot->routes = BuildRoutes(config);
  snapshot->overload = BuildOverload(config.overload());
  snapshot->limits = BuildLimits(config.limits());
  snapshot->drain_timeout = DurationOf(config.drain().timeout());
  snapshot->sha256 = Sha256(config);
  return snapshot;
}

}  // namespace levee
