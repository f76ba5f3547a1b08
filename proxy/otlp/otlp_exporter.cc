// SPDX-License-Identifier: Apache-2.0
#include "otlp/otlp_exporter.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/uuid.h"
#include "net/event_loop.h"
#include "otlp/span_message.h"

namespace levee {
namespace {

using opentelemetry::proto::trace::v1::ResourceSpans;

constexpr absl::Duration kEvery = absl::Seconds(1);
constexpr absl::Duration kTimeout = absl::Seconds(10);  // of one export
// How long spans are still sent at the end, or when there is no receiver any more.
constexpr absl::Duration kFlush = absl::Seconds(1);

ResourceSpans Envelope(const ResourceEnvironment& environment, const std::string& instance,
                       const std::string& version) {
  ResourceSpans envelope;
  for (const auto& [name, value] : ResourceAttributes(environment, instance, version)) {
    auto& attribute = *envelope.mutable_resource()->add_attributes();
    attribute.set_key(name);
    attribute.mutable_value()->set_string_value(value);
  }
  auto& scope = *envelope.add_scope_spans()->mutable_scope();
  scope.set_name("levee");
  scope.set_version(version);
  return envelope;
}

}  // namespace

OtlpExporter::OtlpExporter(const ResourceEnvironment& environment, const std::string& version,
                           SpanSeries& series, EventLog& log)
    : random_(net::RandomSeed()),
      envelope_(Envelope(environment, RandomUuid(random_), version)),
      series_(series),
      log_(log) {}

bool OtlpExporter::Add(CallSpans spans) {
  const SpanQueue::Added added = queue_.Add(std::move(spans));
  if (added == SpanQueue::Added::kBatchReady) {
    // The thread looks at the queue under this lock before it waits.
    { const std::lock_guard lock(mutex_); }
    wake_.notify_one();
  }
  return added != SpanQueue::Added::kNo;
}

void OtlpExporter::Configure(const std::optional<OtlpSpec>& spec) {
  {
    const std::lock_guard lock(mutex_);
    if (spec == orders_.spec) return;
    orders_.spec = spec;
    orders_.changed = true;
  }
  if (thread_.joinable()) {
    wake_.notify_one();
  } else {
    thread_ = std::thread([this] { Run(); });
  }
}

void OtlpExporter::Stop() {
  if (!thread_.joinable()) return;
  {
    std::unique_lock lock(mutex_);
    orders_.stop_at = net::ReadClock() + kFlush;
    wake_.notify_one();
    const bool in_time =
        ended_.wait_for(lock, absl::ToChronoMilliseconds(kFlush), [this] { return has_ended_; });
    if (!in_time && in_use_ != nullptr) in_use_->Cancel();
  }
  thread_.join();
}

void OtlpExporter::Run() {
  Instant due = net::ReadClock();
  while (true) {
    const Orders orders = AwaitOrders(due);
    if (orders.changed) TakeOver(orders.spec);
    if (!orders.stop_at.is_infinite()) {
      Flush(orders.stop_at);
      break;
    }
    due = client_ == nullptr ? Instant::Infinite() : SendWhatWaits(Instant::Infinite());
  }
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  ended_.notify_one();
}

bool OtlpExporter::HasOrders() { return orders_.changed || !orders_.stop_at.is_infinite(); }

// Waits for orders, until `due`, or for a whole batch.
OtlpExporter::Orders OtlpExporter::AwaitOrders(Instant due) {
  std::unique_lock lock(mutex_);
  const auto has_work = [this] {
    return HasOrders() || (client_ != nullptr && !batch_.has_value() && queue_.HasBatch());
  };
  if (due.is_infinite()) {
    wake_.wait(lock, has_work);
  } else {
    wake_.wait_for(lock, absl::ToChronoNanoseconds(due - net::ReadClock()), has_work);
  }
  const Orders orders = orders_;
  orders_.changed = false;
  return orders;
}

// The batch that the receiver before has not taken goes to the new one.
void OtlpExporter::TakeOver(const std::optional<OtlpSpec>& spec) {
  if (!spec.has_value()) Flush(net::ReadClock() + kFlush);
  away_.Forget();
  client_ = spec.has_value() ? std::make_shared<ExportClient>(*spec) : nullptr;
  if (spec.has_value()) receiver_ = absl::StrCat(spec->host, ":", spec->port);
  const std::lock_guard lock(mutex_);
  in_use_ = client_;
}

// Sends until nothing waits, a batch has to wait, or there are orders, and not after `until`.
// Returns when to send again.
Instant OtlpExporter::SendWhatWaits(Instant until) {
  while (batch_.has_value() || MakeBatch()) {
    const absl::Duration left = until - net::ReadClock();
    if (left <= absl::ZeroDuration()) break;
    const Instant again = OnAnswer(client_->Export(batch_->request, std::min(kTimeout, left)));
    if (batch_.has_value()) return again;
    const std::lock_guard lock(mutex_);
    if (until.is_infinite() && HasOrders()) break;
  }
  return net::ReadClock() + kEvery;
}

bool OtlpExporter::MakeBatch() {
  const std::vector<CallSpans> calls = queue_.Take();
  if (calls.empty()) return false;
  batch_.emplace(Batch{.attempts = ExportAttempts(net::ReadClock())});
  ResourceSpans& spans = *batch_->request.add_resource_spans();
  spans = envelope_;
  for (const CallSpans& call : calls) {
    AddSpans(call, *spans.mutable_scope_spans(0));
    batch_->spans += call.count();
  }
  return true;
}

// Lets go of the batch, or returns when it is to be sent again.
Instant OtlpExporter::OnAnswer(const ExportAnswer& answer) {
  const Instant now = net::ReadClock();
  if (answer.code == StatusCode::kOk) {
    away_.End(now);
    const int rejected = std::min(answer.rejected, batch_->spans);
    Count(SpanResult::kRefused, rejected);
    Count(SpanResult::kExported, batch_->spans - rejected);
    batch_.reset();
    return now;
  }
  OnFailed(answer);
  const ExportDecision decision = batch_->attempts.OnFailed(answer, now, random_);
  if (decision.step == ExportStep::kRetry) return now + decision.wait;
  const bool refused = decision.step == ExportStep::kRefused;
  Count(refused ? SpanResult::kRefused : SpanResult::kDropped, batch_->spans);
  batch_.reset();
  return now;
}

void OtlpExporter::OnFailed(const ExportAnswer& answer) {
  std::string reason(StatusCodeName(answer.code));
  if (!answer.message.empty()) absl::StrAppend(&reason, ": ", answer.message);
  away_.Report(log_, receiver_, /*subject=*/"", reason, net::ReadClock());
}

void OtlpExporter::Count(SpanResult result, int spans) {
  series_.spans[result].Add(static_cast<uint64_t>(spans));
}

// Tries once to send what waits. Afterwards nothing does.
void OtlpExporter::Flush(Instant until) {
  if (client_ != nullptr) SendWhatWaits(until);
  Count(SpanResult::kDropped, queue_.Clear());
  if (batch_.has_value()) Count(SpanResult::kDropped, batch_->spans);
  batch_.reset();
}

}  // namespace levee
