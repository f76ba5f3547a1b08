// SPDX-License-Identifier: Apache-2.0
#include "import/draft_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text.h"
#include "import/yaml_writer.h"

namespace levee::importer {
namespace {

std::string Flow(int number) { return absl::StrCat(number); }
std::string Flow(int64_t bytes) { return absl::StrCat(bytes, "B"); }
std::string Flow(const std::string& text) { return YamlText(text); }
std::string Flow(const std::vector<std::string>& texts) { return YamlList(texts); }
std::string Flow(absl::Duration duration) { return YamlDuration(duration); }

std::string Flow(const BudgetDraft& budget) {
  std::string text = absl::StrCat("{ratio: ", YamlNumber(budget.ratio));
  if (budget.window.has_value()) {
    absl::StrAppend(&text, ", window: ", YamlDuration(*budget.window));
  }
  if (budget.per_second.has_value()) {
    absl::StrAppend(&text, ", floor: {per_second: ", YamlNumber(*budget.per_second), "}");
  }
  if (budget.least.has_value()) {
    absl::StrAppend(&text, ", burst: {least: ", YamlNumber(*budget.least), "}");
  }
  return text + "}";
}

std::string Jitter(const BackoffDraft& backoff) {
  if (backoff.factor > 0) return absl::StrCat("{factor: ", YamlNumber(backoff.factor), "}");
  if (backoff.add == absl::ZeroDuration()) return "full";
  return absl::StrCat("{add: ", YamlDuration(backoff.add), "}");
}

std::string Flow(const BackoffDraft& backoff) {
  return absl::StrCat("{initial: ", YamlDuration(backoff.initial),
                      ", multiplier: ", YamlNumber(backoff.multiplier),
                      ", max: ", YamlDuration(backoff.max), ", jitter: ", Jitter(backoff), "}");
}

std::string Flow(const HedgeDraft& hedge) {
  return absl::StrCat("{delay: ", YamlDuration(hedge.delay), ", max_attempts: ", hedge.max_attempts,
                      ", non_fatal: ", YamlList(hedge.non_fatal), "}");
}

std::string Flow(const RateLimitDraft& limit) {
  if (!limit.service.has_value()) {
    return absl::StrCat("{name: ", YamlText(limit.name), ", rate: ", limit.rate,
                        ", burst: ", limit.burst, "}");
  }
  const LimitServiceDraft& service = *limit.service;
  return absl::StrCat("{name: ", YamlText(limit.name), ", scope: rls, key: ", YamlList(limit.key),
                      ", rls: {address: ", YamlText(service.address),
                      ", domain: ", YamlText(service.domain),
                      ", timeout: ", YamlDuration(service.timeout),
                      ", on_failure: ", service.deny ? "deny" : "allow", "}}");
}

std::string Flow(const std::vector<RateLimitDraft>& limits) {
  return absl::StrCat("[",
                      absl::StrJoin(limits, ", ",
                                    [](std::string* out, const RateLimitDraft& limit) {
                                      absl::StrAppend(out, Flow(limit));
                                    }),
                      "]");
}

std::string Flow(const std::vector<HeaderMatch>& headers) {
  const auto flow = [](std::string* out, const HeaderMatch& header) {
    absl::StrAppend(out, "{name: ", YamlText(header.name), ", ");
    if (header.test == HeaderTest::kAbsent) {
      absl::StrAppend(out, "present: false}");
    } else if (header.test == HeaderTest::kPresent) {
      absl::StrAppend(out, "present: true}");
    } else {
      absl::StrAppend(out, Abseil(HeaderTestName(header.test)), ": ", YamlText(header.text), "}");
    }
  };
  return absl::StrCat("[", absl::StrJoin(headers, ", ", flow), "]");
}

std::string Flow(const TlsDraft& tls) {
  std::vector<std::string> fields;
  if (!tls.ca.empty()) fields.push_back(absl::StrCat("ca: ", YamlText(tls.ca)));
  if (!tls.server_name.empty()) {
    fields.push_back(absl::StrCat("server_name: ", YamlText(tls.server_name)));
  }
  if (!tls.subject_alt_names.empty()) {
    fields.push_back(absl::StrCat("subject_alt_names: ", YamlList(tls.subject_alt_names)));
  }
  return absl::StrCat("{", absl::StrJoin(fields, ", "), "}");
}

// Levee's own bound on the time doubles it up to 5 minutes, unless it begins with more.
std::string Flow(const EjectionDraft& ejection) {
  std::optional<absl::Duration> max = ejection.max;
  if (!max.has_value() && ejection.base > absl::Minutes(5)) max = ejection.base;
  return absl::StrCat("{failures: ", ejection.failures,
                      ", success: 0, base: ", YamlDuration(ejection.base),
                      max.has_value() ? absl::StrCat(", max: ", YamlDuration(*max)) : "", "}");
}

std::string Flow(const KeepaliveDraft& keepalive) {
  return absl::StrCat("{interval: ", YamlDuration(keepalive.interval),
                      ", timeout: ", YamlDuration(keepalive.timeout), "}");
}

bool HasValues(const RetryDraft& retry) {
  return retry.max_attempts.value || retry.codes.value || retry.failures.value ||
         retry.http.value || retry.attempt_timeout.value || retry.backoff.value ||
         retry.budget.value || retry.buffer_bytes.value || retry.commit.value;
}

class DraftWriter {
 public:
  std::string Write(const Draft& draft);

 private:
  void Comments(const Notes& notes) {
    for (const std::string& note : notes) out_.Comment(note);
  }
  template <typename T>
  void Write(const char* key, const Field<T>& field) {
    Comments(field.notes);
    if (field.value.has_value()) out_.Field(key, Flow(*field.value));
  }
  void OpenSection(const char* key, const Notes& notes) {
    if (!out_.text().empty()) out_.EmptyLine();
    Comments(notes);
    out_.Open(key);
  }
  void Write(const UpstreamDraft& upstream);
  void Write(const RouteDraft& route);
  void Write(const PolicyDraft& policy);
  void Write(const RetryDraft& retry);
  void WritePolicies(const Draft& draft);

  YamlWriter out_;
};

std::string DraftWriter::Write(const Draft& draft) {
  for (const std::string& note : draft.notes) {
    if (&note != &draft.notes.front()) out_.Comment("");
    out_.Comment(note);
  }
  OpenSection("upstreams", {});
  for (const UpstreamDraft& upstream : draft.upstreams) Write(upstream);
  out_.Close();
  OpenSection("routes", {});
  for (const RouteDraft& route : draft.routes) Write(route);
  out_.Close();
  WritePolicies(draft);
  if (draft.honor.value.has_value()) {
    OpenSection("overload", {});
    Write("honor", draft.honor);
    out_.Close();
  }
  return out_.text();
}

// A list without entries is none of YAML's block style.
void DraftWriter::WritePolicies(const Draft& draft) {
  if (draft.policies.empty()) {
    if (!draft.policy_notes.empty()) out_.EmptyLine();
    Comments(draft.policy_notes);
    return;
  }
  OpenSection("policies", draft.policy_notes);
  for (const PolicyDraft& policy : draft.policies) Write(policy);
  out_.Close();
}

void DraftWriter::Write(const UpstreamDraft& upstream) {
  Comments(upstream.notes);
  out_.BeginItem();
  out_.Field("name", YamlText(upstream.name));
  Write("endpoints", upstream.endpoints);
  Write("connect_timeout", upstream.connect_timeout);
  Write("connect_wait", upstream.connect_wait);
  Write("keepalive", upstream.keepalive);
  Write("max_connection_age", upstream.max_connection_age);
  Write("tls", upstream.tls);
  Write("ejection", upstream.ejection);
  out_.EndItem();
}

void DraftWriter::Write(const RouteDraft& route) {
  Comments(route.notes);
  std::vector<std::string> match;
  if (route.authority != "*") match.push_back("authority: " + YamlText(route.authority));
  if (route.method != "*") match.push_back("method: " + YamlText(route.method));
  if (!route.headers.empty()) match.push_back("headers: " + Flow(route.headers));
  const std::string matched = absl::StrCat("{", absl::StrJoin(match, ", "), "}");
  if (!route.left_out) {
    out_.BeginItem();
    if (!match.empty()) out_.Field("match", matched);
    out_.Field("upstream", YamlText(route.upstream));
    out_.Field("policy", YamlText(route.policy));
    out_.EndItem();
  } else if (!route.upstream.empty()) {
    out_.CommentOut(absl::StrCat("- match: ", matched));
    out_.CommentOut(absl::StrCat("  upstream: ", YamlText(route.upstream)));
    out_.CommentOut(absl::StrCat("  policy: ", YamlText(route.policy)));
  }
}

void DraftWriter::Write(const PolicyDraft& policy) {
  Comments(policy.notes);
  out_.BeginItem();
  out_.Field("name", YamlText(policy.name));
  Write("timeout", policy.rules.timeout);
  if (HasValues(policy.rules.retry)) {
    out_.Open("retry");
    Write(policy.rules.retry);
    out_.Close();
  } else {
    Write(policy.rules.retry);
  }
  Write("hedge", policy.rules.hedge);
  Comments(policy.rules.idempotency.notes);
  if (policy.rules.idempotency.value.has_value()) {
    out_.Field("idempotency", absl::StrCat("{mode: ", *policy.rules.idempotency.value, "}"));
  }
  Write("rate_limit", policy.rules.rate_limit);
  out_.EndItem();
}

void DraftWriter::Write(const RetryDraft& retry) {
  Write("max_attempts", retry.max_attempts);
  Write("codes", retry.codes);
  Write("failures", retry.failures);
  Write("http", retry.http);
  Write("attempt_timeout", retry.attempt_timeout);
  Write("backoff", retry.backoff);
  Write("budget", retry.budget);
  Write("buffer", retry.buffer_bytes);
  Write("commit", retry.commit);
  Comments(retry.notes);
}

}  // namespace

std::string WriteDraft(const Draft& draft) { return DraftWriter().Write(draft); }

ImportedPolicy Finish(Source& source, const Draft& draft) {
  if (source.faulty()) return {"", source.Faults(), draft.counts};
  std::string yaml = WriteDraft(draft);
  if (yaml.size() > kMaxConfigFileBytes) {
    source.Refuse({source.files().front(), 0, 0, ""},
                  "makes a policy above 1 MiB, which Levee does not read; import it in parts");
    return {"", source.Faults(), draft.counts};
  }
  return {std::move(yaml), {}, draft.counts};
}

}  // namespace levee::importer
