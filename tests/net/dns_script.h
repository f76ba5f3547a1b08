// SPDX-License-Identifier: Apache-2.0
// The answers of a DNS server, as a test writes them.
#pragma once

#include <arpa/inet.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace levee {

// Knows A and AAAA. Queries in, replies out, without a socket.
class DnsScript {
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

  // Names that were never set do not exist.
  void Set(const std::string& name, const Answer& answer) { answers_[name] = answer; }

  // How often the A records of a name were asked for.
  int Asked(const std::string& name) const {
    const auto found = asked_.find(name);
    return found == asked_.end() ? 0 : found->second;
  }

  // RFC 1035, section 4.1; empty: none.
  std::string Reply(std::string_view query) {
    if (query.size() <= kHead) return "";
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

 private:
  static constexpr size_t kHead = 12;

  static void Put16(std::string& to, uint32_t value) {
    to += static_cast<char>(value >> 8);
    to += static_cast<char>(value);
  }

  Answer Look(const std::string& name, uint16_t type) {
    if (type == kA) ++asked_[name];
    const auto found = answers_.find(name);
    return found == answers_.end() ? Answer{.addresses = {}, .code = kNoSuchName} : found->second;
  }

  std::map<std::string, Answer> answers_;
  std::map<std::string, int> asked_;
};

}  // namespace levee
