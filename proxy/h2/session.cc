#include "h2/session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "base/block_cache.h"
#include "base/check.h"
#include "h2/session_callbacks.h"
#include "wire/status.h"

namespace levee::h2 {
namespace {

// RFC 9113 leaves the limit open until the peer's SETTINGS arrive; its recommended least value.
constexpr int kStreamsBeforeSettings = 100;

nghttp2_nv ToNv(const Metadata::Field& field) {
  // The bytes stay in the Stream until the frame is serialised, so nghttp2 need not copy them. It
  // only reads them, whatever its signature says.
  auto bytes = [](std::string_view text) {
    return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
  };
  uint8_t flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
  if (field.never_index) flags |= NGHTTP2_NV_FLAG_NO_INDEX;
  return {bytes(field.name), bytes(field.value), field.name.size(), field.value.size(), flags};
}

// nghttp2 allocates several small objects per stream and frame.
nghttp2_mem* BlockMemory() {
  static nghttp2_mem memory = {
      nullptr, [](size_t bytes, void*) { return AllocateBlock(bytes); },
      [](void* block, void*) { FreeBlock(block); },
      [](size_t count, size_t bytes, void*) {
        void* block = AllocateBlock(count * bytes);
        std::memset(block, 0, count * bytes);
        return block;
      },
      [](void* block, size_t bytes, void*) { return ResizeBlock(block, bytes); }};
  return &memory;
}

struct OptionDeleter {
  void operator()(nghttp2_option* option) const { nghttp2_option_del(option); }
};

std::unique_ptr<nghttp2_option, OptionDeleter> MakeOptions(const Session::Options& options) {
  nghttp2_option* option = nullptr;
  LEVEE_CHECK(nghttp2_option_new(&option) == 0);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);
  // nghttp2's own reset bucket (burst 1000, 33 a second) would close connections of callers whose
  // deadlines and cancellations are honest.
  nghttp2_option_set_stream_reset_rate_limit(option, uint64_t{1} << 30, uint64_t{1} << 30);
  // gRPC's metadata and status messages may begin and end with spaces, and a proxy passes them on;
  // nghttp2 would drop such fields without a word.
  nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(option, 1);
  // A header block that was accepted must also be allowed to leave.
  nghttp2_option_set_max_send_header_block_length(option, 64 * 1024 + 2 * options.metadata_bytes);
  return std::unique_ptr<nghttp2_option, OptionDeleter>(option);
}

}  // namespace

const char* LibraryVersion() { return nghttp2_version(0)->version_str; }

Stream* StreamPool::Take() {
  if (free_.empty()) return new Stream;
  Stream* stream = free_.back().release();
  free_.pop_back();
  return stream;
}

void StreamPool::Return(Stream* stream) {
  stream->Recycle();
  std::unique_ptr<Stream> owned(stream);
  if (free_.size() < kKept) free_.push_back(std::move(owned));
}

Session::Session(Role role, const Options& options, SessionHandler& handler, OutputHandler& output,
                 StreamPool& pool)
    : role_(role), options_(options), handler_(handler), output_(output), pool_(pool) {
  const auto option = MakeOptions(options);
  nghttp2_settings_entry settings[4] = {
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options.stream_window_bytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(options.metadata_bytes)},
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}};
  if (role == Role::kServer) {
    settings[2] = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options.max_concurrent_streams};
    LEVEE_CHECK(nghttp2_session_server_new3(&session_, SessionCallbacks(false), this, option.get(),
                                            BlockMemory()) == 0);
  } else {
    LEVEE_CHECK(nghttp2_session_client_new3(&session_, SessionCallbacks(true), this, option.get(),
                                            BlockMemory()) == 0);
  }
  LEVEE_CHECK(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, 4) == 0);
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                        static_cast<int32_t>(options.connection_window_bytes));
}

Session::~Session() {
  while (Stream* stream = streams_.PopFront()) pool_.Return(stream);
  nghttp2_session_del(session_);
}

void Session::Dirty() {
  // What is queued during Serialize leaves with it.
  if (dirty_ || out_ != nullptr) return;
  dirty_ = true;
  output_.OnOutputPending();
}

bool Session::Receive(ByteSpan bytes) {
  if (broken_) return false;
  const ssize_t consumed = nghttp2_session_mem_recv(session_, bytes.data(), bytes.size());
  if (consumed < 0) {
    broken_ = true;
    handler_.OnProtocolError(nghttp2_strerror(static_cast<int>(consumed)));
  }
  // Acknowledgements, window updates, resets: anything may have been queued by nghttp2 itself. And
  // after a GOAWAY this may have been the end of the last stream, so that the session is done.
  if (nghttp2_session_want_write(session_) != 0 || nghttp2_session_want_read(session_) == 0) {
    Dirty();
  }
  return !broken_;
}

bool Session::Serialize(OutputBuffer& out) {
  dirty_ = false;
  out_ = &out;
  bool more = false;
  for (;;) {
    // Frames that are not DATA come as they are, so there must be room for one; DATA sees to
    // itself.
    if (out.room() < OutputBuffer::kOtherFrame) {
      more = true;
      break;
    }
    const uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
    if (size <= 0) {
      broken_ = broken_ || size < 0;
      more = full_;
      break;
    }
    LEVEE_CHECK(static_cast<size_t>(size) <= out.room());
    std::memcpy(out.data + out.size, bytes, static_cast<size_t>(size));
    out.size += static_cast<size_t>(size);
    serialized_ += static_cast<uint64_t>(size);
  }
  full_ = false;
  out_ = nullptr;
  return more;
}

int Session::FreeSlots() const {
  if (goaway_received_ || broken_ || nghttp2_session_check_request_allowed(session_) == 0) return 0;
  int64_t limit = kStreamsBeforeSettings;
  if (settings_received_) {
    limit = nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  }
  return static_cast<int>(
      std::clamp<int64_t>(limit - static_cast<int64_t>(stream_count_), 0, INT32_MAX));
}

Stream& Session::Open(StreamHandler& handler) {
  LEVEE_CHECK(role_ == Role::kClient);
  Stream* stream = pool_.Take();
  stream->session_ = this;
  stream->handler_ = &handler;
  streams_.PushBack(*stream);
  ++stream_count_;
  return *stream;
}

void Session::SubmitHeaders(Stream& stream, const Metadata& fields, bool end) {
  absl::InlinedVector<nghttp2_nv, 32> nva(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) nva[i] = ToNv(fields[i]);
  const uint8_t flags = end ? NGHTTP2_FLAG_END_STREAM : NGHTTP2_FLAG_NONE;
  const bool opens = stream.id_ == 0;
  const int32_t result = nghttp2_submit_headers(session_, flags, opens ? -1 : stream.id_, nullptr,
                                                nva.data(), nva.size(), opens ? &stream : nullptr);
  // FreeSlots() has made sure that there are stream ids left; nothing else can fail but memory.
  LEVEE_CHECK(result >= 0);
  if (opens) stream.id_ = result;
  Dirty();
}

void Session::AnnounceShutdown() {
  nghttp2_submit_shutdown_notice(session_);
  Dirty();
}

void Session::Shutdown() {
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  Dirty();
}

void Session::SendPing() {
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  Dirty();
}

void Session::ConnectionLost(uint64_t written) {
  broken_ = true;
  while (Stream* stream = streams_.PopFront()) {
    --stream_count_;
    StreamHandler* handler = stream->handler_;
    stream->handler_ = nullptr;
    const StreamEnd end = {.cause = StreamEnd::Cause::kLost, .left = stream->head_at_ < written};
    if (handler != nullptr) handler->OnClosed(end);
    pool_.Return(stream);
  }
}

bool Session::Done() const {
  return broken_ ||
         (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
}

}  // namespace levee::h2
