// SPDX-License-Identifier: Apache-2.0
// A Lua script that Redis runs, and the name by which Redis knows it.
#pragma once

#include <string>
#include <string_view>

namespace levee {

class RedisScript {
 public:
  explicit RedisScript(std::string_view body);

  const std::string& body() const { return body_; }
  const std::string& sha1() const { return sha1_; }  // in lower-case hexadecimal digits

 private:
  std::string body_;
  std::string sha1_;
};

}  // namespace levee
