// SPDX-License-Identifier: Apache-2.0
// The attacks that any HTTP/2 proxy may meet: the same bytes at the same pace, whoever is attacked.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace levee {

// Where an attack goes and how fast; and what it has done so far, which any thread may ask.
class Target {
 public:
  // `certificates`: the folder with those of an attacker that uses TLS; may be empty.
  explicit Target(std::string address, std::string certificates = "")
      : address_(std::move(address)), certificates_(std::move(certificates)) {}

  const std::string& address() const { return address_; }
  const std::string& certificates() const { return certificates_; }

  // Waits until the next piece is due, `per_second` of them. Those that are late come at once, but
  // no more than a tenth of a second's: who does not read gets less.
  void Pace(int per_second);

  void CountConnection() { ++connections_; }
  void CountBytes(size_t bytes) { bytes_ += static_cast<int64_t>(bytes); }
  int64_t connections() const { return connections_; }
  int64_t bytes() const { return bytes_; }

 private:
  const std::string address_;
  const std::string certificates_;
  std::chrono::steady_clock::time_point next_;
  std::atomic<int64_t> connections_ = 0;
  std::atomic<int64_t> bytes_ = 0;
};

struct NamedAttack {
  const char* name;
  // One go at the target, on connections of its own. It is run again and again.
  void (*run)(Target& target);
};

std::span<const NamedAttack> Attacks();

}  // namespace levee
