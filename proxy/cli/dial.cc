// SPDX-License-Identifier: Apache-2.0
#include "cli/dial.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "net/address.h"

namespace levee {
namespace {

// Connects to one address. `then`: see Connect.
absl::Status ConnectTo(const sockaddr* address, socklen_t size,
                       const std::function<absl::Status(int connection)>& then) {
  const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return SystemError();
  const absl::Cleanup close_it = [fd] { close(fd); };
  if (connect(fd, address, size) != 0) return SystemError();
  return then(fd);
}

// Calls `use` with each address of `host` until it returns false.
absl::Status ForEachAddress(const std::string& host, uint16_t port,
                            const std::function<bool(const addrinfo& address)>& use) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), absl::StrCat(port).c_str(), &hints, &found);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  const absl::Cleanup free = [found] { freeaddrinfo(found); };
  for (const addrinfo* to = found; to != nullptr && use(*to); to = to->ai_next) {
  }
  return absl::OkStatus();
}

absl::Status DialPath(const std::string& path) {
  const std::optional<net::Address> address = net::Address::FromUnixPath(path);
  if (!address.has_value()) return absl::InvalidArgumentError("is not the path of a socket");
  return ConnectTo(address->get(), address->size(), [](int) { return absl::OkStatus(); });
}

}  // namespace

absl::Status SystemError() {
  return absl::UnavailableError(std::generic_category().message(errno));
}

absl::Status Connect(const std::string& host, uint16_t port,
                     const std::function<absl::Status(int connection)>& then) {
  absl::Status connected;
  const absl::Status found = ForEachAddress(host, port, [&](const addrinfo& to) {
    connected = ConnectTo(to.ai_addr, to.ai_addrlen, then);
    return !connected.ok();
  });
  return found.ok() ? connected : found;
}

absl::StatusOr<std::vector<net::Address>> LookUp(const std::string& host, uint16_t port,
                                                 absl::Duration timeout) {
  struct Found {
    std::vector<net::Address> v4, v6;
  };
  // The thread may go on after the time is over.
  const auto found = std::make_shared<Found>();
  const absl::Status status = Within(timeout, [host, port, found] {
    return ForEachAddress(host, port, [&](const addrinfo& to) {
      (to.ai_family == AF_INET ? found->v4 : found->v6).emplace_back(to.ai_addr, to.ai_addrlen);
      return true;
    });
  });
  if (!status.ok()) return status;
  return found->v4.empty() ? found->v6 : found->v4;
}

absl::Status Within(absl::Duration timeout, std::function<absl::Status()> task) {
  std::packaged_task<absl::Status()> run(std::move(task));
  std::future<absl::Status> done = run.get_future();
  std::thread(std::move(run)).detach();
  if (done.wait_for(absl::ToChronoNanoseconds(timeout)) == std::future_status::ready) {
    return done.get();
  }
  return absl::DeadlineExceededError(
      absl::StrCat("no answer within ", absl::FormatDuration(timeout)));
}

absl::Status Dial(const EndpointSpec& endpoint, absl::Duration timeout) {
  return Within(timeout, [endpoint] {
    if (endpoint.kind == EndpointSpec::Kind::kUnix) return DialPath(endpoint.path);
    return Connect(endpoint.host, endpoint.port, [](int) { return absl::OkStatus(); });
  });
}

}  // namespace levee
