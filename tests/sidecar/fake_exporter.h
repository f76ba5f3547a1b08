// SPDX-License-Identifier: Apache-2.0
// An exporter of spans without gRPC, as the command would hand it in.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "sidecar/span_exporter.h"

namespace levee {

// Makes exporters that send nothing, and keeps the book on them. Outlives them.
class FakeExporters {
 public:
  MakeSpanExporter Maker() {
    return [this](SpanSeries&, EventLog&) { return std::make_unique<Exporter>(*this); };
  }

  std::atomic<int> port = 0;  // of the receiver; 0: there is none
  std::atomic<int> configured = 0;
  std::atomic<int> stopped = 0;

 private:
  class Exporter final : public SpanExporter {
   public:
    explicit Exporter(FakeExporters& fakes) : fakes_(fakes) {}
    bool Add(CallSpans) override { return true; }
    void Configure(const std::optional<OtlpSpec>& spec) override {
      fakes_.port = spec.has_value() ? spec->port : 0;
      ++fakes_.configured;
    }
    void Stop() override { ++fakes_.stopped; }

   private:
    FakeExporters& fakes_;
  };
};

}  // namespace levee
