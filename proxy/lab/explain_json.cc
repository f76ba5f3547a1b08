// SPDX-License-Identifier: Apache-2.0
#include "lab/explain_json.h"

#include <vector>

#include "config/json_emitter.h"
#include "config/json_layout.h"
#include "lab/json_writer.h"

namespace levee {
namespace {

void WriteRoute(const ExplainedRoute& route, JsonWriter& json) {
  json.Begin();
  json.Text("route", route.path);
  json.Text("from", route.from);
  json.Text("serves", route.serves);
  json.Text("because", route.because);
  json.End();
}

void WriteDelay(const DelayRow& row, JsonWriter& json) {
  json.Begin();
  json.Number("n", row.n);
  json.Ms("nominal_ms", row.nominal);
  json.Ms("min_ms", row.min);
  json.Ms("max_ms", row.max);
  json.Ms("mean_ms", row.mean);
  json.Ms("p50_ms", row.p50);
  json.Ms("p99_ms", row.p99);
  json.Ms("cumulative_p99_ms", row.total_p99);
  json.Ms("cumulative_max_ms", row.total_max);
  if (row.mean_slots.has_value()) json.Number("mean_slots", *row.mean_slots);
  json.Number("past_deadline", row.past_deadline);
  json.End();
}

void WriteOutage(const OutageLoad& load, JsonWriter& json) {
  json.Begin();
  json.Number("calls_per_second", load.calls_per_second);
  json.Number("retries_allowed", load.allowed);
  json.Number("retries_at_once", load.at_once);
  json.Number("calls", static_cast<double>(load.calls));
  json.Number("attempts", static_cast<double>(load.attempts));
  json.Number("worst_second", load.worst_second);
  json.Number("attempts_without_budget", static_cast<double>(load.unbounded));
  json.End();
}

void WriteRules(const std::vector<ExplainedRetries>& all, JsonWriter& json) {
  const std::vector<ExplainedRetries> rules(all.empty() ? all.begin() : all.begin() + 1, all.end());
  json.List("rules", rules, [&json](const ExplainedRetries& rule) {
    json.Begin();
    json.Text("rule", rule.what);
    json.Number("max_attempts", rule.max_attempts);
    json.List("retries", rule.delays.rows, [&json](const DelayRow& row) { WriteDelay(row, json); });
    json.End();
  });
}

void WritePolicy(const Explanation& explanation, JsonWriter& json) {
  json.List("values", explanation.values, [&json](const EffectiveValue& value) {
    json.Begin();
    json.Text("path", value.path);
    json.Text("value", value.value);
    json.Text("from", value.from);
    json.End();
  });
  const std::vector<DelayRow> none;
  json.List("retries", explanation.retries.empty() ? none : explanation.retries[0].delays.rows,
            [&json](const DelayRow& row) { WriteDelay(row, json); });
  WriteRules(explanation.retries, json);
  json.List("outage", explanation.outage,
            [&json](const OutageLoad& load) { WriteOutage(load, json); });
  json.List("exhausted", explanation.exhausted, [&json](const ExhaustedRow& row) {
    json.Begin();
    json.Texts("why", row.why);
    json.Text("answer", row.answer);
    json.End();
  });
  json.Texts("sentences", explanation.AllSentences());
}

}  // namespace

std::string ExplanationJson(const Explanation& explanation) {
  JsonEmitter emitter;
  JsonWriter json(emitter.out());
  json.Begin();
  json.Key("route");
  if (explanation.routed) {
    emitter.out() << explanation.routes.back().path;
  } else {
    emitter.out() << YAML::Null;
  }
  if (explanation.planned()) {
    json.Text("upstream", explanation.upstream);
    json.Text("policy", explanation.policy);
  } else {
    json.Key("policy");
    emitter.out() << YAML::Null;
  }
  if (explanation.denied) json.Text("answer", "PERMISSION_DENIED");
  json.Text("call", explanation.call);
  json.List("routes", explanation.routes,
            [&json](const ExplainedRoute& route) { WriteRoute(route, json); });
  WritePolicy(explanation, json);
  json.End();
  return LayOutJson(emitter.text());
}

}  // namespace levee
