// SPDX-License-Identifier: Apache-2.0
// A doubly linked list whose links live in its members.
#pragma once

#include "base/check.h"

namespace levee {

// A member's link. A class that is in several lists at once has one base per list, told apart by
// Tag. The link removes itself from its list when it is destroyed. Not copyable.
template <typename Tag>
class ListLink {
 public:
  ListLink() = default;
  ListLink(const ListLink&) = delete;
  ListLink& operator=(const ListLink&) = delete;
  ~ListLink() { Unlink(); }

  bool linked() const { return next_ != nullptr; }

  // O(1). Does nothing if the link is in no list.
  void Unlink() {
    if (next_ == nullptr) return;
    previous_->next_ = next_;
    next_->previous_ = previous_;
    next_ = previous_ = nullptr;
  }

 private:
  template <typename T, typename>
  friend class IntrusiveList;

  ListLink* next_ = nullptr;
  ListLink* previous_ = nullptr;
};

// A list that does not own its members. T derives from ListLink<Tag>. One thread.
template <typename T, typename Tag = T>
class IntrusiveList {
 public:
  IntrusiveList() { head_.next_ = head_.previous_ = &head_; }
  ~IntrusiveList() {
    while (!empty()) head_.next_->Unlink();
    head_.next_ = head_.previous_ = nullptr;
  }
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;

  bool empty() const { return head_.next_ == &head_; }

  void PushBack(T& member) {
    ListLink<Tag>& link = member;
    LEVEE_CHECK(!link.linked());
    link.previous_ = head_.previous_;
    link.next_ = &head_;
    head_.previous_->next_ = &link;
    head_.previous_ = &link;
  }

  // Returns the first member; the list must not be empty.
  T& Front() {
    LEVEE_CHECK(!empty());
    return static_cast<T&>(*head_.next_);
  }

  const T& Front() const {
    LEVEE_CHECK(!empty());
    return static_cast<const T&>(*head_.next_);
  }

  // Removes the first member and returns it; nullptr if the list is empty.
  T* PopFront() {
    if (empty()) return nullptr;
    T& member = Front();
    static_cast<ListLink<Tag>&>(member).Unlink();
    return &member;
  }

  // Calls f(T&) for each member; f may unlink the member it is given, and no other.
  template <typename F>
  void ForEach(F f) {
    for (ListLink<Tag>* link = head_.next_; link != &head_;) {
      ListLink<Tag>* next = link->next_;
      f(static_cast<T&>(*link));
      link = next;
    }
  }

 private:
  ListLink<Tag> head_;
};

}  // namespace levee
