// SPDX-License-Identifier: Apache-2.0
// A function object that holds what it captures in itself.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace levee {

// As std::function, but it is moved only, and what is captured is allocated only if it takes more
// than kBytes: a simulation asks for several events with each attempt, and nearly all of them
// capture more than std::function keeps.
template <typename Signature, size_t kBytes>
class InlineFunction;

template <typename Result, typename... Args, size_t kBytes>
class InlineFunction<Result(Args...), kBytes> {
 public:
  InlineFunction() = default;
  InlineFunction(std::nullptr_t) {}  // NOLINT: as std::function.

  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, InlineFunction> &&
           std::is_invocable_r_v<Result, std::decay_t<F>&, Args...>)
      InlineFunction(F&& f) {  // NOLINT: as std::function.
    Hold(std::forward<F>(f));
  }

  InlineFunction(InlineFunction&& other) noexcept { Take(other); }
  InlineFunction& operator=(InlineFunction&& other) noexcept {
    if (this == &other) return *this;
    Reset();
    Take(other);
    return *this;
  }
  InlineFunction(const InlineFunction&) = delete;
  InlineFunction& operator=(const InlineFunction&) = delete;
  ~InlineFunction() { Reset(); }

  // Holds another function from now on.
  template <typename F>
  void Set(F&& f) {
    if constexpr (std::same_as<std::remove_cvref_t<F>, InlineFunction>) {
      *this = std::forward<F>(f);
    } else {
      Reset();
      Hold(std::forward<F>(f));
    }
  }

  // Holds none any more.
  void Reset() {
    if (traits_ == nullptr) return;
    const Traits* const traits = std::exchange(traits_, nullptr);
    if (traits->destroy != nullptr) traits->destroy(bytes_);
  }

  explicit operator bool() const { return traits_ != nullptr; }

  // There must be one.
  Result operator()(Args... args) { return traits_->call(bytes_, std::forward<Args>(args)...); }

 private:
  // These functions know the type that is held.
  struct Traits {
    Result (*call)(void* held, Args... args);
    void (*move)(void* from, void* to);  // leaves nothing in `from`
    void (*destroy)(void* held);         // nullptr: nothing is to be done
  };

  template <typename T>
  static constexpr Traits kTraitsOf = {
      .call = [](void* held, Args... args) -> Result {
        return std::invoke(*static_cast<T*>(held), std::forward<Args>(args)...);
      },
      .move =
          [](void* from, void* to) {
            new (to) T(std::move(*static_cast<T*>(from)));
            static_cast<T*>(from)->~T();
          },
      .destroy = std::is_trivially_destructible_v<T>
                     ? nullptr
                     : +[](void* held) { static_cast<T*>(held)->~T(); }};

  template <typename F>
  void Hold(F&& f) {
    using T = std::decay_t<F>;
    if constexpr (sizeof(T) > kBytes || alignof(T) > alignof(std::max_align_t)) {
      Hold([boxed = std::make_unique<T>(std::forward<F>(f))](Args... args) -> Result {
        return std::invoke(*boxed, std::forward<Args>(args)...);
      });
    } else {
      new (bytes_) T(std::forward<F>(f));
      traits_ = &kTraitsOf<T>;
    }
  }

  void Take(InlineFunction& other) {
    if (other.traits_ == nullptr) return;
    other.traits_->move(other.bytes_, bytes_);
    traits_ = std::exchange(other.traits_, nullptr);
  }

  const Traits* traits_ = nullptr;
  alignas(std::max_align_t) std::byte bytes_[kBytes];
};

}  // namespace levee
