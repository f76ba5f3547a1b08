// SPDX-License-Identifier: Apache-2.0
// A scripted upstream behind the real sidecar, asked by a scripted caller or by a gRPC client.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "integration/byte_call.h"
#include "integration/raw_client.h"
#include "integration/raw_upstream.h"
#include "integration/sidecar_process.h"

namespace levee {

using RawAnswerer = std::function<void(UpstreamPeer&, const RawRequest&)>;

// Runs `answer` for each request of every connection. `settings`: payload of the upstream's own.
RawUpstream::Script ForEach(RawAnswerer answer, const std::string& settings = "");

// The first request of the first connection gets `bad`, all further ones a good answer.
RawUpstream::Script FirstThenGood(RawAnswerer bad);

// Answers OK, at once.
void AnswerWell(UpstreamPeer& peer, const RawRequest& request);

// Answers OK with the bytes of the request's body.
void AnswerWithBody(UpstreamPeer& peer, const RawRequest& request);

// Takes heads, and no byte of any body, and answers nothing.
void TakeNoBodies(UpstreamPeer& peer);

// Answers with the request's head in one trailer, "told": "name=value|" for each field. Leaves out
// the report of retries, which only some requests carry.
void TellHead(UpstreamPeer& peer, const RawRequest& request);

// A policy's `retry` with retries that outlast the moment in which a connection is replaced.
std::string Patient(const std::string& more = "");

// A `retry` without any.
inline constexpr char kNoRetry[] = "{max_attempts: 1}";

// A scripted caller.
struct Wire {
  explicit Wire(RawUpstream::Script script, const std::string& more = "",
                const std::string& client_settings = "")
      : upstream(std::move(script)),
        sidecar({.endpoints = {upstream.address()}, .more = more}),
        client(sidecar.address(), client_settings) {}

  RawUpstream upstream;
  SidecarProcess sidecar;
  RawClient client;
};

// A gRPC client.
struct Hostile {
  explicit Hostile(RawUpstream::Script script, const std::string& retry = Patient())
      : upstream(std::move(script)),
        sidecar({.endpoints = {upstream.address()},
                 .retry = retry,
                 .upstream = ", reconnect: {initial: 1ms, max: 1ms}"}),
        channel(NewChannel(sidecar.address())) {}

  RawUpstream upstream;
  SidecarProcess sidecar;
  ChannelPtr channel;
};

// A message from a script to its test, or from a test to its script. Thread-safe; must outlive the
// scripts.
template <typename T>
class Told {
 public:
  void Tell(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    told_.notify_one();
  }

  // In the order in which it was told; nullopt if nothing is within kPatience.
  std::optional<T> Next() {
    std::unique_lock lock(mutex_);
    if (!told_.wait_for(lock, kPatience, [this] { return !values_.empty(); })) return std::nullopt;
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }

 private:
  std::mutex mutex_;
  std::condition_variable told_;
  std::deque<T> values_;
};

}  // namespace levee
