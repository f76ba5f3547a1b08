// SPDX-License-Identifier: Apache-2.0
// One connection of the application.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "key_ledger/application.h"
#include "ledger/link.h"

namespace levee::ledger {

class ApplicationLink final : public Link {
 public:
  ApplicationLink(Application& application, int fd);

 private:
  struct Request {
    int32_t stream = 0;
    uint64_t call = 0;
    uint32_t key = 0;
    Work work;
    int run = 0;         // of its key; 0: it has not run
    std::string answer;  // the message with its prefix
    size_t answered = 0;
    bool over = false;  // nothing more is done for it
  };
  struct Callbacks;  // The callbacks of nghttp2.

  void OnGone() override;
  void OnHead(Request& request);
  void OnRequestEnd(Request& request);
  void Answer(Request& request);
  void AnswerStatus(Request& request, int status, const std::string& message);
  ssize_t ReadAnswer(Request& request, std::span<uint8_t> to, uint32_t& flags);
  // Cuts the request if this is the moment to; true if it did.
  bool CutAt(Request& request, Moment moment);

  Application& application_;
  std::unordered_map<int32_t, Request> requests_;
};

}  // namespace levee::ledger
