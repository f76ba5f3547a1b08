// SPDX-License-Identifier: Apache-2.0
#include "fleet/report_json.h"

#include "config/json_emitter.h"
#include "config/json_layout.h"
#include "lab/json_writer.h"

namespace levee::fleet {
namespace {

void WriteEdge(const Report& report, const Edge& edge, JsonEmitter& emitter, JsonWriter& json) {
  const auto truth = [&](const char* key, bool value) {
    json.Key(key);
    emitter.out() << value;
  };
  const Figures& figures = edge.figures;
  json.Begin();
  truth("outside", edge.outside);
  json.Text("from", edge.from);
  json.Text("upstream", edge.upstream);
  json.Text("to", edge.to);
  truth("multiplies", report.Multiplies(edge));
  json.Number("per_call", figures.PerCall());
  json.Number("calls", figures.Asked());
  json.Number("attempts", figures.attempts);
  json.Number("levee_retries", figures.retries);
  json.Number("levee_hedges", figures.hedges);
  json.Number("app_retries_header", figures.app_header);
  json.Number("app_retries_loop", figures.app_loop);
  json.Number("retries_above", figures.above);
  json.Number("app_retries_refused", figures.app_refused);
  json.End();
}

}  // namespace

std::string ReportJson(const Report& report) {
  JsonEmitter emitter;
  JsonWriter json(emitter.out());
  json.Begin();
  json.Key("ok");
  emitter.out() << report.ok();
  json.Texts("sentences", Judge(report));
  json.Number("seconds", report.seconds);
  json.Number("bound", report.bound);
  json.List("nodes", report.graph.nodes, [&](const Node& node) {
    json.Begin();
    json.Text("name", node.name);
    json.Number("sidecars", node.sidecars);
    json.Number("arrivals_first", node.served.first);
    json.Number("arrivals_retries", node.served.retries);
    json.End();
  });
  json.List("edges", report.graph.edges,
            [&](const Edge& edge) { WriteEdge(report, edge, emitter, json); });
  json.List("unread", report.unread, [&](const Unread& unread) {
    json.Begin();
    json.Text("application", unread.application);
    json.Text("address", unread.address);
    json.Text("reason", unread.reason);
    json.End();
  });
  json.End();
  return LayOutJson(emitter.text());
}

}  // namespace levee::fleet
