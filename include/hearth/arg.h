#pragma once

#include <utility>

/// A member of an options class with its setter, which returns the options, and its getters:
/// `HEARTH_ARG(bool, bias) = true;` makes options.bias(false) and options.bias().
#define HEARTH_ARG(T, name)                                \
 public:                                                   \
  auto name(const T& new_##name)->decltype(*this) {        \
    this->name##_ = new_##name;                            \
    return *this;                                          \
  }                                                        \
  auto name(T&& new_##name)->decltype(*this) {             \
    this->name##_ = std::move(new_##name);                 \
    return *this;                                          \
  }                                                        \
  const T& name() const noexcept { return this->name##_; } \
  T& name() noexcept { return this->name##_; }             \
                                                           \
 private:                                                  \
  T name##_
