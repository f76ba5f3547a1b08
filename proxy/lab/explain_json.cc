// SPDX-License-Identifier: Apache-2.0
#include "lab/explain_json.h"

#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "config/json_emitter.h"
#include "config/json_layout.h"

namespace levee {
namespace {

// Writes one member after the other.
class JsonWriter {
 public:
  explicit JsonWriter(YAML::Emitter& out) : out_(out) {}

  void Key(std::string_view key) { out_ << YAML::Key << std::string(key) << YAML::Value; }
  void Text(std::string_view key, const std::string& text) {
    Key(key);
    out_ << text;
  }
  void Number(std::string_view key, std::optional<double> number) {
    Key(key);
    if (!number.has_value()) {
      out_ << YAML::Null;
    } else {
      out_ << YAML::Auto << absl::StrFormat("%.10g", *number);
    }
  }
  void Ms(std::string_view key, std::optional<absl::Duration> duration) {
    Number(key, duration.has_value() ? std::optional(absl::ToDoubleMilliseconds(*duration))
                                     : std::nullopt);
  }

  // Writes a list, each element by `write`.
  template <typename Elements, typename Write>
  void List(std::string_view key, const Elements& elements, const Write& write) {
    Key(key);
    out_ << YAML::BeginSeq;
    for (const auto& element : elements) write(element);
    out_ << YAML::EndSeq;
  }
  void Texts(std::string_view key, const std::vector<std::string>& texts) {
    List(key, texts, [this](const std::string& text) { out_ << text; });
  }

  void Begin() { out_ << YAML::BeginMap; }
  void End() { out_ << YAML::EndMap; }

 private:
  YAML::Emitter& out_;
};

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
    json.Text("upstream", explanation.upstream);
    json.Text("policy", explanation.policy);
  } else {
    emitter.out() << YAML::Null;
    json.Key("policy");
    emitter.out() << YAML::Null;
  }
  json.Text("call", explanation.call);
  json.List("routes", explanation.routes,
            [&json](const ExplainedRoute& route) { WriteRoute(route, json); });
  WritePolicy(explanation, json);
  json.End();
  return LayOutJson(emitter.text());
}

}  // namespace levee
