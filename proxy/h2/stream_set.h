// SPDX-License-Identifier: Apache-2.0
// The streams of a session, in queues by what they wait for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/intrusive_list.h"
#include "h2/stream.h"
#include "h2/stream_pool.h"
#include "h2/stream_table.h"

namespace levee::h2 {

// Owns the streams, which it takes from a pool and returns to it. One thread.
class StreamSet {
 public:
  // The reason why an open stream does not send now.
  enum class Queue {
    kQuiet,   // it has nothing to send, or no window of its own
    kReady,   // it has something to send and waits for its turn
    kStarved  // it has something to send, and the connection's window is used up
  };

  // `pool` must outlive this.
  explicit StreamSet(StreamPool& pool) : pool_(pool) {}
  ~StreamSet();
  StreamSet(const StreamSet&) = delete;
  StreamSet& operator=(const StreamSet&) = delete;

  StreamPool& pool() const { return pool_; }

  // Returns a new stream, which is open, quiet, and without id.
  Stream& Add() {
    Stream* stream = pool_.Take();
    quiet_.PushBack(*stream);
    ++size_;
    return *stream;
  }

  // Gives the stream its id, by which Find then finds it. No open stream may have this id.
  void SetId(Stream& stream, uint32_t id) {
    stream.id_ = id;
    table_.Insert(stream);
  }

  // Returns the open stream with this id; nullptr if there is none.
  Stream* Find(uint32_t id) const { return table_.Find(id); }

  // How many streams are open, and how many of these have an id.
  size_t size() const { return size_; }
  size_t size_with_id() const { return table_.size(); }

  // Puts the stream at the end of a queue.
  void Move(Stream& stream, Queue queue) {
    stream.Unlink();
    ListOf(queue).PushBack(stream);
  }

  // The first stream of a queue, nullptr if it is empty.
  Stream* First(Queue queue) {
    IntrusiveList<Stream>& list = ListOf(queue);
    return list.empty() ? nullptr : &list.Front();
  }

  // Ends the stream. The object stays until ReturnRetired, since functions on the call stack may
  // refer to it.
  void Retire(Stream& stream) {
    LEVEE_CHECK(!stream.retired_);
    stream.retired_ = true;
    stream.Unlink();
    retired_.PushBack(stream);
    if (stream.id_ != 0) table_.Erase(stream);
    queued_bytes_ -= stream.queued_bytes();
    --size_;
  }

  // Returns retired streams to the pool; none of them may be in use any more.
  void ReturnRetired() {
    while (Stream* stream = retired_.PopFront()) pool_.Return(stream);
  }

  // Calls f(Stream&) for each open stream, or for each of one queue. It may move the stream that it
  // is called with, and no other.
  template <typename F>
  void ForEach(F f) {
    for (IntrusiveList<Stream>* list : {&quiet_, &ready_, &starved_}) list->ForEach(f);
  }
  template <typename F>
  void ForEachOf(Queue queue, F f) {
    ListOf(queue).ForEach(f);
  }
  // Calls f(Stream&) for each open stream with an id, in no particular order.
  template <typename F>
  void ForEachWithId(F f) const {
    table_.ForEach(f);
  }

  // Any open stream, nullptr if there is none.
  Stream* Any();

  // The number of body bytes of all open streams that are not sent yet. Retire subtracts those of
  // its stream.
  size_t queued_bytes() const { return queued_bytes_; }
  void AddQueued(size_t bytes) { queued_bytes_ += bytes; }
  void SubtractQueued(size_t bytes) { queued_bytes_ -= bytes; }

  // Whether lists, table, counts and the states of the streams agree, as they must between events.
  // Looks at every stream.
  bool Consistent();

 private:
  IntrusiveList<Stream>& ListOf(Queue queue) {
    return queue == Queue::kReady ? ready_ : queue == Queue::kQuiet ? quiet_ : starved_;
  }

  StreamPool& pool_;
  // Every open stream is in one of the first three lists.
  IntrusiveList<Stream> quiet_;
  IntrusiveList<Stream> ready_;
  IntrusiveList<Stream> starved_;
  IntrusiveList<Stream> retired_;
  StreamTable table_;
  size_t size_ = 0;
  size_t queued_bytes_ = 0;
};

}  // namespace levee::h2
