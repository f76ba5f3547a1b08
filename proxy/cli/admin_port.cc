// SPDX-License-Identifier: Apache-2.0
#include "cli/admin_port.h"

#include <google/protobuf/util/json_util.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/host_port.h"
#include "cli/http_batch.h"

namespace levee {
namespace {

absl::Status FailureAt(const net::Address& address, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat(address.ToString(), ": ", why));
}

}  // namespace

absl::StatusOr<net::Address> ReadAdminAddress(const std::string& text) {
  const std::optional<HostPort> parts = SplitHostPort(text);
  std::optional<net::Address> address;
  if (parts.has_value()) {
    const bool local = parts->host == "localhost";
    address = net::Address::FromIp(local ? "127.0.0.1" : parts->host, parts->port);
  }
  if (address.has_value()) return *address;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not IP:PORT or localhost:PORT"));
}

void AddAdminAddress(Command command, std::string& address) {
  command.AddOption("--address", address, "its admin.address")
      .Check([](const std::string& text) {
        return std::string(ReadAdminAddress(text).status().message());
      })
      .ValueName("IP:PORT")
      .ShowDefault();
}

absl::StatusOr<std::string> AdminPort::Ask(const std::string& path) {
  auto body = AskAll(loop_, {{address_, path}}, kPatience).front();
  if (body.ok()) return body;
  return FailureAt(address_, body.status().message());
}

absl::StatusOr<admin::v1::State> AdminPort::AskState(const std::string& query) {
  const auto body = Ask("/api/v1/state" + query);
  if (!body.ok()) return body.status();
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  admin::v1::State state;
  if (google::protobuf::util::JsonStringToMessage(*body, &state, options).ok()) return state;
  return FailureAt(address_, "the answer is not the state of a sidecar");
}

std::string QueryText(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      escaped.push_back(c);
    } else {
      absl::StrAppendFormat(&escaped, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

}  // namespace levee
