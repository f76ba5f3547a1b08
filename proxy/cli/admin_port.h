// SPDX-License-Identifier: Apache-2.0
// Asks the admin port of a running sidecar, for commands that tell of one.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/instant.h"
#include "cli/client_loop.h"
#include "cli/command_line.h"
#include "levee/admin/v1/admin.pb.h"
#include "net/address.h"

namespace levee {

inline constexpr const char* kDefaultAdminAddress = "127.0.0.1:9462";

// Adds the option --address, whose value ReadAdminAddress takes.
void AddAdminAddress(Command command, std::string& address);

// Reads IP:PORT or localhost:PORT: the port answers under no other name. The error says what is
// wrong with the text.
absl::StatusOr<net::Address> ReadAdminAddress(const std::string& text);

// One thread. Its functions return early once the process was asked to end, if it watches for that.
class AdminPort {
 public:
  // An answer that takes longer is none.
  static constexpr absl::Duration kPatience = absl::Seconds(3);

  explicit AdminPort(const net::Address& address) : address_(address) {}

  // See ClientLoop.
  void WatchForEnd() { loop_.WatchForEnd(); }
  bool ended() const { return loop_.ended(); }

  // Returns the body of the answer, or an error that names the address and says why there is none.
  absl::StatusOr<std::string> Ask(const std::string& path);

  // The state, with what `query` asks for: "?since=4", or "" for all. Fields that a later version
  // has are ignored.
  absl::StatusOr<admin::v1::State> AskState(const std::string& query);

  Instant now() { return loop_.now(); }
  void WaitUntil(Instant instant) { loop_.WaitUntil(instant); }

 private:
  ClientLoop loop_;
  const net::Address address_;
};

// Returns `text` as part of a query.
std::string QueryText(std::string_view text);

}  // namespace levee
