// SPDX-License-Identifier: Apache-2.0
#include "server/accepted_connection.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "server/worker.h"
#include "wire/first_bytes.h"

namespace levee {
namespace {

ByteSpan Bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace

AcceptedConnection::AcceptedConnection(WorkerIo& io, net::ByteStream stream,
                                       ConnectionOrigin origin, Worker& worker)
    : io_(io),
      origin_(std::move(origin)),
      worker_(worker),
      socket_(io.loop, std::move(stream), *this) {
  if (socket_.tls() != nullptr) CountHandshake();
  io_.wheel.Arm(*this, io_.loop.now() + kHandshakeTimeout);
}

void AcceptedConnection::CountHandshake() {
  const tls::Session& session = *socket_.tls();
  io_.series.tls.Count(session.failure().result, session.version(),
                       io_.loop.now() - origin_.accepted_at);
}

void AcceptedConnection::OnBytes(ByteSpan bytes, const Chunk&) {
  if (done_) return;
  received_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Classify();
}

void AcceptedConnection::Classify() {
  switch (ClassifyFirstBytes(received_)) {
    case FirstBytes::kMore:
      return;
    case FirstBytes::kHttp2:
      if (in_tunnel() || origin_.listener->capture.h2c) {
        HandOver(/*http2=*/true);
      } else {
        Refuse(Reject::kNotCaptured, "400 Bad Request",
               "This port takes HTTP CONNECT only: its listener's capture has no h2c.\n");
      }
      return;
    case FirstBytes::kConnect:
      if (in_tunnel()) {
        HandOver(/*http2=*/false);
      } else {
        OnConnectRequest();
      }
      return;
    case FirstBytes::kOther:
      if (in_tunnel()) {
        HandOver(/*http2=*/false);
      } else {
        // Somebody who tries the port with HTTP/1.1 deserves to be told.
        Refuse(Reject::kNotHttp2, "415 Unsupported Media Type",
               "This port takes gRPC calls: HTTP/2 without TLS, with prior knowledge.\n");
      }
      return;
  }
}

void AcceptedConnection::OnConnectRequest() {
  if (!origin_.listener->capture.connect) {
    Refuse(Reject::kNotCaptured, "405 Method Not Allowed",
           "This port takes no HTTP CONNECT: its listener's capture has none.\n");
    return;
  }
  ConnectRequest request = ParseConnectRequest(received_);
  switch (request.state) {
    case ConnectRequest::State::kMore:
      return;
    case ConnectRequest::State::kBad:
      Refuse(Reject::kBadConnect, "400 Bad Request", "CONNECT HOST:PORT HTTP/1.1 is wanted.\n");
      return;
    case ConnectRequest::State::kGood:
      origin_.destination = std::move(request.destination);
      OpenTunnel(request.size);
      return;
  }
}

void AcceptedConnection::OpenTunnel(size_t head_size) {
  // It is the first thing that is written to a new connection, so the kernel takes all of it.
  socket_.Write(Bytes("HTTP/1.1 200 Connection established\r\n\r\n"));
  received_.erase(0, head_size);
  io_.wheel.Arm(*this, io_.loop.now() + kSilentTunnel);
  Classify();
}

void AcceptedConnection::HandOver(bool http2) {
  done_ = true;
  Timer::Unlink();
  if (http2) {
    worker_.OnHttp2(*this, socket_.Release(), Bytes(received_));
  } else {
    worker_.OnTunnel(*this, socket_.Release(), Bytes(received_));
  }
}

void AcceptedConnection::Refuse(Reject reason, std::string_view status, std::string_view text) {
  done_ = true;
  Timer::Unlink();
  socket_.Write(Bytes(absl::StrCat("HTTP/1.1 ", Abseil(status),
                                   "\r\ncontent-type: text/plain\r\ncontent-length: ", text.size(),
                                   "\r\nconnection: close\r\n\r\n", Abseil(text))));
  worker_.OnNotTaken(*this, reason);
}

void AcceptedConnection::OnClosed(const std::string&) {
  if (std::exchange(done_, true)) return;
  Timer::Unlink();
  const tls::Session* const tls = socket_.tls();
  worker_.OnGivenUp(*this,
                    /*timeout=*/tls != nullptr && tls->failure().result == tls::Result::kTimeout);
}

void AcceptedConnection::OnTimer(Instant) {
  if (in_tunnel()) {
    // Nothing, or part of a preface and then nothing: whoever is dialled may know what it is.
    HandOver(/*http2=*/false);
    return;
  }
  done_ = true;
  worker_.OnGivenUp(*this, /*timeout=*/true);
}

}  // namespace levee
