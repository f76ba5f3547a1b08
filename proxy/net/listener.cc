// SPDX-License-Identifier: Apache-2.0
#include "net/listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "net/descriptors.h"

namespace levee::net {
namespace {

constexpr int kBacklog = 4096;
// Connections accepted per wakeup, so that a burst of them does not starve the open ones.
constexpr int kAcceptsPerTurn = 64;

absl::Status Error(const Address& address, int error) {
  return absl::FailedPreconditionError(absl::StrCat("cannot listen on ", address.ToString(), ": ",
                                                    std::generic_category().message(error)));
}

absl::Status UnixError(const Address& address, const std::string& what) {
  return absl::FailedPreconditionError(
      absl::StrCat("cannot listen on ", address.ToString(), ": ", what));
}

// Whether a process accepts connections there.
bool IsInUse(const Address& address) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;
  const bool refused = connect(fd, address.get(), address.size()) != 0 && errno == ECONNREFUSED;
  close(fd);
  return !refused;
}

// Removes a socket that a process left at the path when it did not end well.
absl::Status RemoveStaleSocket(const Address& address) {
  const std::string path = address.unix_path();
  struct stat file {};
  if (lstat(path.c_str(), &file) != 0) return absl::OkStatus();
  if (!S_ISSOCK(file.st_mode)) return UnixError(address, "there is a file that is no socket");
  if (IsInUse(address)) return UnixError(address, "another process listens there");
  if (unlink(path.c_str()) != 0) return Error(address, errno);
  return absl::OkStatus();
}

// Changes the mode of the socket at the path, and of no other file that somebody puts in its place.
bool ChangeMode(const Address& address, mode_t mode) {
  const int file = open(address.unix_path().c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return false;
  struct stat found {};
  const std::string opened = absl::StrCat("/proc/self/fd/", file);
  const bool is_socket = fstat(file, &found) == 0 && S_ISSOCK(found.st_mode);
  const bool changed = is_socket && chmod(opened.c_str(), mode) == 0;
  const int error = is_socket ? errno : ENOTSOCK;
  close(file);
  errno = error;
  return changed;
}

// Returns text that tells the file at a Unix address from another one that takes its place; empty
// if there is no file. The inode number alone may be given to the next file.
std::string FileIdentity(const Address& address) {
  struct stat file {};
  if (!address.is_unix() || lstat(address.unix_path().c_str(), &file) != 0) return "";
  return absl::StrCat(file.st_ino, " ", file.st_ctim.tv_sec, " ", file.st_ctim.tv_nsec);
}

void AllowReuse(int socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

// Returns a socket that is bound to the address and does not listen yet; -1: that is not possible.
int BindAgain(const Address& address) {
  const int fd = socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fd;
  AllowReuse(fd);
  if (bind(fd, address.get(), address.size()) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

// Connections have the bounds of the socket that accepts them.
void BoundBuffers(int socket, int bytes) {
  if (bytes == 0) return;
  setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

int OpenSpare() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Open(EventLoop& loop, TimerWheel& wheel,
                                                         const Address& address,
                                                         std::function<void(ByteStream)> accepted,
                                                         Options options) {
  if (address.is_unix()) {
    if (absl::Status status = RemoveStaleSocket(address); !status.ok()) return status;
  }
  const int fd = socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Error(address, errno);
  // With SO_REUSEADDR a restart may bind while old connections linger; two listeners on one port
  // still clash. For port 0 it is set for those connections, and not before the port is chosen: two
  // programs could then be given the same one.
  if (address.port() != 0) AllowReuse(fd);
  BoundBuffers(fd, options.buffer_bytes);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  // The permissions are set before anybody can connect, which begins with listen.
  if (bind(fd, address.get(), address.size()) != 0 ||
      (address.is_unix() && !ChangeMode(address, options.mode)) || listen(fd, kBacklog) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    const int error = errno;
    close(fd);
    return Error(address, error);
  }
  AllowReuse(fd);
  return std::unique_ptr<Listener>(
      new Listener(loop, wheel, fd, Address(reinterpret_cast<const sockaddr*>(&bound), size),
                   std::move(accepted), std::move(options)));
}

Listener::Listener(EventLoop& loop, TimerWheel& wheel, int fd, const Address& address,
                   std::function<void(ByteStream)> accepted, Options options)
    : loop_(loop),
      wheel_(wheel),
      fd_(fd),
      spare_fd_(OpenSpare()),
      address_(address),
      accepted_(std::move(accepted)),
      options_(std::move(options)) {
  Watch();
  file_ = FileIdentity(address_);
}

Listener::~Listener() {
  watch_.reset();
  if (!file_.empty() && FileIdentity(address_) == file_) unlink(address_.unix_path().c_str());
  if (fd_ >= 0) close(fd_);
  if (spare_fd_ >= 0) close(spare_fd_);
}

void Listener::Watch() {
  watch_.emplace(loop_, fd_, static_cast<ReadyHandler&>(*this));
  watch_->Set(true, false);
}

void Listener::Pause() {
  if (address_.is_unix() || !watch_.has_value()) return;
  Timer::Unlink();
  watch_.reset();
  close(fd_);
  fd_ = BindAgain(address_);
}

absl::Status Listener::Resume() {
  if (watch_.has_value()) return absl::OkStatus();
  if (fd_ < 0) fd_ = BindAgain(address_);
  if (fd_ < 0 || listen(fd_, kBacklog) != 0) return Error(address_, errno);
  Watch();
  return absl::OkStatus();
}

absl::Status Listener::SetMode(mode_t mode) {
  if (!address_.is_unix() || ChangeMode(address_, mode)) {
    file_ = FileIdentity(address_);  // The file's times have changed.
    return absl::OkStatus();
  }
  return UnixError(
      address_, absl::StrCat("cannot change its mode: ", std::generic_category().message(errno)));
}

void Listener::OnReady(bool, bool) {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    auto* const peer = reinterpret_cast<sockaddr*>(&from);
    const int fd = accept4(fd_, peer, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0 && options_.for_callers && IsReserved(fd)) {
      close(fd);
      options_.exhausted();
    } else if (fd >= 0) {
      accepted_(ByteStream(fd, Address(peer, size)));
    } else if (errno == EMFILE || errno == ENFILE) {
      RefuseOne();
      return;
    } else {
      return;
    }
  }
}

// A connection that cannot be accepted would end every poll at once. The spare descriptor makes
// room to accept the connection and close it, which its caller notices at once. If another thread
// takes that room first, the connection waits, like those behind it.
void Listener::RefuseOne() {
  options_.exhausted();
  if (spare_fd_ >= 0) close(spare_fd_);
  const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0) close(fd);
  spare_fd_ = OpenSpare();
  if (fd < 0) {
    watch_->Set(false, false);
    wheel_.Arm(*this, loop_.now() + kPause);
  }
}

void Listener::OnTimer(Instant) {
  if (spare_fd_ < 0) spare_fd_ = OpenSpare();
  watch_->Set(true, false);
}

bool HasIpv6Loopback() {
  const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const Address loopback = *Address::FromIp("::1", 0);
  const bool has = fd >= 0 && bind(fd, loopback.get(), loopback.size()) == 0;
  if (fd >= 0) close(fd);
  return has;
}

}  // namespace levee::net
