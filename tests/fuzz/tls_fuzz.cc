// SPDX-License-Identifier: Apache-2.0
// Two TLS sessions, and a network between them that splits their records anywhere, mixes up what
// passes, and cuts it off. Whatever it does, a side reads a beginning of what the other one wrote
// and nothing else; with a network that changes nothing it reads all of it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "certificates/authority.h"
#include "fuzz/byte_source.h"
#include "tls/session.h"

namespace levee {
namespace {

using tls::Session;

constexpr int kMaxSteps = 200;
constexpr size_t kMaxPiece = 20'000;  // more than a record holds

// Making keys takes longer than a run.
struct Contexts {
  Contexts() {
    const Authority authority;
    const PemPair pair = authority.Issue();
    const auto trusted = *tls::TrustStore::Parse(authority.pem());
    const tls::Credentials credentials{pair.certificate, pair.key};
    client =
        *tls::Context::Make(tls::Role::kClient, {.credentials = credentials, .trusted = trusted});
    server =
        *tls::Context::Make(tls::Role::kServer, {.credentials = credentials, .trusted = trusted});
  }
  std::shared_ptr<const tls::Context> client, server;
};

// A session, and what has passed through it.
struct End {
  End(std::shared_ptr<const tls::Context> context, std::string host)
      : session(std::move(context), std::move(host)) {}

  Session session;
  std::string wrote, read;
  std::string on_the_way;  // of the network to this end
  bool ended = false;      // it has said that it sends nothing more
};

class TlsRun {
 public:
  TlsRun(ByteSource& source, const Contexts& contexts)
      : source_(source), client_(contexts.client, "localhost"), server_(contexts.server, "") {}

  void Run() {
    client_.session.Continue({});
    for (int i = 0; i < kMaxSteps && !source_.empty(); ++i) {
      End& one = source_.Flag() ? client_ : server_;
      Step(one, &one == &client_ ? server_ : client_);
      Check();
    }
    if (!honest_) return;
    for (int i = 0; i < 20; ++i) {
      Pass(client_, server_, SIZE_MAX);
      Pass(server_, client_, SIZE_MAX);
    }
    LEVEE_CHECK(client_.read == server_.wrote);
    LEVEE_CHECK(server_.read == client_.wrote);
  }

 private:
  void Step(End& one, End& other) {
    switch (source_.Below(8)) {
      case 0:
        Write(one);
        break;
      case 1:
        Disturb(one);
        break;
      case 2:
        if (source_.Below(16) != 0) break;
        one.session.EndWriting();
        one.ended = true;
        break;
      default:
        Pass(one, other, 1 + source_.Below(kMaxPiece));
    }
  }

  void Write(End& end) {
    if (end.session.state() != Session::State::kOpen || end.ended) return;
    const std::string first = source_.Take(source_.Byte());
    const std::string rest(source_.Below(kMaxPiece), 'x');
    const std::vector<ByteSpan> pieces = {BytesOf(first), BytesOf(rest)};
    const size_t skip = source_.Below(first.size() + 1);
    const size_t size = end.session.Write(pieces, skip);
    LEVEE_CHECK(size <= Session::kMostAtOnce);
    end.wrote += (first + rest).substr(skip, size);
  }

  // Changes, repeats, drops or invents bytes on their way.
  void Disturb(End& end) {
    if (source_.Below(4) != 0) return;
    honest_ = false;
    const size_t at = source_.Below(end.on_the_way.size() + 1);
    const std::string bytes = source_.Take(1 + source_.Below(8));
    end.on_the_way.replace(at, source_.Flag() ? bytes.size() : 0, bytes);
  }

  void Pass(End& from, End& to, size_t most) {
    const ByteSpan output = from.session.output();
    to.on_the_way.append(reinterpret_cast<const char*>(output.data()), output.size());
    from.session.Sent(output.size());
    const std::string part = to.on_the_way.substr(0, most);
    to.on_the_way.erase(0, part.size());
    if (to.session.state() == Session::State::kHandshake) {
      to.session.Continue(BytesOf(part));
      Read(to, {});
    } else {
      Read(to, BytesOf(part));
    }
  }

  void Read(End& end, ByteSpan received) {
    std::vector<uint8_t> some(1 + source_.Byte());
    size_t size = end.session.Read(received, some, Instant());
    for (; size > 0; size = end.session.Read({}, some, Instant())) {
      end.read.append(some.begin(), some.begin() + static_cast<ptrdiff_t>(size));
    }
    LEVEE_CHECK(!end.session.HasInput());
  }

  void Check() {
    LEVEE_CHECK(server_.wrote.starts_with(client_.read));
    LEVEE_CHECK(client_.wrote.starts_with(server_.read));
    for (const End* end : {&client_, &server_}) {
      const Session::State state = end->session.state();
      LEVEE_CHECK((state == Session::State::kFailed) == !end->session.failure().text.empty());
      if (state == Session::State::kFailed && honest_) LEVEE_CHECK(false);
    }
  }

  static ByteSpan BytesOf(const std::string& text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  }

  ByteSource& source_;
  End client_, server_;
  bool honest_ = true;
};

}  // namespace
}  // namespace levee

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const levee::Contexts contexts;
  levee::ByteSource source({data, size});
  levee::TlsRun(source, contexts).Run();
  return 0;
}
