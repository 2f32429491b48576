#pragma once

#include <exception>
#include <string>

#include "hearth/error.h"

namespace hearth::distributed {

inline std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return e.msg();
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

/// Calls f, and returns its exception or null.
template <class F>
std::exception_ptr error_in(const F& f) {
  try {
    f();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace hearth::distributed
