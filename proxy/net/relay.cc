// SPDX-License-Identifier: Apache-2.0
#include "net/relay.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "net/socket.h"

namespace levee::net {

// One of the two connections.
class Relay::Side final : private ReadyHandler {
 public:
  Side(Relay& relay, int fd) : relay_(relay), fd_(fd) {
    if (fd_ >= 0) watch_.emplace(relay.loop_, fd_, static_cast<ReadyHandler&>(*this));
  }
  ~Side() { Close(); }

  int fd() const { return fd_; }
  void Watch(bool read, bool write) {
    if (watch_.has_value()) watch_->Set(read, write);
  }
  // Ends all events.
  void Close() {
    watch_.reset();
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

  bool connecting = false;
  bool ended = false;            // it sends nothing more
  bool shut = false;             // it has been told that nothing more comes
  std::vector<uint8_t> pending;  // to be written to it

 private:
  void OnReady(bool readable, bool writable) override { relay_.OnReady(*this, readable, writable); }

  Relay& relay_;
  int fd_;
  std::optional<EventLoop::Watch> watch_;
};

Relay::Relay(EventLoop& loop, int fd, ByteSpan first, std::vector<Address> to,
             RelayHandler& handler)
    : loop_(loop),
      handler_(handler),
      to_(std::move(to)),
      caller_(std::make_unique<Side>(*this, fd)),
      dialled_(std::make_unique<Side>(*this, -1)) {
  dialled_->pending.assign(first.begin(), first.end());
  Dial();
}

void Relay::Dial() {
  const Address to = to_.front();
  to_.erase(to_.begin());
  const int fd = socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int error = fd < 0 ? errno : 0;
  if (error == 0) SetStreamOptions(fd);
  if (error == 0 && connect(fd, to.get(), to.size()) != 0 && errno != EINPROGRESS) error = errno;
  auto next = std::make_unique<Side>(*this, fd);
  next->connecting = true;
  next->pending.swap(dialled_->pending);
  dialled_->Close();
  // The old side stays alive, since it may be in the middle of its own callback.
  failed_.push_back(std::exchange(dialled_, std::move(next)));
  if (error == 0) {
    UpdateWatches();
    return;
  }
  loop_.Post([this, error, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) DialFailed(error);
  });
}

void Relay::DialFailed(int error) {
  if (to_.empty()) {
    Fail(std::generic_category().message(error));
  } else {
    Dial();
  }
}

Relay::~Relay() = default;

bool Relay::connected() const { return !dialled_->connecting; }

void Relay::OnReady(Side& side, bool readable, bool writable) {
  if (side.connecting) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(side.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      DialFailed(error);
      return;
    }
    side.connecting = false;
  }
  if (writable && !side.pending.empty()) Write(side);
  if (readable && !closed_) Read(side);
  if (!closed_) UpdateWatches();
}

void Relay::Read(Side& from) {
  Side& to = Other(from);
  if (from.ended || to.connecting || !to.pending.empty()) return;
  const std::span<uint8_t> buffer = loop_.read_blocks().memory();
  const ssize_t size = recv(from.fd(), buffer.data(), buffer.size(), 0);
  if (size > 0) {
    to.pending.assign(buffer.begin(), buffer.begin() + size);
    Write(to);
  } else if (size == 0) {
    from.ended = true;
  } else if (errno != EAGAIN && errno != EINTR) {
    Fail(std::generic_category().message(errno));
  }
}

void Relay::Write(Side& to) {
  const ssize_t size = send(to.fd(), to.pending.data(), to.pending.size(), MSG_NOSIGNAL);
  if (size < 0) {
    if (errno != EAGAIN && errno != EINTR) Fail(std::generic_category().message(errno));
    return;
  }
  to.pending.erase(to.pending.begin(), to.pending.begin() + size);
  // An idle connection holds no memory.
  if (to.pending.empty()) std::vector<uint8_t>().swap(to.pending);
  handler_.OnRelayed(&to == dialled_.get(), static_cast<size_t>(size));
}

void Relay::UpdateWatches() {
  for (Side* side : {caller_.get(), dialled_.get()}) {
    Side& other = Other(*side);
    if (side->ended && other.pending.empty() && !other.connecting && !other.shut) {
      other.shut = true;
      shutdown(other.fd(), SHUT_WR);
    }
  }
  if (caller_->shut && dialled_->shut) {
    Fail("closed by both sides");
    return;
  }
  for (Side* side : {caller_.get(), dialled_.get()}) {
    const Side& other = Other(*side);
    side->Watch(!side->connecting && !side->ended && !other.connecting && other.pending.empty(),
                side->connecting || !side->pending.empty());
  }
}

void Relay::Fail(const std::string& reason) {
  if (closed_) return;
  closed_ = true;
  caller_->Close();
  dialled_->Close();
  handler_.OnRelayClosed(reason);
}

}  // namespace levee::net
