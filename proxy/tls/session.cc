// SPDX-License-Identifier: Apache-2.0
#include "tls/session.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "tls/failure.h"
#include "tls/peer_name.h"

namespace levee::tls {

// OpenSSL's reads and writes, as it has them.
struct SessionBio {
  static int Read(BIO* bio, char* to, int size) {
    BIO_clear_retry_flags(bio);
    const int taken = static_cast<Session*>(BIO_get_data(bio))->Take(to, size);
    if (taken == 0) BIO_set_retry_read(bio);
    return taken == 0 ? -1 : taken;
  }

  static int Write(BIO* bio, const char* from, int size) {
    static_cast<Session*>(BIO_get_data(bio))->output_.append(from, static_cast<size_t>(size));
    return size;
  }

  static long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  // Called for each record, and for the messages in it. A record of TLS 1.3 is one of plain bytes
  // from without, and has its true kind within. Above 6 parameters: OpenSSL calls it with these.
  static void OnMessage(int sent, int, int kind, const void* bytes, size_t, SSL*, void* session) {
    const bool record = kind == SSL3_RT_HEADER || kind == SSL3_RT_INNER_CONTENT_TYPE;
    if (sent != 0 || !record) return;
    if (*static_cast<const uint8_t*>(bytes) == SSL3_RT_APPLICATION_DATA) return;
    static_cast<Session*>(session)->CountMessage();
  }

  static BIO_METHOD* Method() {
    static BIO_METHOD* const method = [] {
      BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "levee");
      BIO_meth_set_read(made, Read);
      BIO_meth_set_write(made, Write);
      BIO_meth_set_ctrl(made, Control);
      return made;
    }();
    return method;
  }
};

namespace {

// The buffer that the sessions of a thread write to in turn, so that an idle one holds none.
std::string& SpareOutput() {
  thread_local std::string spare;
  return spare;
}

}  // namespace

Session::Session(std::shared_ptr<const Context> context, std::string host)
    : context_(std::move(context)), host_(std::move(host)), ssl_(SSL_new(context_->get())) {
  LEVEE_CHECK(ssl_ != nullptr);
  BIO* bio = BIO_new(SessionBio::Method());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
  SSL_set_app_data(ssl_, reinterpret_cast<char*>(this));
  const std::string& waits_for = context_->options().waits_for;
  if (!waits_for.empty()) failure_ = {Result::kOther, waits_for};
  if (role() == Role::kServer) {
    SSL_set_accept_state(ssl_);
    return;
  }
  SSL_set_connect_state(ssl_);
  if (!host_.empty()) SSL_set_tlsext_host_name(ssl_, host_.c_str());
}

Session::~Session() { SSL_free(ssl_); }

// OpenSSL asks for each record. Without one it comes back, however many messages wait.
int Session::Take(char* to, int size) {
  if (flooded_) return 0;
  if (kept_from_ < kept_.size()) {
    const size_t taken = std::min(kept_.size() - kept_from_, static_cast<size_t>(size));
    std::memcpy(to, kept_.data() + kept_from_, taken);
    kept_from_ += taken;
    return static_cast<int>(taken);
  }
  const size_t taken = std::min(received_.size(), static_cast<size_t>(size));
  if (taken > 0) std::memcpy(to, received_.data(), taken);
  received_ = received_.subspan(taken);
  return static_cast<int>(taken);
}

// The bytes that were received are valid only while the caller waits.
void Session::Keep() {
  if (kept_from_ == kept_.size()) {
    // A swap frees the memory of what was kept before, as an assignment may not.
    std::string(reinterpret_cast<const char*>(received_.data()), received_.size()).swap(kept_);
    kept_from_ = 0;
  } else {
    kept_.append(reinterpret_cast<const char*>(received_.data()), received_.size());
  }
  received_ = {};
}

bool Session::HasInput() const {
  if (state_ != State::kOpen) return false;
  return kept_from_ < kept_.size() || SSL_pending(ssl_) > 0;
}

Session::State Session::Continue(ByteSpan received) {
  if (state_ != State::kHandshake) return state_;
  if (role() == Role::kClient && !context_->options().waits_for.empty()) {
    return state_ = State::kFailed;  // A server without a certificate is failed by OpenSSL.
  }
  received_ = received;
  ERR_clear_error();
  const int done = SSL_do_handshake(ssl_);
  if (done == 1) {
    Opened();
  } else if (SSL_get_error(ssl_, done) != SSL_ERROR_WANT_READ) {
    Fail();
  }
  Keep();
  return state_;
}

void Session::Opened() {
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_, &chosen, &size);
  if (!context_->options().http2 || (size == 2 && std::memcmp(chosen, "h2", 2) == 0)) {
    state_ = State::kOpen;
    SSL_set_msg_callback(ssl_, SessionBio::OnMessage);
    SSL_set_msg_callback_arg(ssl_, this);
    return;
  }
  failure_ = {Result::kNoAlpn, "the service did not choose h2 (ALPN)"};
  state_ = State::kFailed;
}

void Session::CountMessage() { flooded_ = flooded_ || !messages_.Take(now_); }

size_t Session::Read(ByteSpan received, std::span<uint8_t> to, Instant now) {
  if (state_ != State::kOpen) return 0;
  received_ = received;
  now_ = now;
  size_t all = 0;
  while (all < to.size()) {
    ERR_clear_error();
    size_t size = 0;
    const int good = SSL_read_ex(ssl_, to.data() + all, to.size() - all, &size);
    all += size;
    if (good == 1) continue;
    const int why = SSL_get_error(ssl_, good);
    if (why == SSL_ERROR_ZERO_RETURN) {
      state_ = State::kEnded;
    } else if (why != SSL_ERROR_WANT_READ) {
      Fail();
    }
    break;
  }
  if (flooded_) {
    state_ = State::kFailed;
    failure_ = {Result::kOther, "the peer sent too many TLS messages"};
  }
  Keep();
  return all;
}

// Small pieces are copied together, so that one record holds them.
size_t Session::WriteRecord(std::span<const ByteSpan>& pieces, size_t& skip) {
  while (!pieces.empty() && skip >= pieces.front().size()) {
    skip -= pieces.front().size();
    pieces = pieces.subspan(1);
  }
  if (pieces.empty()) return 0;
  std::array<uint8_t, SSL3_RT_MAX_PLAIN_LENGTH> record;
  ByteSpan plain = pieces.front().subspan(skip);
  if (plain.size() < record.size() && pieces.size() > 1) {
    size_t filled = 0;
    size_t from = skip;
    for (const ByteSpan piece : pieces) {
      const size_t size = std::min(piece.size() - from, record.size() - filled);
      std::memcpy(record.data() + filled, piece.data() + from, size);
      filled += size;
      from = 0;
      if (filled == record.size()) break;
    }
    plain = ByteSpan(record).first(filled);
  }
  ERR_clear_error();
  size_t size = 0;
  const size_t most = std::min<size_t>(plain.size(), record.size());
  const int good = SSL_write_ex(ssl_, plain.data(), most, &size);
  if (good != 1) Fail();
  skip += size;
  return size;
}

size_t Session::Write(std::span<const ByteSpan> pieces, size_t skip) {
  if (state_ != State::kOpen && state_ != State::kEnded) return 0;
  if (output_.empty()) output_.swap(SpareOutput());
  size_t all = 0;
  while (all < kMostAtOnce) {
    const size_t size = WriteRecord(pieces, skip);
    if (size == 0) break;
    all += size;
  }
  return all;
}

void Session::EndWriting() {
  if (state_ != State::kOpen && state_ != State::kEnded) return;
  ERR_clear_error();
  SSL_shutdown(ssl_);
}

ByteSpan Session::output() const {
  return ByteSpan(reinterpret_cast<const uint8_t*>(output_.data()), output_.size()).subspan(sent_);
}

void Session::Sent(size_t size) {
  sent_ += size;
  if (sent_ < output_.size()) return;
  output_.clear();
  sent_ = 0;
  if (SpareOutput().capacity() < output_.capacity()) SpareOutput().swap(output_);
  output_ = std::string();
}

void Session::Fail() {
  state_ = State::kFailed;
  Failure failure = FailureOf(ssl_, role());
  if (failure_.text.empty()) failure_ = std::move(failure);
}

void Session::FailInHandshake(Result result) {
  if (state_ != State::kHandshake) return;
  state_ = State::kFailed;
  failure_ = FailureOf(result);
}

Version Session::version() const {
  if (!SSL_is_init_finished(ssl_)) return Version::kNone;
  return SSL_version(ssl_) == TLS1_3_VERSION ? Version::k13 : Version::k12;
}

std::string Session::PeerIdentity() const {
  X509* certificate = SSL_get0_peer_certificate(ssl_);
  if (certificate == nullptr || context_->options().trusted == nullptr) return "";
  return IdentityOf(certificate);
}

int Session::JudgeCertificate(int good, X509_STORE_CTX* chain) {
  if (good != 1 || X509_STORE_CTX_get_error_depth(chain) > 0) return good;
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& session = *reinterpret_cast<Session*>(SSL_get_app_data(ssl));
  if (session.JudgeName(X509_STORE_CTX_get_current_cert(chain))) return 1;
  X509_STORE_CTX_set_error(chain, X509_V_ERR_HOSTNAME_MISMATCH);
  return 0;
}

// A server takes every client that a trusted CA has signed, and whose trust domain is its own.
bool Session::JudgeName(X509* certificate) {
  const std::string& domain = context_->options().trust_domain;
  if (!domain.empty() && TrustDomainOf(SpiffeIdOf(certificate)) != domain) {
    failure_ = {Result::kWrongName,
                absl::StrCat("the ", role() == Role::kClient ? "service" : "caller",
                             "'s certificate is for ", NamesOf(certificate),
                             ", which is no SVID of the trust domain ", domain)};
    return false;
  }
  if (role() == Role::kServer) return true;
  std::vector<AltName> names = context_->options().names;
  if (names.empty() && host_.empty()) {
    failure_ = {Result::kWrongName,
                "the endpoint has an address and no name that its certificate could have; give "
                "tls.server_name or tls.subject_alt_names"};
    return false;
  }
  if (names.empty()) names.push_back({AltName::Kind::kDns, host_});
  if (HasOneOf(certificate, names)) return true;
  std::vector<std::string> wanted;
  for (AltName& name : names) wanted.push_back(std::move(name.value));
  failure_ = {Result::kWrongName,
              absl::StrCat("the service's certificate is for ", NamesOf(certificate),
                           " and not for ", absl::StrJoin(wanted, " or "))};
  return false;
}

}  // namespace levee::tls
