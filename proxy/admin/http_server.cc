// SPDX-License-Identifier: Apache-2.0
#include "admin/http_server.h"

#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "admin/control_listener.h"

namespace levee {

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(Options options) {
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(options)));
  if (absl::Status listening = server->Listen(); !listening.ok()) return listening;
  return server;
}

HttpServer::HttpServer(Options options)
    : options_(std::move(options)),
      events_{.on_request = [this](HttpConnection& asked) { OnRequest(asked); },
              .on_end = [this](HttpConnection& ended) { End(ended.number()); }} {
  loop_.SetTurnHandler(this);
}

absl::Status HttpServer::Listen() {
  auto listener =
      OpenControlListener(loop_, wheel_, options_.address, options_.field,
                          [this](net::ByteStream stream) { OnAccepted(std::move(stream)); });
  if (!listener.ok()) return listener.status();
  listener_ = *std::move(listener);
  address_ = listener_->address();
  try {
    answering_.emplace();
    thread_ = std::thread([this] { loop_.Run(); });
  } catch (const std::system_error& error) {
    return AddressFault(options_.address, options_.field,
                        absl::StrCat("no thread: ", error.what()));
  }
  return absl::OkStatus();
}

void HttpServer::Stop() {
  if (thread_.joinable()) {
    loop_.Stop();
    thread_.join();
  }
  answering_.reset();
  connections_.clear();
  listener_.reset();
}

Instant HttpServer::OnTurnEnd(Instant now) {
  wheel_.Advance(now);
  return wheel_.NextWakeup();
}

void HttpServer::OnAccepted(net::ByteStream stream) {
  if (connections_.size() == kMaxConnections) End(connections_.begin()->first);
  const uint64_t number = accepted_++;
  connections_.try_emplace(number, loop_, wheel_, std::move(stream), number, events_,
                           options_.timeouts);
}

void HttpServer::End(uint64_t number) {
  answering_->Drop(number);
  connections_.erase(number);
}

void HttpServer::OnRequest(HttpConnection& asked) {
  const HttpRequest& request = asked.request();
  if (asked.refusal() != nullptr) return Send(asked, BytesOf(request, *asked.refusal()));
  if (const auto response = options_.at_once(request); response.has_value()) {
    return Send(asked, BytesOf(request, *response));
  }
  answering_->Add(asked.number(), [this, request, number = asked.number()] {
    loop_.Post([this, number, answer = BytesOf(request, options_.answer(request))]() mutable {
      const auto found = connections_.find(number);
      if (found != connections_.end()) Send(found->second, std::move(answer));
    });
  });
}

void HttpServer::Send(HttpConnection& asked, std::string answer) {
  asked.Send(std::move(answer));
  size_t unsent = 0;
  for (const auto& [number, connection] : connections_) unsent += connection.unsent();
  auto oldest = connections_.begin();
  while (unsent > kMaxUnsentBytes && &oldest->second != &asked) {
    const auto next = std::next(oldest);
    unsent -= oldest->second.unsent();
    if (oldest->second.unsent() > 0) End(oldest->first);
    oldest = next;
  }
}

std::string HttpServer::BytesOf(const HttpRequest& request, const HttpResponse& response) const {
  return AnswerBytes(response, options_.headers, request.method != "HEAD");
}

}  // namespace levee
