// SPDX-License-Identifier: Apache-2.0
#include "base/intrusive_list.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace levee {
namespace {

struct Active;
struct Idle;

struct Item : ListLink<Item> {
  explicit Item(int i) : number(i) {}
  int number;
};

struct TwoLists : ListLink<Active>, ListLink<Idle> {};

std::vector<int> Numbers(IntrusiveList<Item>& list) {
  std::vector<int> numbers;
  list.ForEach([&](Item& item) { numbers.push_back(item.number); });
  return numbers;
}

TEST(IntrusiveList, KeepsTheOrderOfPushing) {
  Item a(1), b(2), c(3);
  IntrusiveList<Item> list;
  EXPECT_TRUE(list.empty());
  list.PushBack(a);
  list.PushBack(b);
  list.PushBack(c);
  EXPECT_EQ(Numbers(list), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(list.Front().number, 1);
}

TEST(IntrusiveList, PopFrontTakesTheMembersOutInOrder) {
  Item a(1), b(2);
  IntrusiveList<Item> list;
  list.PushBack(a);
  list.PushBack(b);
  EXPECT_EQ(list.PopFront(), &a);
  EXPECT_FALSE(a.linked());
  EXPECT_EQ(list.PopFront(), &b);
  EXPECT_EQ(list.PopFront(), nullptr);
}

TEST(IntrusiveList, UnlinkTakesAMemberOutOfTheMiddle) {
  Item a(1), b(2), c(3);
  IntrusiveList<Item> list;
  list.PushBack(a);
  list.PushBack(b);
  list.PushBack(c);
  b.Unlink();
  EXPECT_EQ(Numbers(list), (std::vector<int>{1, 3}));
  b.Unlink();
  EXPECT_FALSE(b.linked());
}

TEST(IntrusiveList, AMemberThatIsDestroyedLeavesTheList) {
  Item a(1);
  auto b = std::make_unique<Item>(2);
  IntrusiveList<Item> list;
  list.PushBack(a);
  list.PushBack(*b);
  b.reset();
  EXPECT_EQ(Numbers(list), (std::vector<int>{1}));
}

TEST(IntrusiveList, AListThatIsDestroyedLeavesItsMembersUnlinked) {
  Item a(1), b(2);
  {
    IntrusiveList<Item> list;
    list.PushBack(a);
    list.PushBack(b);
  }
  EXPECT_FALSE(a.linked());
  EXPECT_FALSE(b.linked());
}

TEST(IntrusiveList, AMemberMovesBetweenLists) {
  Item a(1);
  IntrusiveList<Item> first, second;
  first.PushBack(a);
  a.Unlink();
  second.PushBack(a);
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(Numbers(second), (std::vector<int>{1}));
}

TEST(IntrusiveList, ForEachMayUnlinkTheMemberItIsAt) {
  Item a(1), b(2), c(3);
  IntrusiveList<Item> list;
  list.PushBack(a);
  list.PushBack(b);
  list.PushBack(c);
  list.ForEach([](Item& item) {
    if (item.number != 2) item.Unlink();
  });
  EXPECT_EQ(Numbers(list), (std::vector<int>{2}));
}

TEST(IntrusiveList, AMemberMayBeInTwoListsByTwoTags) {
  TwoLists member;
  IntrusiveList<TwoLists, Active> active;
  IntrusiveList<TwoLists, Idle> idle;
  active.PushBack(member);
  idle.PushBack(member);
  EXPECT_EQ(active.PopFront(), &member);
  EXPECT_TRUE(active.empty());
  EXPECT_EQ(&idle.Front(), &member);
}

TEST(IntrusiveListDeathTest, PushingALinkedMemberEndsTheProcess) {
  Item a(1);
  IntrusiveList<Item> list;
  list.PushBack(a);
  EXPECT_DEATH(list.PushBack(a), "invariant broken");
}

}  // namespace
}  // namespace levee
