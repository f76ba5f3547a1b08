// SPDX-License-Identifier: Apache-2.0
// Where the streams of a session stand, without a session.
#include "h2/stream_set.h"

#include <gtest/gtest.h>

#include <vector>

namespace levee::h2 {
namespace {

using Queue = StreamSet::Queue;

struct Streams {
  StreamPool pool;
  StreamSet set{pool};
};

TEST(StreamSet, ANewStreamIsQuietAndWithoutId) {
  Streams streams;
  Stream& stream = streams.set.Add();
  EXPECT_EQ(stream.id(), 0u);
  EXPECT_EQ(streams.set.size(), 1u);
  EXPECT_EQ(streams.set.size_with_id(), 0u);
  EXPECT_EQ(streams.set.First(Queue::kQuiet), &stream);
  EXPECT_EQ(streams.set.First(Queue::kReady), nullptr);
}

TEST(StreamSet, AStreamIsFoundByItsIdUntilItIsRetired) {
  Streams streams;
  Stream& stream = streams.set.Add();
  streams.set.SetId(stream, 5);
  EXPECT_EQ(streams.set.Find(5), &stream);
  EXPECT_EQ(streams.set.size_with_id(), 1u);
  streams.set.Retire(stream);
  EXPECT_EQ(streams.set.Find(5), nullptr);
  EXPECT_EQ(streams.set.size(), 0u);
  EXPECT_EQ(streams.set.Any(), nullptr);
}

TEST(StreamSet, QueuesKeepTheOrderInWhichStreamsCame) {
  Streams streams;
  Stream& first = streams.set.Add();
  Stream& second = streams.set.Add();
  streams.set.Move(second, Queue::kReady);
  streams.set.Move(first, Queue::kReady);
  EXPECT_EQ(streams.set.First(Queue::kReady), &second);
  streams.set.Move(second, Queue::kStarved);
  EXPECT_EQ(streams.set.First(Queue::kReady), &first);
  EXPECT_EQ(streams.set.First(Queue::kStarved), &second);
}

TEST(StreamSet, EachOpenStreamIsVisitedAndMayBeMoved) {
  Streams streams;
  for (const Queue queue : {Queue::kQuiet, Queue::kReady, Queue::kStarved}) {
    streams.set.Move(streams.set.Add(), queue);
  }
  streams.set.Retire(streams.set.Add());
  std::vector<Stream*> seen;
  streams.set.ForEach([&](Stream& stream) { seen.push_back(&stream); });
  EXPECT_EQ(seen.size(), 3u);
  streams.set.ForEachOf(Queue::kQuiet,
                        [&](Stream& stream) { streams.set.Move(stream, Queue::kReady); });
  EXPECT_EQ(streams.set.First(Queue::kQuiet), nullptr);
}

TEST(StreamSet, ARetiredStreamIsUsedAgainOnlyAfterItWasReturned) {
  Streams streams;
  Stream& stream = streams.set.Add();
  streams.set.Retire(stream);
  EXPECT_NE(&streams.set.Add(), &stream);
  streams.set.ReturnRetired();
  EXPECT_EQ(&streams.set.Add(), &stream);
}

}  // namespace
}  // namespace levee::h2
