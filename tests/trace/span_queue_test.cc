// SPDX-License-Identifier: Apache-2.0
// The bound of the spans that wait, and the batches in which they go.
#include "trace/span_queue.h"

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace levee {
namespace {

using Added = SpanQueue::Added;

CallSpans Call(int attempts, const std::string& method = "") {
  CallSpans call;
  call.method = method;
  call.attempts.resize(static_cast<size_t>(attempts));
  return call;
}

TEST(SpanQueue, CallsComeOutInTheirOrder) {
  SpanQueue queue;
  EXPECT_EQ(queue.Add(Call(1, "first")), Added::kYes);
  EXPECT_EQ(queue.Add(Call(1, "second")), Added::kYes);
  const auto batch = queue.Take();
  ASSERT_EQ(batch.size(), 2u);
  EXPECT_EQ(batch[0].method, "first");
  EXPECT_EQ(batch[1].method, "second");
  EXPECT_TRUE(queue.Take().empty());
}

TEST(SpanQueue, ItSaysOnceThatABatchIsReady) {
  SpanQueue queue;
  for (int i = 0; i < SpanQueue::kBatch / 2 - 1; ++i) ASSERT_EQ(queue.Add(Call(1)), Added::kYes);
  EXPECT_FALSE(queue.HasBatch());
  EXPECT_EQ(queue.Add(Call(1)), Added::kBatchReady);
  EXPECT_TRUE(queue.HasBatch());
  EXPECT_EQ(queue.Add(Call(1)), Added::kYes);
  EXPECT_EQ(queue.Take().size(), SpanQueue::kBatch / 2u);
  EXPECT_FALSE(queue.HasBatch());
  EXPECT_EQ(queue.Take().size(), 1u);
}

TEST(SpanQueue, ABatchHasAllSpansOfItsLastCall) {
  SpanQueue queue;
  queue.Add(Call(SpanQueue::kBatch - 2));
  queue.Add(Call(100));
  queue.Add(Call(1));
  EXPECT_EQ(queue.Take().size(), 2u);
  EXPECT_EQ(queue.Take().size(), 1u);
}

TEST(SpanQueue, AFullQueueTakesNoMore) {
  SpanQueue queue;
  for (int spans = 0; spans < SpanQueue::kMaxSpans; spans += 2) {
    ASSERT_NE(queue.Add(Call(1)), Added::kNo);
  }
  EXPECT_EQ(queue.Add(Call(0)), Added::kNo);
  queue.Take();
  EXPECT_NE(queue.Add(Call(0)), Added::kNo);
}

TEST(SpanQueue, TextsCountByTheirBytes) {
  SpanQueue queue;
  const std::string text(1 << 20, 'a');
  for (int i = 0; i < 3; ++i) EXPECT_NE(queue.Add(Call(0, text)), Added::kNo);
  EXPECT_EQ(queue.Add(Call(0, text)), Added::kNo);
  EXPECT_NE(queue.Add(Call(0)), Added::kNo);
  EXPECT_EQ(queue.Clear(), 4);
  for (int i = 0; i < 3; ++i) EXPECT_NE(queue.Add(Call(0, text)), Added::kNo);
  queue.Take();
  for (int i = 0; i < 3; ++i) EXPECT_NE(queue.Add(Call(0, text)), Added::kNo);
}

TEST(SpanQueue, ClearSaysHowManySpansWereLost) {
  SpanQueue queue;
  queue.Add(Call(2));
  queue.Add(Call(0));
  EXPECT_EQ(queue.Clear(), 4);
  EXPECT_EQ(queue.Clear(), 0);
  EXPECT_TRUE(queue.Take().empty());
}

TEST(SpanQueue, SpansOfSeveralThreadsComeOutOnceOrAreRefused) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 3000;
  SpanQueue queue;
  std::atomic<int> added = 0;
  std::atomic<int> running = kThreads;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < kCalls; ++call) {
        if (queue.Add(Call(1, "method")) != Added::kNo) ++added;
      }
      --running;
    });
  }
  int taken = 0;
  while (running > 0) taken += static_cast<int>(queue.Take().size());
  for (std::thread& thread : threads) thread.join();
  for (auto batch = queue.Take(); !batch.empty(); batch = queue.Take()) {
    taken += static_cast<int>(batch.size());
  }
  EXPECT_EQ(taken, added);
  EXPECT_GT(taken, 0);
}

}  // namespace
}  // namespace levee
