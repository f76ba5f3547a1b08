// SPDX-License-Identifier: Apache-2.0
#include "h2/stream_set.h"

namespace levee::h2 {

StreamSet::~StreamSet() {
  for (IntrusiveList<Stream>* list : {&quiet_, &ready_, &starved_, &retired_}) {
    while (Stream* stream = list->PopFront()) pool_.Return(stream);
  }
}

Stream* StreamSet::Any() {
  for (const Queue queue : {Queue::kQuiet, Queue::kReady, Queue::kStarved}) {
    if (Stream* stream = First(queue)) return stream;
  }
  return nullptr;
}

bool StreamSet::Consistent() {
  size_t open = 0;
  size_t with_id = 0;
  size_t queued = 0;
  bool states_fit = true;
  for (const Queue queue : {Queue::kQuiet, Queue::kReady, Queue::kStarved}) {
    ForEachOf(queue, [&](const Stream& stream) {
      ++open;
      with_id += stream.id_ != 0 ? 1 : 0;
      queued += stream.queued_bytes();
      const bool found = stream.id_ == 0 || Find(stream.id_) == &stream;
      const bool may_wait = queue == Queue::kQuiet || stream.local_ != Stream::Local::kNoHead;
      const bool has_body = queue != Queue::kStarved || stream.queued_bytes() > 0;
      const bool all_sent = stream.local_ != Stream::Local::kEnded ||
                            (stream.last_ != Stream::Last::kUnknown && stream.queued_bytes() == 0);
      states_fit = states_fit && !stream.retired_ && found && may_wait && has_body && all_sent;
    });
  }
  return states_fit && open == size_ && with_id == table_.size() && queued == queued_bytes_;
}

}  // namespace levee::h2
