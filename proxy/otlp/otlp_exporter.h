// SPDX-License-Identifier: Apache-2.0
// Sends the spans of calls to a receiver of OTLP over gRPC.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/instant.h"
#include "base/random.h"
#include "log/conditions.h"
#include "log/event_log.h"
#include "opentelemetry/proto/trace/v1/trace.pb.h"
#include "otlp/export_client.h"
#include "otlp/export_rule.h"
#include "otlp/resource.h"
#include "settings/otlp_spec.h"
#include "sidecar/span_exporter.h"
#include "telemetry/series.h"
#include "trace/span_queue.h"

namespace levee {

// Spans leave in batches: once a second, or as soon as there are SpanQueue::kBatch. A batch is sent
// again as ExportAttempts says. The spans behind it wait in the queue, and are dropped where that
// is full.
class OtlpExporter final : public SpanExporter {
 public:
  // `version`: of this build. The references outlive it.
  OtlpExporter(const ResourceEnvironment& environment, const std::string& version,
               SpanSeries& series, EventLog& log);
  ~OtlpExporter() override { Stop(); }

  bool Add(CallSpans spans) override;
  void Configure(const std::optional<OtlpSpec>& spec) override;
  void Stop() override;

 private:
  struct Batch {
    ExportClient::Request request;
    int spans = 0;
    ExportAttempts attempts;
  };

  // The wishes of other threads.
  struct Orders {
    std::optional<OtlpSpec> spec;
    bool changed = false;                   // `spec`
    Instant stop_at = Instant::Infinite();  // finite: Stop was called
  };

  void Run();
  Orders AwaitOrders(Instant due);
  bool HasOrders();
  void TakeOver(const std::optional<OtlpSpec>& spec);
  Instant SendWhatWaits(Instant until);
  bool MakeBatch();
  Instant OnAnswer(const ExportAnswer& answer);
  void OnFailed(const ExportAnswer& answer);
  void Count(SpanResult result, int spans);
  void Flush(Instant until);

  Random random_;
  const opentelemetry::proto::trace::v1::ResourceSpans envelope_;  // of a batch without spans
  SpanSeries& series_;
  EventLog& log_;
  SpanQueue queue_;

  std::mutex mutex_;
  std::condition_variable wake_;   // the thread
  std::condition_variable ended_;  // as the thread does
  Orders orders_;
  bool has_ended_ = false;
  std::shared_ptr<ExportClient> in_use_;  // for Stop to cancel
  std::thread thread_;

  // The thread alone uses these.
  std::shared_ptr<ExportClient> client_;  // nullptr: there is no receiver
  std::string receiver_;                  // its address
  std::optional<Batch> batch_;            // it is being sent, or is to be sent again
  Condition away_{ConditionKind::kOtlpAway};
};

}  // namespace levee
