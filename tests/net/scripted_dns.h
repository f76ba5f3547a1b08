// SPDX-License-Identifier: Apache-2.0
// A DNS server on loopback whose answers a test writes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace levee {

// Serves A and AAAA over UDP in a thread of its own. Thread-safe.
class ScriptedDns {
 public:
  static constexpr uint16_t kA = 1;
  static constexpr uint16_t kAaaa = 28;
  static constexpr uint8_t kNoError = 0;
  static constexpr uint8_t kServerFailure = 2;
  static constexpr uint8_t kNoSuchName = 3;

  struct Answer {
    std::vector<std::string> addresses;  // of both families
    uint32_t ttl = 60;
    uint8_t code = kNoError;
    uint16_t silent_for = 0;  // the type whose queries get no answer
  };

  // `port`: 0: the system's choice.
  explicit ScriptedDns(const char* host = "127.0.0.1", uint16_t port = 0)
      : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)), stop_(eventfd(0, EFD_CLOEXEC)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    inet_pton(AF_INET, host, &at.sin_addr);
    at.sin_port = htons(port);
    socklen_t size = sizeof at;
    bound_ = bind(fd_, reinterpret_cast<const sockaddr*>(&at), size) == 0;
    getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~ScriptedDns() {
    eventfd_write(stop_, 1);
    thread_.join();
    close(fd_);
    close(stop_);
  }
  ScriptedDns(const ScriptedDns&) = delete;
  ScriptedDns& operator=(const ScriptedDns&) = delete;

  // False: this user may not listen on that port.
  bool bound() const { return bound_; }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // Names that were never set do not exist.
  void Set(const std::string& name, const Answer& answer) {
    const std::lock_guard lock(mutex_);
    answers_[name] = answer;
  }

  // How often the A records of a name were asked for.
  int Asked(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = asked_.find(name);
    return found == asked_.end() ? 0 : found->second;
  }

  // Waits until they have been asked for `times` times; false after `patience`.
  bool WaitUntilAsked(const std::string& name, int times, std::chrono::seconds patience) const {
    std::unique_lock lock(mutex_);
    return happened_.wait_for(lock, patience, [&] {
      const auto found = asked_.find(name);
      return found != asked_.end() && found->second >= times;
    });
  }

 private:
  static constexpr size_t kHead = 12;

  void Serve() {
    for (;;) {
      std::array<pollfd, 2> wait = {pollfd{fd_, POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
      poll(wait.data(), wait.size(), -1);
      if (wait[1].revents != 0) return;
      std::array<char, 512> bytes;
      sockaddr_in from{};
      socklen_t size = sizeof from;
      const ssize_t got =
          recvfrom(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
      if (got <= static_cast<ssize_t>(kHead)) continue;
      const std::string reply = Reply({bytes.data(), static_cast<size_t>(got)});
      if (reply.empty()) continue;
      sendto(fd_, reply.data(), reply.size(), 0, reinterpret_cast<const sockaddr*>(&from), size);
    }
  }

  static void Put16(std::string& to, uint32_t value) {
    to += static_cast<char>(value >> 8);
    to += static_cast<char>(value);
  }

  // RFC 1035, section 4.1; empty: none.
  std::string Reply(std::string_view query) {
    std::string name;
    size_t at = kHead;
    while (at < query.size() && query[at] != 0) {
      const size_t length = static_cast<uint8_t>(query[at]);
      name += (name.empty() ? "" : ".") + std::string(query.substr(at + 1, length));
      at += 1 + length;
    }
    const std::string_view question = query.substr(kHead, at + 5 - kHead);
    const auto type = static_cast<uint16_t>(static_cast<uint8_t>(query[at + 2]));
    const Answer answer = Look(name, type);
    if (answer.silent_for == type) return "";
    std::string records;
    int count = 0;
    for (const std::string& address : answer.addresses) {
      std::array<char, 16> data;
      const bool v6 = address.find(':') != std::string::npos;
      if ((type == kAaaa) != v6) continue;
      inet_pton(v6 ? AF_INET6 : AF_INET, address.c_str(), data.data());
      Put16(records, 0xc000 + kHead);  // The name of the question.
      Put16(records, type);
      Put16(records, 1);
      Put16(records, answer.ttl >> 16);
      Put16(records, answer.ttl);
      Put16(records, v6 ? 16 : 4);
      records.append(data.data(), v6 ? 16 : 4);
      ++count;
    }
    std::string reply(query.substr(0, 2));
    Put16(reply, 0x8580u + answer.code);  // An authoritative answer.
    Put16(reply, 1);
    Put16(reply, static_cast<uint32_t>(count));
    Put16(reply, 0);
    Put16(reply, 0);
    return reply.append(question).append(records);
  }

  Answer Look(const std::string& name, uint16_t type) {
    const std::lock_guard lock(mutex_);
    if (type == kA) ++asked_[name];
    happened_.notify_all();
    const auto found = answers_.find(name);
    return found == answers_.end() ? Answer{.addresses = {}, .code = kNoSuchName} : found->second;
  }

  const int fd_;
  const int stop_;
  uint16_t port_ = 0;
  bool bound_ = false;
  mutable std::mutex mutex_;
  mutable std::condition_variable happened_;
  std::map<std::string, Answer> answers_;
  std::map<std::string, int> asked_;
  std::thread thread_;
};

}  // namespace levee
