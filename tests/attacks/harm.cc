// SPDX-License-Identifier: Apache-2.0
#include "attacks/harm.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "attacks/counted_attacker.h"
#include "attacks/handshakes.h"
#include "h2_frames/field_coder.h"
#include "integration/raw_client.h"
#include "integration/tcp.h"

namespace levee {
namespace {

constexpr char kAnswered[] = "/test.Echo/Unary";
constexpr char kNeverAnswered[] = "/test.Echo/Sleep";
constexpr char kUploaded[] = "/test.Taking/Collect";  // reads what comes
constexpr int kCallsOfAConnection = 500;

// A whole call.
std::string WholeCall(int call, const std::string& path, const std::string& authority,
                      const HeaderList& more) {
  HeaderList head = RawClient::CallHead(more);
  head[2].second = path;
  if (!authority.empty()) head[3].second = authority;
  return EncodeFrame(FrameType::kHeaders, kEndHeaders, StreamOf(call), Encode(head)) +
         EncodeFrame(FrameType::kData, kEndStream, StreamOf(call), GrpcMessage("x"));
}

// Text of `size` bytes that no other call of this attack has.
std::string NewText(size_t size) {
  static int64_t made = 0;
  std::string text = std::to_string(++made);
  return std::string(size - text.size(), 'k') + text;
}

// Calls on one connection, `per_second` of them, with what `call` makes of their numbers.
template <typename MakeCall>
void CallOn(Target& target, int per_second, MakeCall make) {
  CountedAttacker attacker(target);
  for (int call = 0; call < kCallsOfAConnection; ++call) {
    target.Pace(per_second);
    if (!attacker.Send(make(call))) return;
  }
}

HeaderList Keyed(size_t size, const HeaderList& more = {}) {
  HeaderList fields = {{"idempotency-key", NewText(size)}, {"x-tenant", "attacker"}};
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

void NameLongAuthorities(Target& target) {
  CallOn(target, 500,
         [](int call) { return WholeCall(call, kAnswered, NewText(15'000) + ".invalid:443", {}); });
}

void NameManyAuthorities(Target& target) {
  CallOn(target, 2000,
         [](int call) { return WholeCall(call, kAnswered, NewText(60) + ".invalid:443", {}); });
}

void SendSmallKeys(Target& target) {
  CallOn(target, 20'000, [](int call) { return WholeCall(call, kAnswered, "", Keyed(30)); });
}

void SendLongKeys(Target& target) {
  CallOn(target, 2000, [](int call) { return WholeCall(call, kAnswered, "", Keyed(15'000)); });
}

// Calls that end by their deadlines, so that nobody knows whether they ran.
void LoseKeys(Target& target) {
  CallOn(target, 10'000, [](int call) {
    return WholeCall(call, kNeverAnswered, "", Keyed(30, {{"grpc-timeout", "1m"}}));
  });
}

// Calls without deadlines whose callers go at once.
void AbandonCalls(Target& target) {
  CountedAttacker attacker(target);
  std::string calls;
  for (int call = 0; call < 100; ++call) calls += WholeCall(call, kNeverAnswered, "", Keyed(30));
  target.Pace(10);
  attacker.Send(calls);
  target.Pace(10);
}

// Deadlines that nobody could meet, which say nothing of the service.
void AskTooMuch(Target& target) {
  CallOn(target, 500, [](int call) {
    return WholeCall(call, kNeverAnswered, "", {{"grpc-timeout", "1m"}});
  });
}

// Connections that say nothing: each of the last 400 stays.
void ConnectSilently(Target& target) {
  std::vector<std::unique_ptr<TcpConnection>> silent(400);
  for (size_t i = 0; i < 10'000; ++i) {
    target.Pace(500);
    silent[i % silent.size()] = std::make_unique<TcpConnection>(target.address());
    target.CountConnection();
  }
}

// Idle connections, of which each has filled its table of header fields.
void HoldConnections(Target& target) {
  const HeaderList head =
      RawClient::CallHead({{"x-one", std::string(1400, 'k')}, {"x-two", std::string(1400, 'k')}});
  const std::string call =
      EncodeFrame(FrameType::kHeaders, kEndHeaders, StreamOf(0), FieldEncoder().Encode(head)) +
      ResetCall(0);
  std::vector<std::unique_ptr<CountedAttacker>> held;
  for (int i = 0; i < 12'000; ++i) {
    target.Pace(3000);
    held.push_back(std::make_unique<CountedAttacker>(target));
    held.back()->Send(call);
  }
}

// Requests that do not end, of which each may be kept for a retry: 256 of 64 KiB (`retry.buffer`)
// would take all of `limits.replay_bytes`, and the small ones what those leave.
void UploadEndlessly(Target& target) {
  constexpr int kConnections = 10;
  constexpr size_t kPiece = 16 * 1024;
  HeaderList head = RawClient::CallHead();
  head[2].second = kUploaded;
  std::vector<std::unique_ptr<CountedAttacker>> attackers;
  for (int i = 0; i < kConnections; ++i) {
    attackers.push_back(std::make_unique<CountedAttacker>(target));
  }
  for (int call = 0; call < 1000; ++call) {
    CountedAttacker& attacker = *attackers[static_cast<size_t>(call % kConnections)];
    const int32_t stream = StreamOf(call / kConnections);
    attacker.Send(EncodeFrame(FrameType::kHeaders, kEndHeaders, stream, Encode(head)));
    std::string piece = std::string(1, '\0') + Number(1'000'000);
    if (call < 500) piece.resize(call < 300 ? kPiece : 1000, 'u');
    for (int sent = 0; sent < (call < 300 ? 4 : 1); ++sent) {
      target.Pace(2000);
      attacker.Send(EncodeFrame(FrameType::kData, 0, stream, piece));
    }
  }
  for (int i = 0; i < 200; ++i) target.Pace(50);
}

constexpr std::array kHarmAttacks = {
    NamedAttack{"long-authorities", NameLongAuthorities},
    NamedAttack{"many-authorities", NameManyAuthorities},
    NamedAttack{"small-keys", SendSmallKeys},
    NamedAttack{"long-keys", SendLongKeys},
    NamedAttack{"lost-keys", LoseKeys},
    NamedAttack{"abandoned-calls", AbandonCalls},
    NamedAttack{"short-deadlines", AskTooMuch},
    NamedAttack{"key-updates", ChangeKeys},
    NamedAttack{"silent-handshakes", ConnectSilently},
    NamedAttack{"silent-admin", ConnectSilently},
    NamedAttack{"idle-connections", HoldConnections},
    NamedAttack{"endless-uploads", UploadEndlessly},
};

}  // namespace

std::span<const NamedAttack> HarmAttacks() { return kHarmAttacks; }

}  // namespace levee
