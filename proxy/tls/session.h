// SPDX-License-Identifier: Apache-2.0
// One TLS connection without I/O: bytes of the network in and out, plain bytes in and out.
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/chunk.h"
#include "base/instant.h"
#include "base/rate_guard.h"
#include "tls/context.h"
#include "tls/result.h"

namespace levee::tls {

// TLS 1.3 (RFC 8446), or 1.2, on OpenSSL. It reads what it is given and appends to output() what is
// to be sent; it never waits. One thread.
//
// It stays at its address, since OpenSSL refers to it.
class Session {
 public:
  enum class State : uint8_t {
    kHandshake,
    kOpen,    // plain bytes can pass
    kEnded,   // the peer has said that it sends nothing more
    kFailed,  // failure() says why; output() may hold an alert for the peer
  };

  // Once it is open, a peer may send so many records in a second that carry no plain bytes, and
  // ten times as many at once: TLS' own messages, such as KeyUpdate, of which each costs new keys.
  static constexpr uint32_t kMessagesPerSecond = 10;

  // Most plain bytes that one Write encrypts.
  static constexpr size_t kMostAtOnce = 64 * 1024;

  // `host`: a client names it to the server (RFC 6066, section 3), unless it is empty, and demands
  // it of the certificate unless the context has other names; a server gives none.
  Session(std::shared_ptr<const Context> context, std::string host);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  State state() const { return state_; }

  // Takes the next steps of the handshake with the bytes that the peer has sent, which may be none.
  // Bytes behind the handshake are kept for Read.
  State Continue(ByteSpan received);

  // Decrypts into `to`, and returns the number of its bytes. 0: more must be received first, or
  // state() has changed. Bytes that do not fit are kept. `received`: only while HasInput() is
  // false. `now` never goes back.
  size_t Read(ByteSpan received, std::span<uint8_t> to, Instant now);

  // Whether Read may return bytes although nothing more is received.
  bool HasInput() const;

  // Encrypts the first bytes of `pieces`, without the first `skip` of them, in full records as far
  // as possible. Returns how many plain bytes are in output() now that were not before; 0 only if
  // there are none, or state() has changed.
  size_t Write(std::span<const ByteSpan> pieces, size_t skip);

  // Tells the peer that nothing more comes.
  void EndWriting();

  // The bytes that are to be sent. `Sent` removes the first `size` of them.
  ByteSpan output() const;
  void Sent(size_t size);

  // The connection ended in the handshake, or the handshake took too long.
  void FailInHandshake(Result result);

  const Failure& failure() const { return failure_; }
  // Whether it has failed since the peer sent more messages than it may.
  bool flooded() const { return flooded_; }
  Role role() const { return context_->role(); }
  Version version() const;

  // The peer's identity, by its certificate (IdentityOf); empty without one that was judged.
  std::string PeerIdentity() const;

  // Called by OpenSSL for each certificate of the peer's chain, the peer's own last.
  static int JudgeCertificate(int good, X509_STORE_CTX* chain);

 private:
  friend struct SessionBio;

  void Fail();
  void Opened();
  bool JudgeName(X509* certificate);
  void CountMessage();
  void Keep();
  int Take(char* to, int size);
  size_t WriteRecord(std::span<const ByteSpan>& pieces, size_t& skip);

  const std::shared_ptr<const Context> context_;
  const std::string host_;
  SSL* const ssl_;
  State state_ = State::kHandshake;
  Failure failure_;
  RateGuard messages_{kMessagesPerSecond, 10 * kMessagesPerSecond};
  bool flooded_ = false;
  Instant now_;        // while Read runs
  ByteSpan received_;  // while Continue or Read runs
  std::string kept_;   // of what was received, from kept_from_ on
  size_t kept_from_ = 0;
  std::string output_;  // from sent_ on
  size_t sent_ = 0;
};

}  // namespace levee::tls
