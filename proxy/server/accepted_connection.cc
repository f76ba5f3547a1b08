// SPDX-License-Identifier: Apache-2.0
#include "server/accepted_connection.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "server/worker.h"
#include "wire/first_bytes.h"
#include "wire/sniff.h"

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
  if (leads_on()) {
    SniffFor(kSilentCapture);
  } else {
    io_.wheel.Arm(*this, io_.loop.now() + kHandshakeTimeout);
  }
}

void AcceptedConnection::SniffFor(absl::Duration time) {
  sniffed_until_ = io_.loop.now() + time;
  io_.wheel.Arm(*this, sniffed_until_);
}

void AcceptedConnection::CountHandshake() {
  const tls::Session& session = *socket_.tls();
  io_.series.tls.Count(session.failure().result, session.version(),
                       io_.loop.now() - origin_.accepted_at);
}

void AcceptedConnection::OnBytes(ByteSpan bytes, const Chunk&) {
  if (done_) return;
  received_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Classify(io_.loop.now());
}

void AcceptedConnection::Classify(Instant now) {
  if (!leads_on()) {
    OnOwnBytes();
    return;
  }
  const Carries carries = Sniff(received_, now, sniffed_until_);
  if (carries != Carries::kUnknown) HandOver(carries == Carries::kHttp2);
}

void AcceptedConnection::OnOwnBytes() {
  const Capture& capture = origin_.listener->capture;
  switch (ClassifyFirstBytes(received_)) {
    case FirstBytes::kMore:
      return;
    case FirstBytes::kHttp2:
      if (capture.h2c || capture.original_dst) {
        // Where there is no h2c the worker refuses its calls, so that their caller reads why.
        HandOver(/*http2=*/true);
      } else {
        Refuse(Reject::kNotCaptured, "400 Bad Request",
               "This port takes HTTP CONNECT only: its listener's capture has no h2c.\n");
      }
      return;
    case FirstBytes::kConnect:
      OnConnectRequest();
      return;
    case FirstBytes::kOther:
      // Somebody who tries the port with HTTP/1.1 deserves to be told.
      if (capture.h2c || capture.connect) {
        Refuse(Reject::kNotHttp2, "415 Unsupported Media Type",
               "This port takes gRPC calls: HTTP/2 without TLS, with prior knowledge.\n");
      } else {
        Refuse(Reject::kNotCaptured, "400 Bad Request",
               "This port takes connections that are redirected to it, and this one was not.\n");
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
  SniffFor(kSilentTunnel);
  Classify(io_.loop.now());
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
  if (done_) return;
  if (leads_on() && socket_.ended()) {
    // The caller has said all that it will say, and whoever is dialled may still answer.
    HandOver(/*http2=*/false);
    return;
  }
  done_ = true;
  Timer::Unlink();
  const tls::Session* const tls = socket_.tls();
  if (tls != nullptr && tls->flooded()) io_.series.limit_hits[Limit::kTlsMessages].Add();
  worker_.OnGivenUp(*this,
                    /*timeout=*/tls != nullptr && tls->failure().result == tls::Result::kTimeout);
}

void AcceptedConnection::OnTimer(Instant now) {
  if (leads_on()) {
    Classify(now);
    return;
  }
  done_ = true;
  worker_.OnGivenUp(*this, /*timeout=*/true);
}

}  // namespace levee
