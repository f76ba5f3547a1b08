#include "h2/session_callbacks.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "h2/session.h"
#include "wire/status.h"

namespace levee::h2 {
namespace {

bool SaysTooManyPings(const nghttp2_goaway& goaway) {
  const std::string_view text(reinterpret_cast<const char*>(goaway.opaque_data),
                              goaway.opaque_data_len);
  return goaway.error_code == NGHTTP2_ENHANCE_YOUR_CALM && text == "too_many_pings";
}

}  // namespace

// A struct, so that it can be the one friend of Session that knows nghttp2's signatures.
struct Session::Callbacks {
  static Session& Self(void* user) { return *static_cast<Session*>(user); }
  static Stream* Find(nghttp2_session* session, int32_t id) {
    return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  static int OnBeginHeaders(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    Session& self = Self(user);
    Stream* stream = Find(session, frame->hd.stream_id);
    if (stream == nullptr && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      stream = self.pool_.Take();
      stream->session_ = &self;
      stream->id_ = frame->hd.stream_id;
      stream->open_ = true;
      self.streams_.PushBack(*stream);
      ++self.stream_count_;
      nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream);
    }
    self.receiving_ = stream;
    if (stream != nullptr) stream->received_.Clear();
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame*, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t flags, void* user) {
    const Session& self = Self(user);
    Stream* stream = self.receiving_;
    if (stream == nullptr || stream->oversized_) return 0;
    Metadata& fields = stream->received_;
    if (fields.size() >= self.options_.metadata_fields ||
        fields.ListBytes() + name_size + value_size + 32 > self.options_.metadata_bytes) {
      stream->oversized_ = true;
      return 0;
    }
    fields.Add({reinterpret_cast<const char*>(name), name_size},
               {reinterpret_cast<const char*>(value), value_size},
               (flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0);
    return 0;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    Session& self = Self(user);
    self.error_reported_ = false;
    const bool end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    switch (frame->hd.type) {
      case NGHTTP2_HEADERS:
        if (self.receiving_ != nullptr) self.ReceivedHeaders(*self.receiving_, end);
        self.receiving_ = nullptr;
        return 0;
      case NGHTTP2_DATA:
        if (Stream* stream = end ? Find(session, frame->hd.stream_id) : nullptr) {
          self.RemoteEnded(*stream, nullptr);
        }
        return 0;
      case NGHTTP2_SETTINGS:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) return 0;
        self.settings_received_ = true;
        if (self.role_ == Role::kClient) self.handler_.OnSlotsFree();
        return 0;
      case NGHTTP2_GOAWAY:
        // Called before nghttp2 closes the streams that the frame excludes.
        self.goaway_received_ = true;
        self.too_many_pings_ = self.too_many_pings_ || SaysTooManyPings(frame->goaway);
        self.goaway_last_id_ = std::min(self.goaway_last_id_, frame->goaway.last_stream_id);
        if (self.role_ == Role::kClient) self.handler_.OnGoaway();
        return 0;
      default:
        return 0;
    }
  }

  static int OnDataChunk(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* data,
                         size_t size, void* user) {
    // The connection's window is returned at once, so that one stream whose bytes wait for a slow
    // reader holds up only itself; the stream's own window bounds what it can pile up.
    nghttp2_session_consume_connection(session, size);
    (void)user;
    Stream* stream = Find(session, id);
    if (stream == nullptr || stream->handler_ == nullptr) {
      nghttp2_session_consume_stream(session, id, size);
      return 0;
    }
    stream->handler_->OnData(Chunk::Copy({data, size}));
    return 0;
  }

  static int OnStreamClose(nghttp2_session* session, int32_t id, uint32_t error_code, void* user) {
    Session& self = Self(user);
    Stream* stream = Find(session, id);
    if (stream == nullptr) return 0;
    if (self.receiving_ == stream) self.receiving_ = nullptr;
    StreamEnd end = {.cause = StreamEnd::Cause::kReset,
                     .error_code = error_code,
                     .left = stream->head_at_ != UINT64_MAX};
    if (self.role_ == Role::kClient && id > self.goaway_last_id_) {
      end.cause = StreamEnd::Cause::kExcluded;
    } else if (error_code == NGHTTP2_NO_ERROR && stream->remote_ended_) {
      end.cause = StreamEnd::Cause::kComplete;
    }
    self.Close(*stream, end);
    return 0;
  }

  static int OnInvalidFrame(nghttp2_session*, const nghttp2_frame*, int error, void* user) {
    Self(user).error_reported_ = true;
    Self(user).handler_.OnProtocolError(nghttp2_strerror(error));
    return 0;
  }

  // Called right before a frame is serialised, so serialized_ is where it starts.
  static int BeforeFrameSend(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    Stream* stream = Find(session, frame->hd.stream_id);
    if (stream != nullptr && stream->head_at_ == UINT64_MAX) {
      stream->head_at_ = Self(user).serialized_;
    }
    return 0;
  }

  static int OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    const uint8_t type = frame->hd.type;
    if (type == NGHTTP2_GOAWAY) Self(user).SentGoaway(frame->goaway.error_code);
    if (type != NGHTTP2_DATA && type != NGHTTP2_HEADERS) return 0;
    Stream* stream = Find(session, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      // The answer is complete although the caller's half is open: it need not send the rest
      // (RFC 9113, section 8.1).
      if (Self(user).role_ == Role::kServer && !stream->remote_ended_) {
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream->id_, NGHTTP2_NO_ERROR);
      }
      return 0;
    }
    if (type == NGHTTP2_HEADERS) {
      stream->open_ = true;
    } else if (stream->data_source_done_) {
      // nghttp2 has let go of the data source, so that a new one can be given.
      stream->data_source_done_ = stream->sending_data_ = false;
    }
    stream->SendRest();
    return 0;
  }

  static ssize_t ReadData(nghttp2_session*, int32_t, uint8_t*, size_t length, uint32_t* flags,
                          nghttp2_data_source* source, void*) {
    Stream& stream = *static_cast<Stream*>(source->ptr);
    const size_t size = std::min(length, stream.queued_bytes_);
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (size < stream.queued_bytes_) return static_cast<ssize_t>(size);
    // The queue ends here: so does this data source, to be replaced when there is more.
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    stream.data_source_done_ = true;
    if (!stream.data_ended_ || stream.has_trailers_) *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    if (stream.has_trailers_) stream.SubmitTrailers();
    return static_cast<ssize_t>(size);
  }

  static int SendData(nghttp2_session*, nghttp2_frame*, const uint8_t* head, size_t size,
                      nghttp2_data_source* source, void* user) {
    constexpr size_t kFrameHead = 9;
    Session& self = Self(user);
    OutputBuffer& out = *self.out_;
    // One nghttp2_session_mem_send may send several of these and then still return a frame of its
    // own, which must fit as well.
    if (out.room() < kFrameHead + size + OutputBuffer::kOtherFrame) {
      self.full_ = true;
      return NGHTTP2_ERR_WOULDBLOCK;
    }
    std::memcpy(out.data + out.size, head, kFrameHead);
    out.size += kFrameHead;
    self.serialized_ += kFrameHead + size;
    Stream& stream = *static_cast<Stream*>(source->ptr);
    stream.TakeQueued(size, out.data + out.size);
    out.size += size;
    if (size > 0 && stream.handler_ != nullptr) stream.handler_->OnSent(size);
    return 0;
  }
};

void Session::SubmitData(Stream& stream) {
  nghttp2_data_provider provider;
  provider.source.ptr = &stream;
  provider.read_callback = Callbacks::ReadData;
  // END_STREAM is withheld by the read callback while more is to come.
  LEVEE_CHECK(nghttp2_submit_data(session_, NGHTTP2_FLAG_END_STREAM, stream.id_, &provider) == 0);
  Dirty();
}

void Session::ReceivedHeaders(Stream& stream, bool end) {
  if (stream.head_received_) {
    // Trailers; without END_STREAM nghttp2 has refused them.
    if (end) RemoteEnded(stream, role_ == Role::kClient ? &stream.received_ : nullptr);
    return;
  }
  if (role_ == Role::kClient && stream.received_.Get(":status").starts_with('1')) return;
  stream.head_received_ = true;
  stream.remote_ended_ = end;
  if (role_ == Role::kServer) {
    stream.handler_ = handler_.OnRequest(stream, stream.received_, end);
  } else if (stream.handler_ != nullptr) {
    stream.handler_->OnHead(stream.received_, end);
  }
}

void Session::RemoteEnded(Stream& stream, Metadata* trailers) {
  stream.remote_ended_ = true;
  if (stream.handler_ != nullptr) stream.handler_->OnEnd(trailers);
}

void Session::SentGoaway(uint32_t error_code) {
  // nghttp2 ends a connection for some faults without telling of the frame that had them.
  if (error_code == NGHTTP2_NO_ERROR || error_reported_) return;
  error_reported_ = true;
  handler_.OnProtocolError(nghttp2_http2_strerror(error_code));
}

void Session::Close(Stream& stream, const StreamEnd& end) {
  stream.Unlink();
  --stream_count_;
  if (stream.handler_ != nullptr) stream.handler_->OnClosed(end);
  pool_.Return(&stream);
  if (role_ == Role::kServer) return;
  if (!goaway_received_ && nghttp2_session_check_request_allowed(session_) == 0) {
    // The stream ids are used up (after 2^30 calls): the connection is as good as told to go.
    goaway_received_ = true;
    Shutdown();
    handler_.OnGoaway();
  }
  handler_.OnSlotsFree();
}

const nghttp2_session_callbacks* SessionCallbacks(bool client) {
  static const nghttp2_session_callbacks* const client_table = Session::MakeCallbacks(true);
  static const nghttp2_session_callbacks* const server_table = Session::MakeCallbacks(false);
  return client ? client_table : server_table;
}

const nghttp2_session_callbacks* Session::MakeCallbacks(bool client) {
  nghttp2_session_callbacks* table = nullptr;
  LEVEE_CHECK(nghttp2_session_callbacks_new(&table) == 0);
  nghttp2_session_callbacks_set_on_begin_headers_callback(table, Callbacks::OnBeginHeaders);
  nghttp2_session_callbacks_set_on_header_callback(table, Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(table, Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table, Callbacks::OnDataChunk);
  nghttp2_session_callbacks_set_on_stream_close_callback(table, Callbacks::OnStreamClose);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(table, Callbacks::OnInvalidFrame);
  if (client) {
    // Only an attempt asks whether its head has left, and the callback costs a look-up per frame.
    nghttp2_session_callbacks_set_before_frame_send_callback(table, Callbacks::BeforeFrameSend);
  }
  nghttp2_session_callbacks_set_on_frame_send_callback(table, Callbacks::OnFrameSent);
  nghttp2_session_callbacks_set_send_data_callback(table, Callbacks::SendData);
  return table;
}

}  // namespace levee::h2
