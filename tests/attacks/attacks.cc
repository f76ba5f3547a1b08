// SPDX-License-Identifier: Apache-2.0
#include "attacks/attacks.h"

#include <algorithm>
#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "attacks/counted_attacker.h"
#include "attacks/handshakes.h"
#include "integration/raw_client.h"
#include "integration/tcp.h"

namespace levee {
namespace {

using std::chrono::steady_clock;

constexpr char kAnswering[] = "/test.Echo/Stream";  // as many bytes as a caller asks for
constexpr char kTaking[] = "/test.Echo/Collect";    // reads what comes
constexpr char kStuck[] = "/stuck.Service/Upload";  // reads nothing
constexpr uint32_t kHugeWindow = 0x7fffffff;
constexpr int kConnections = 10;  // of attacks that hold calls open
constexpr int kCalls = 100;       // on each of them

std::string Head(int call, const std::string& path) {
  HeaderList head = RawClient::CallHead();
  head[2].second = path;
  return EncodeFrame(FrameType::kHeaders, kEndHeaders, StreamOf(call), Encode(head));
}

std::string Times(int count, const std::string& frame) {
  std::string frames;
  for (int i = 0; i < count; ++i) frames += frame;
  return frames;
}

void DoNothing(Target& target) { target.Pace(10); }

// HPACK (RFC 7541, section 6.2.1): a literal that the decoder keeps, and 12,000 references to it of
// a byte each.
void ReferToLargeField(Target& target) {
  constexpr char kNewestEntry = '\xbe';
  target.Pace(500);
  std::string field = Encode({{"content-length", std::string(4040, '1')}});
  field[0] = '\x40';
  CountedAttacker(target).Send(
      EncodeFrame(FrameType::kHeaders, kEndHeaders | kEndStream, 1,
                  Encode(RawClient::CallHead()) + field + std::string(12'000, kNewestEntry)));
}

// Keeps to flow control: a call is sent where the connection's window lets it.
void UploadToNobody(Target& target) {
  constexpr int kBytes = 48'000;
  RawClient client(target.address());
  target.CountConnection();
  client.ReadSettled(1);
  HeaderList head = RawClient::CallHead();
  head[2].second = kStuck;
  for (int waits = 0; waits < 20;) {
    target.Pace(200);
    if (client.connection_window() < kBytes) {
      client.ReadSettled(1);
      ++waits;
      continue;
    }
    client.WriteData(client.Open(head, false), std::string(kBytes, 'u'), false);
    target.CountBytes(kBytes);
  }
}

// Blocks that begin and do not end, on connections that stay.
void BeginHeaderBlocks(Target& target) {
  const std::string half = EncodeFrame(FrameType::kHeaders, 0, 1, std::string(16'000, '\x82')) +
                           EncodeFrame(FrameType::kContinuation, 0, 1, std::string(16'000, '\x82'));
  std::vector<std::unique_ptr<CountedAttacker>> attackers;
  for (int i = 0; i < 1000; ++i) {
    target.Pace(200);
    attackers.push_back(std::make_unique<CountedAttacker>(target));
    attackers.back()->Send(half);
  }
}

// Asks for more than anybody holds, on connections that stay.
void Ask(Target& target, uint32_t window) {
  const std::string asked = GrpcMessage("1000 100000");
  std::vector<std::unique_ptr<CountedAttacker>> attackers;
  for (int i = 0; i < kConnections; ++i) {
    attackers.push_back(std::make_unique<CountedAttacker>(
        target, Attacker::Reading::kNothing, Setting(SettingId::kInitialWindowSize, window)));
    if (window != 0) {
      attackers.back()->Send(
          EncodeFrame(FrameType::kWindowUpdate, 0, 0, Number(kHugeWindow - 65'535)));
    }
  }
  for (int call = 0; call < kCalls; ++call) {
    for (const auto& attacker : attackers) {
      target.Pace(500);
      attacker->Send(Head(call, kAnswering) +
                     EncodeFrame(FrameType::kData, kEndStream, StreamOf(call), asked));
    }
  }
  for (int i = 0; i < 100; ++i) target.Pace(10);
}

void KeepWindowsShut(Target& target) { Ask(target, 0); }
void ReadNothing(Target& target) { Ask(target, kHugeWindow); }

void SendByteByByte(Target& target) {
  const std::string byte = EncodeFrame(FrameType::kData, 0, StreamOf(0), "x");
  CountedAttacker attacker(target);
  attacker.Send(Head(0, kTaking) + EncodeFrame(FrameType::kData, 0, StreamOf(0),
                                               std::string(1, '\0') + Number(1'000'000)));
  // As many bytes as the first window of a stream has.
  attacker.Repeat(Times(1000, byte), 100, 60);
}

void ResetCalls(Target& target) {
  CountedAttacker attacker(target);
  for (int call = 0; call < 50'000; call += 100) {
    target.Pace(200);
    std::string frames;
    for (int i = call; i < call + 100; ++i) frames += Head(i, kTaking) + ResetCall(i);
    if (!attacker.Send(frames)) return;
  }
}

void ContinueForever(Target& target) {
  const std::string fields = Encode({{"x-filler", std::string(8000, 'x')}});
  CountedAttacker attacker(target);
  attacker.Send(EncodeFrame(FrameType::kHeaders, 0, 1, Encode(RawClient::CallHead())));
  attacker.Repeat(EncodeFrame(FrameType::kContinuation, 0, 1, fields), 1000, 10'000);
}

void Ping(Target& target) {
  CountedAttacker(target, Attacker::Reading::kNothing)
      .Repeat(Times(1000, EncodeFrame(FrameType::kPing, 0, 0, "12345678")), 200, 2000);
}

void ChangeSettings(Target& target) {
  const std::string frame =
      EncodeFrame(FrameType::kSettings, 0, 0, Setting(SettingId::kHeaderTableSize, 4096));
  CountedAttacker(target).Repeat(Times(1000, frame), 200, 2000);
}

// Connections that say nothing and stay.
void StaySilent(Target& target) {
  std::vector<std::unique_ptr<TcpConnection>> silent;
  for (int i = 0; i < 1500; ++i) {
    target.Pace(500);
    silent.push_back(std::make_unique<TcpConnection>(target.address()));
    target.CountConnection();
  }
  for (int i = 0; i < 100; ++i) target.Pace(10);
}

constexpr std::array kAttacks = {
    NamedAttack{"none", DoNothing},
    NamedAttack{"references", ReferToLargeField},
    NamedAttack{"uploads", UploadToNobody},
    NamedAttack{"half-blocks", BeginHeaderBlocks},
    NamedAttack{"shut-windows", KeepWindowsShut},
    NamedAttack{"unread", ReadNothing},
    NamedAttack{"tiny-data", SendByteByByte},
    NamedAttack{"resets", ResetCalls},
    NamedAttack{"continuations", ContinueForever},
    NamedAttack{"pings", Ping},
    NamedAttack{"settings", ChangeSettings},
    NamedAttack{"connections", StaySilent},
    NamedAttack{"handshakes", ShakeHands},
};

}  // namespace

void Target::Pace(int per_second) {
  const auto now = steady_clock::now();
  next_ = std::max(next_, now - std::chrono::milliseconds(100));
  std::this_thread::sleep_until(next_);
  next_ += std::chrono::nanoseconds(std::chrono::seconds(1)) / per_second;
}

std::span<const NamedAttack> Attacks() { return kAttacks; }

}  // namespace levee
