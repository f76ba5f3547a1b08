// SPDX-License-Identifier: Apache-2.0
// A caller that says its frames itself.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "integration/frames.h"

namespace levee {

// The bytes and fields that came on one stream.
struct RawAnswer {
  HeaderList head;
  std::string body;
  HeaderList trailers;  // of their own block; a trailers-only answer is all `head`
  bool head_ended = false;
  bool ended = false;  // END_STREAM
  std::optional<uint32_t> reset;

  // From whichever block has it.
  std::string grpc_status() const;
  std::string grpc_message() const;
};

// Connects and greets. One thread.
class RawClient : public FramePeer {
 public:
  // `settings`: payload of the SETTINGS frame that follows the preface.
  // `destination`: through a CONNECT tunnel to it, if it is not empty. `wait`: returns when the
  // greeting is due.
  explicit RawClient(
      const std::string& address, std::string_view settings = "",
      const std::string& destination = "", const std::function<void()>& wait = [] {});

  // The head of a call as gRPC's clients write it.
  static HeaderList CallHead(const HeaderList& more = {});

  // Sends a whole call and returns its stream.
  int32_t Call(const HeaderList& more = {}, std::string_view message = "hello");
  int32_t Open(const HeaderList& fields, bool end);

  // Reads until the stream has ended or was reset, and past that if the connection ends.
  RawAnswer AnswerTo(int32_t stream);

  // The error code of the GOAWAY after which the connection ended; nullopt if none came.
  std::optional<uint32_t> ReadGoaway();

 private:
  bool Take(const Frame& frame);

  int32_t next_stream_ = 1;
  std::map<int32_t, RawAnswer> answers_;
};

// Reads until the caller is told to go elsewhere.
bool IsToldToGo(RawClient& client);

}  // namespace levee
