// SPDX-License-Identifier: Apache-2.0
#include "integration/scripted.h"

#include "wire/retry_report.h"

namespace levee {

RawUpstream::Script ForEach(RawAnswerer answer, const std::string& settings) {
  return [answer = std::move(answer), settings](UpstreamPeer& peer) {
    if (!peer.Handshake(settings)) return;
    while (const auto request = peer.NextRequest()) answer(peer, *request);
  };
}

RawUpstream::Script FirstThenGood(RawAnswerer bad) {
  return [bad = std::move(bad)](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    if (peer.number() == 1) {
      if (const auto request = peer.NextRequest()) bad(peer, *request);
    }
    peer.AnswerRest();
  };
}

void AnswerWell(UpstreamPeer& peer, const RawRequest& request) { peer.Answer(request.stream); }

void AnswerWithBody(UpstreamPeer& peer, const RawRequest& request) {
  peer.AnswerHead(request.stream);
  peer.WriteData(request.stream, request.body, false);
  peer.AnswerTrailers(request.stream, 0);
}

void TakeNoBodies(UpstreamPeer& peer) {
  peer.KeepWindowsShut();
  peer.Handshake();
  peer.ReadToEnd();
}

void TellHead(UpstreamPeer& peer, const RawRequest& request) {
  std::string told;
  for (const auto& [name, value] : request.head) {
    if (name != kRetriesHeader) told += name + "=" + value + "|";
  }
  peer.AnswerHead(request.stream);
  peer.AnswerTrailers(request.stream, 0, {{"told", told}});
}

std::string Patient(const std::string& more) {
  return "{max_attempts: 50, exhausted: keep, min_remaining: off, budget: {ratio: 100}, backoff: "
         "{initial: 20ms, max: 20ms, jitter: none}" +
         more + "}";
}

}  // namespace levee
