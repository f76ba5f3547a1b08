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

}  // namespace levee::h2
