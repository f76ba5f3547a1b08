#include "upstream/http2_connection.h"

namespace levee {

void WorkerIo::EndTurn(Instant now) {
  wheel.Advance(now);
  // Writing can end a stream or a connection, which is news for the tasks: whoever waits for the
  // free place is served in this turn, since nothing else may end the next poll.
  do {
    while (TurnTask* task = turn_tasks.PopFront()) task->OnTurnEnd();
    Flush();
  } while (!turn_tasks.empty());
  graveyard.Clear();
}

void WorkerIo::Flush() {
  // Writing returns flow-control window to the other side, which may make that one dirty again.
  while (!dirty_upstream.empty() || !dirty_downstream.empty()) {
    while (Http2Connection* connection = dirty_upstream.PopFront()) connection->Flush();
    while (Http2Connection* connection = dirty_downstream.PopFront()) connection->Flush();
  }
}

Http2Connection::Http2Connection(WorkerIo& io, int fd, const h2::Session::Options& options,
                                 h2::SessionHandler& events, Http2ConnectionOwner& owner)
    : io_(io),
      server_(true),
      owner_(owner),
      session_(h2::Session::Role::kServer, options, events, *this, io.streams),
      socket_(io.loop, fd, *this),
      open_(true) {}

Http2Connection::Http2Connection(WorkerIo& io, const net::Address& to,
                                 const h2::Session::Options& options, h2::SessionHandler& events,
                                 Http2ConnectionOwner& owner)
    : io_(io),
      server_(false),
      owner_(owner),
      session_(h2::Session::Role::kClient, options, events, *this, io.streams),
      socket_(io.loop, to, *this),
      open_(false) {}

Http2Connection::~Http2Connection() = default;

void Http2Connection::OnConnected() {
  open_ = true;
  OnOutputPending();
  owner_.OnConnected();
}

void Http2Connection::OnBytes(ByteSpan bytes) {
  if (broken_) return;
  received_at_ = io_.loop.now();
  if (session_.Receive(bytes)) return;
  broken_ = true;
  OnOutputPending();
}

void Http2Connection::OnWritable() { OnOutputPending(); }

void Http2Connection::OnClosed(const std::string& reason) { Close(reason); }

void Http2Connection::OnOutputPending() {
  if (!open_ || linked()) return;
  (server_ ? io_.dirty_downstream : io_.dirty_upstream).PushBack(*this);
}

bool Http2Connection::WriteLeftover() {
  if (leftover_.empty()) return true;
  const size_t size = socket_.Write(leftover_);
  written_ += size;
  leftover_.erase(leftover_.begin(), leftover_.begin() + static_cast<ptrdiff_t>(size));
  if (!leftover_.empty()) return false;
  leftover_.shrink_to_fit();
  return true;
}

void Http2Connection::Flush() {
  if (closed_ || !WriteLeftover()) return;
  for (bool more = true; more;) {
    h2::OutputBuffer out{.data = io_.output.data(), .capacity = io_.output.size()};
    more = session_.Serialize(out);
    const size_t size = socket_.Write({out.data, out.size});
    written_ += size;
    if (size == out.size) continue;
    // Nothing more is serialised until the kernel has taken this, so that it is the bound on what
    // a peer that does not read can make us hold.
    leftover_.assign(out.data + size, out.data + out.size);
    return;
  }
  if (broken_ || session_.Done()) Close(broken_ ? "protocol error" : "connection finished");
}

void Http2Connection::Close(const std::string& reason) {
  if (closed_) return;
  closed_ = true;
  open_ = false;
  Unlink();
  session_.ConnectionLost(written_);
  owner_.OnConnectionClosed(reason);
}

}  // namespace levee
