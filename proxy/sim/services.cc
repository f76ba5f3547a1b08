// SPDX-License-Identifier: Apache-2.0
#include "sim/services.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/random.h"

namespace levee {
namespace {

Answer::Step EndOf(const SimCaller& inner, const Handler& handler) {
  Answer answer = Answer().Trailers(absl::ZeroDuration(), inner.code, inner.message);
  Answer::Step step = answer.steps().front();
  if (!handler.passes_trailers) return step;
  step.fields.resize(2);  // :status and content-type
  for (size_t i = 0; i < inner.trailers.size(); ++i) {
    const Metadata::Field field = inner.trailers[i];
    step.fields.emplace_back(field.name, field.value);
  }
  return step;
}

}  // namespace

Service InTurn(std::vector<Answer> answers) {
  auto next = std::make_shared<size_t>(0);
  return [next, answers = std::move(answers)](SimHost&, AttemptId) {
    const size_t i = std::min((*next)++, answers.size() - 1);
    return answers.at(i);
  };
}

Service Flaky(double failing, uint64_t seed) {
  auto random = std::make_shared<Random>(seed);
  return [random, failing](SimHost&, AttemptId) {
    return random->Uniform() < failing ? TrailersOnly(StatusCode::kUnavailable) : Ok();
  };
}

Service Through(SimSidecar& next, Handler handler) {
  return [&next, handler](SimHost& host, AttemptId id) {
    const SimHost::Ref outer(host);
    SimHost& inner = next.NewCall({.timeout = host.attempt(id).timeout},
                                  [outer, id, handler, &next](const SimCaller& caller) {
                                    next.clock().After(absl::ZeroDuration(),
                                                       [outer, id, end = EndOf(caller, handler)] {
                                                         if (SimHost* const waiting = outer.get())
                                                           waiting->Deliver(id, end);
                                                       });
                                  });
    inner.HalfClose();
    host.OnCancel(id, [inner = SimHost::Ref(inner)] {
      if (SimHost* const running = inner.get()) running->Leave();
    });
    return Silence();
  };
}

}  // namespace levee
