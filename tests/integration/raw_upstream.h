// SPDX-License-Identifier: Apache-2.0
// An upstream that answers frame by frame, as a test says.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "integration/frames.h"

namespace levee {

struct RawRequest {
  int32_t stream = 0;
  HeaderList head;
  std::string body;  // DATA as it came
};

// A connection of the sidecar to a RawUpstream.
class UpstreamPeer : public FramePeer {
 public:
  UpstreamPeer(int fd, int number) : FramePeer(fd), number_(number) {}

  // 1-based, in the order in which they were accepted.
  int number() const { return number_; }

  // Reads the preface and exchanges SETTINGS; `settings`: payload.
  bool Handshake(std::string_view settings = "");

  // The next request that is complete. nullopt when the connection ends.
  std::optional<RawRequest> NextRequest();

  // The next request's head, whatever else of it may follow.
  std::optional<RawRequest> NextHead();

  // A whole good answer: head, `body` as a gRPC message, trailers.
  void Answer(int32_t stream, std::string_view body = "fine");
  void AnswerHead(int32_t stream);
  void AnswerTrailers(int32_t stream, int status, const HeaderList& more = {});
  void AnswerTrailersOnly(int32_t stream, int status, const HeaderList& more = {});

  // Answers every further request well, until the connection ends.
  void AnswerRest();

  // Reads until the connection ends.
  void ReadToEnd();

 private:
  const int number_;
  std::map<int32_t, RawRequest> begun_;  // whose end NextRequest has not read yet
};

// Each connection runs `script` in a thread of its own, which may block on reading; the destructor
// ends all connections.
class RawUpstream {
 public:
  using Script = std::function<void(UpstreamPeer&)>;
  explicit RawUpstream(Script script);
  ~RawUpstream();

  std::string address() const { return listener_.address(); }
  int connections() const { return connections_; }

 private:
  void Accept();
  void Run(UpstreamPeer& peer);

  const Script script_;
  TcpListener listener_;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;
  bool stopping_ = false;
  std::vector<std::unique_ptr<UpstreamPeer>> peers_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

}  // namespace levee
