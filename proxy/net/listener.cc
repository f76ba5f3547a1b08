#include "net/listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace levee::net {
namespace {

constexpr int kBacklog = 4096;
// Connections taken per wakeup, so that a burst of them does not starve those that are open.
constexpr int kAcceptsPerTurn = 64;

absl::Status Error(const Address& address, int error) {
  return absl::FailedPreconditionError(absl::StrCat("cannot listen on ", address.ToString(), ": ",
                                                    std::generic_category().message(error)));
}

int OpenSpare() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Open(EventLoop& loop, const Address& address,
                                                         std::function<void(int)> accepted) {
  const int fd = socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Error(address, errno);
  // A restart may bind while old connections linger; two listeners on one port still clash. When
  // any port will do it must not be set: two programs could then be given the same one.
  const int reuse = address.port() == 0 ? 0 : 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (bind(fd, address.get(), address.size()) != 0 || listen(fd, kBacklog) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    const int error = errno;
    close(fd);
    return Error(address, error);
  }
  return std::unique_ptr<Listener>(new Listener(
      loop, fd, Address(reinterpret_cast<const sockaddr*>(&bound), size), std::move(accepted)));
}

Listener::Listener(EventLoop& loop, int fd, const Address& address,
                   std::function<void(int)> accepted)
    : loop_(loop),
      fd_(fd),
      spare_fd_(OpenSpare()),
      address_(address),
      accepted_(std::move(accepted)) {
  watch_.emplace(loop_, fd_, static_cast<ReadyHandler&>(*this));
  watch_->Set(true, false);
}

Listener::~Listener() {
  watch_.reset();
  close(fd_);
  close(spare_fd_);
}

void Listener::OnReady(bool, bool) {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    const int fd = accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      accepted_(fd);
    } else if (errno == EMFILE || errno == ENFILE) {
      RefuseOne();
      return;
    } else {
      return;
    }
  }
}

void Listener::RefuseOne() {
  // A connection that cannot be accepted would end every poll at once. The spare descriptor makes
  // room to take it and close it, which its caller notices at once.
  close(spare_fd_);
  const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0) close(fd);
  spare_fd_ = OpenSpare();
}

}  // namespace levee::net
