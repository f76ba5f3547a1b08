// SPDX-License-Identifier: Apache-2.0
#include "net/handshakes.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "tls/session.h"

namespace levee::net {
namespace {

// As the kernel has it (sched_setattr(2)); the C library has neither it nor the call.
struct SchedulingAttributes {
  uint32_t size = sizeof(SchedulingAttributes);
  uint32_t policy = SCHED_OTHER;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t slice = 0;  // nanoseconds; kernels before 6.12 ignore it
  uint64_t deadline = 0;
  uint64_t period = 0;
};

// Lets a worker that becomes ready have the CPU of this thread within a tenth of a millisecond. A
// low priority is not enough for that, since kernels from 6.6 on let a thread use up its slice,
// which is some milliseconds otherwise. Where workers leave no time to spare, 3% of it is left for
// handshakes. A process that gives way to others itself may have no priority left that is so much
// lower. Where the kernel refuses, all else works as well.
void GiveWayToCalls() {
  constexpr int kLower = 15, kLowest = 19;
  SchedulingAttributes attributes;
  attributes.nice = std::min(getpriority(PRIO_PROCESS, 0) + kLower, kLowest);
  attributes.slice = 100'000;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace

class Handshakes::Handshake final : public ListLink<Handshake>, public Timer, private ReadyHandler {
 public:
  Handshake(Handshakes& owner, ByteStream stream, std::shared_ptr<const tls::Context> context,
            Done done)
      : owner_(owner),
        context_(std::move(context)),
        stream_(std::move(stream)),
        done_(std::move(done)),
        watch_(std::in_place, owner.loop_, stream_.descriptor(),
               static_cast<ReadyHandler&>(*this)) {
    Watch();
    owner_.wheel_.Arm(*this, owner_.loop_.now() + owner_.bounds_.timeout);
  }

  // Whether the caller has sent something.
  bool HasArrived() const { return stream_.HasArrived(); }

  // It has a place from here on.
  void Begin() {
    has_place_ = true;
    begun_ = owner_.loop_.now();
    Secure();
    Continue();
  }
  bool has_place() const { return has_place_; }
  Instant begun() const { return begun_; }

  void TimeOut() {
    if (!has_place_) Secure();
    stream_.FailHandshake(tls::Result::kTimeout);
  }

  // To be destroyed afterwards.
  void Tell(bool refused) {
    watch_.reset();
    done_(std::move(stream_), refused);
  }

 private:
  void OnReady(bool, bool) override { has_place_ ? Continue() : owner_.GivePlace(*this); }

  void OnTimer(Instant) override {
    TimeOut();
    owner_.End(*this, /*refused=*/false);
  }

  void Continue() {
    if (stream_.Continue() == ByteStream::State::kConnecting) {
      Watch();
    } else {
      owner_.End(*this, /*refused=*/false);
    }
  }

  void Secure() { stream_.Secure(std::make_unique<tls::Session>(std::move(context_), "")); }
  void Watch() { watch_->Set(stream_.awaits_bytes(), stream_.awaits_room()); }

  Handshakes& owner_;
  std::shared_ptr<const tls::Context> context_;
  bool has_place_ = false;
  Instant begun_;
  ByteStream stream_;
  Done done_;
  std::optional<EventLoop::Watch> watch_;
};

Handshakes::Handshakes(const Bounds& bounds) : wheel_(loop_.now()), bounds_(bounds) {
  loop_.SetTurnHandler(this);
  thread_ = std::thread([this] {
    GiveWayToCalls();
    loop_.Run();
  });
}

Handshakes::~Handshakes() {
  loop_.Stop();
  thread_.join();
  while (Handshake* const handshake = placed_.PopFront()) delete handshake;
  while (Handshake* const handshake = silent_.PopFront()) delete handshake;
}

void Handshakes::Begin(ByteStream stream, std::shared_ptr<const tls::Context> context, Done done) {
  loop_.Post([this, stream = std::move(stream), context = std::move(context),
              done = std::move(done)]() mutable {
    Start(std::move(stream), std::move(context), std::move(done));
  });
}

void Handshakes::SetMost(int most, int silent) {
  loop_.Post([this, most, silent] {
    bounds_.most = most;
    bounds_.silent = silent;
  });
}

Instant Handshakes::OnTurnEnd(Instant now) {
  wheel_.Advance(now);
  return wheel_.NextWakeup();
}

void Handshakes::Start(ByteStream stream, std::shared_ptr<const tls::Context> context, Done done) {
  if (waiting_ >= bounds_.silent) {
    Handshake& oldest = silent_.Front();
    // The loop does not know yet what has arrived in this turn.
    oldest.HasArrived() ? GivePlace(oldest) : End(oldest, /*refused=*/true);
  }
  auto& handshake = *new Handshake(*this, std::move(stream), std::move(context), std::move(done));
  silent_.PushBack(handshake);
  ++waiting_;
  if (handshake.HasArrived()) GivePlace(handshake);
}

void Handshakes::GivePlace(Handshake& silent) {
  if (!MakeRoom()) {
    End(silent, /*refused=*/true);
    return;
  }
  silent.ListLink<Handshake>::Unlink();
  --waiting_;
  placed_.PushBack(silent);
  ++under_way_;
  silent.Begin();
}

bool Handshakes::MakeRoom() {
  if (under_way_ < bounds_.most) return true;
  Handshake& oldest = placed_.Front();
  if (loop_.now() - oldest.begun() < bounds_.timeout_if_crowded) return false;
  oldest.TimeOut();
  End(oldest, /*refused=*/false);
  return true;
}

void Handshakes::End(Handshake& handshake, bool refused) {
  handshake.Tell(refused);
  --(handshake.has_place() ? under_way_ : waiting_);
  delete &handshake;
}

}  // namespace levee::net
