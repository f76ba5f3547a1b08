// SPDX-License-Identifier: Apache-2.0
// Makes the answers of an HTTP server that take time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace levee {

// A thread that makes one answer after the other, in the order of the numbers of those that asked.
class AnsweringThread {
 public:
  AnsweringThread();
  ~AnsweringThread() { Stop(); }
  AnsweringThread(const AnsweringThread&) = delete;
  AnsweringThread& operator=(const AnsweringThread&) = delete;

  // Runs `answer` in the thread, unless Drop or Stop comes first. Any thread.
  void Add(uint64_t number, std::function<void()> answer);

  // Forgets an answer that nobody waits for any more. Any thread.
  void Drop(uint64_t number);

  // Waits for the answer that is being made, and drops the others. A second call does nothing.
  void Stop();

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, std::function<void()>> waiting_;
  bool stopped_ = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace levee
