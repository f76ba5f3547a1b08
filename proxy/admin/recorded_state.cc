// SPDX-License-Identifier: Apache-2.0
#include "admin/recorded_state.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "google/protobuf/repeated_field.h"

namespace levee {
namespace {

// Leaves those whose number is above `since`.
template <typename Message>
void KeepLater(uint32_t since, google::protobuf::RepeatedPtrField<Message>& messages) {
  google::protobuf::RepeatedPtrField<Message> later;
  for (Message& message : messages) {
    if (message.number() > since) later.Add()->Swap(&message);
  }
  messages.Swap(&later);
}

void LeaveDetailsOut(admin::v1::Upstream& upstream) {
  upstream.set_samples_left_out(upstream.samples_size() > 0);
  upstream.clear_samples();
  upstream.set_endpoints_left_out(upstream.endpoints_left_out() +
                                  static_cast<uint32_t>(upstream.endpoints_size()));
  upstream.clear_endpoints();
}

}  // namespace

absl::StatusOr<admin::v1::State> ReadRecorded(const admin::v1::State& state,
                                              const admin::v1::GetStateRequest& request) {
  admin::v1::State answer = state;
  const std::string& wanted = request.upstream();
  answer.clear_upstreams();
  for (const admin::v1::Upstream& recorded : state.upstreams()) {
    if (!wanted.empty() && recorded.name() != wanted) continue;
    admin::v1::Upstream& upstream = *answer.add_upstreams();
    upstream = recorded;
    KeepLater(request.since(), *upstream.mutable_samples());
    const std::string& detailed = request.details_of();
    if (!detailed.empty() && detailed != recorded.name()) LeaveDetailsOut(upstream);
  }
  if (!wanted.empty() && answer.upstreams().empty()) {
    return absl::NotFoundError(absl::StrCat("there is no upstream \"", wanted, "\""));
  }
  KeepLater(request.since(), *answer.mutable_calls());
  if (!wanted.empty()) {
    google::protobuf::RepeatedPtrField<admin::v1::Call> calls;
    for (admin::v1::Call& call : *answer.mutable_calls()) {
      if (call.upstream() == wanted) calls.Add()->Swap(&call);
    }
    answer.mutable_calls()->Swap(&calls);
  }
  return answer;
}

}  // namespace levee
