// SPDX-License-Identifier: Apache-2.0
// A caller's connection.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/graveyard.h"
#include "base/intrusive_list.h"
#include "conn/http2_connection.h"
#include "h2/session.h"
#include "server/accepted_connection.h"

namespace levee {

class DownstreamConnection;

// What a caller's connection brings to its worker.
class DownstreamOwner {
 public:
  // A request's head came.
  virtual h2::StreamHandler* OnRequest(DownstreamConnection& from, h2::Stream& stream,
                                       Metadata& head, bool end) = 0;
  virtual void OnProtocolError(DownstreamConnection& from, std::string_view what) = 0;
  virtual void OnLimit(h2::SessionLimit limit) = 0;

  // The connection is closed; the owner buries it.
  virtual void OnDownstreamClosed(DownstreamConnection& connection, const std::string& reason) = 0;

 protected:
  ~DownstreamOwner() = default;
};

// Owned by its worker. One thread.
class DownstreamConnection final : public Mortal,
                                   public ListLink<DownstreamConnection>,
                                   private h2::SessionHandler,
                                   private Http2ConnectionOwner {
 public:
  DownstreamConnection(WorkerIo& io, net::ByteStream stream, ConnectionOrigin origin,
                       const Http2Connection::Options& options, DownstreamOwner& owner)
      : owner_(owner),
        origin_(std::move(origin)),
        connection_(io, h2::Session::Role::kServer, std::move(stream), options,
                    static_cast<h2::SessionHandler&>(*this),
                    static_cast<Http2ConnectionOwner&>(*this)) {}

  const ConnectionOrigin& origin() const { return origin_; }

  // How the worker's snapshot knows the listener. The worker sets it.
  ListenerRef listener() const { return listener_; }
  void SetListener(ListenerRef listener) { listener_ = listener; }

  h2::Session& session() { return connection_.session(); }
  void Receive(ByteSpan bytes) { connection_.Receive(bytes); }
  void Close(const std::string& reason) { connection_.Close(reason); }

 private:
  h2::StreamHandler* OnRequest(h2::Stream& stream, Metadata& head, bool end) override {
    return owner_.OnRequest(*this, stream, head, end);
  }
  void OnGoaway() override {}
  void OnSlotsFree() override {}
  void OnProtocolError(std::string_view what) override { owner_.OnProtocolError(*this, what); }
  void OnLimit(h2::SessionLimit limit) override {
    owner_.OnLimit(limit);
    connection_.OnLimit();
  }
  void OnConnected() override {}
  void OnConnectionClosed(const std::string& reason) override {
    owner_.OnDownstreamClosed(*this, reason);
  }

  DownstreamOwner& owner_;
  const ConnectionOrigin origin_;
  ListenerRef listener_;
  Http2Connection connection_;
};

}  // namespace levee
