#pragma once

#include <utility>

/// Defines a member of an options class, a setter that returns the options, and getters:
/// `HEARTH_ARG(bool, bias) = true;` allows options.bias(false) and options.bias().
#define HEARTH_ARG(T, name)                                \
 public:                                                   \
  auto name(T new_##name)->decltype(*this) {               \
    this->name##_ = std::move(new_##name);                 \
    return *this;                                          \
  }                                                        \
  const T& name() const noexcept { return this->name##_; } \
  T& name() noexcept { return this->name##_; }             \
                                                           \
 private:                                                  \
  T name##_
