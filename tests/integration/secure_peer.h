// SPDX-License-Identifier: Apache-2.0
// TLS for a caller that says the bytes of the network itself.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "tls/context.h"
#include "tls/session.h"

namespace levee {

// The caller's side of TLS on a blocking socket that somebody else owns. One thread.
class SecurePeer {
 public:
  static constexpr size_t kRecord = 16 * 1024;  // most plain bytes of one

  // Shakes hands with "localhost", and sends `first` together with the last step of that.
  SecurePeer(int fd, std::shared_ptr<const tls::Context> context, std::string_view first = "");

  // Whether the handshake was good, and all that came since.
  bool open() const { return session_->state() == tls::Session::State::kOpen; }

  // Returns the records of `plain`, each with so many bytes of it.
  std::string Encrypt(std::string_view plain, size_t each = kRecord);

  // Returns what has come whole in the bytes so far.
  std::string Decrypt(std::string_view received);

 private:
  std::unique_ptr<tls::Session> session_;
};

}  // namespace levee
