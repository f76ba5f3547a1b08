// SPDX-License-Identifier: Apache-2.0
#include "lab/simulation_json.h"

#include "config/json_emitter.h"
#include "config/json_layout.h"
#include "lab/json_writer.h"

namespace levee {
namespace {

const char* NameOf(RunFigures::State state) {
  switch (state) {
    case RunFigures::State::kUndisturbed:
      return "undisturbed";
    case RunFigures::State::kRecovered:
      return "recovered";
    case RunFigures::State::kStuck:
      return "stuck";
  }
  return "";
}

std::optional<double> Milliseconds(std::optional<double> seconds) {
  return seconds.has_value() ? std::optional(*seconds * 1e3) : std::nullopt;
}

void WriteRule(const SimulatedRule& rule, JsonWriter& json) {
  const RunFigures& figures = rule.figures;
  json.Begin();
  json.Text("name", rule.name);
  json.Text("state", NameOf(figures.state));
  json.Number("amplification", figures.amplification);
  json.Number("worst_second", figures.worst_second);
  json.Number("success", figures.success);
  json.Number("load", figures.load);
  json.Number("goodput", figures.goodput);
  json.Number("recovery_s", figures.recovery_s);
  json.Number("p50_ms", Milliseconds(figures.p50_s));
  json.Number("p99_ms", Milliseconds(figures.p99_s));
  json.Number("stuck_seeds", rule.stuck);
  json.End();
}

void WriteShadow(const ShadowRecord& shadow, JsonWriter& json) {
  json.Begin();
  json.Text("caller", shadow.caller);
  json.Text("policy", shadow.policy);
  json.Text("shadow", shadow.shadow);
  for (size_t i = 0; i < shadow.calls.size(); ++i) {
    json.Number(ShadowOutcomeName(static_cast<ShadowOutcome>(i)),
                static_cast<double>(shadow.calls[i]));
  }
  json.End();
}

void WriteMap(const StabilityMap& map, JsonWriter& json) {
  json.Key("map");
  json.Begin();
  json.Text("x", NameOf(map.x));
  json.Text("y", NameOf(map.y));
  json.Numbers("x_values", map.xs);
  json.List("policies", map.rules, [&](const StabilityMap::Rule& rule) {
    json.Begin();
    json.Text("name", rule.name);
    size_t y = 0;
    json.List("rows", rule.rows, [&](const std::vector<Stability>& row) {
      std::vector<std::string> cells;
      for (const Stability cell : row) cells.emplace_back(NameOf(cell));
      json.Begin();
      json.Number("y", map.ys[y++]);
      json.Texts("cells", cells);
      json.End();
    });
    json.End();
  });
  json.End();
}

}  // namespace

std::string SimulationJson(const Simulation& simulation) {
  JsonEmitter emitter;
  JsonWriter json(emitter.out());
  json.Begin();
  json.Text("scenario", simulation.name);
  json.Number("seed", static_cast<double>(simulation.first_seed));
  json.Number("seeds", simulation.seeds);
  json.Text("verdict", simulation.verdict);
  json.List("policies", simulation.rules,
            [&json](const SimulatedRule& rule) { WriteRule(rule, json); });
  json.List("expectations", simulation.expectations, [&](const SimulatedExpectation& each) {
    json.Begin();
    json.Text("text", each.text);
    json.Key("ok");
    emitter.out() << each.ok;
    json.Number("value", each.value);
    json.End();
  });
  if (!simulation.shadows.empty()) {
    json.List("shadows", simulation.shadows,
              [&json](const ShadowRecord& shadow) { WriteShadow(shadow, json); });
  }
  if (simulation.map.has_value()) WriteMap(*simulation.map, json);
  json.End();
  return LayOutJson(emitter.text());
}

}  // namespace levee
