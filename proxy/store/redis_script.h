// SPDX-License-Identifier: Apache-2.0
// A Lua script that Redis runs, and the name by which Redis knows it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace levee {

class RedisScript {
 public:
  explicit RedisScript(std::string_view body);

  const std::string& body() const { return body_; }
  const std::string& sha1() const { return sha1_; }  // in lower-case hexadecimal digits

  // Returns the bytes of a command that runs it, by its name. `args`: each any bytes.
  std::string Command(std::string_view key, std::span<const std::string_view> args) const;

  // Returns the same command with the script itself, for a server that does not know it.
  std::string WithBody(std::string_view command) const;

 private:
  std::string body_;
  std::string sha1_;
};

}  // namespace levee
