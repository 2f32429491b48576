#pragma once

#include <string>
#include <vector>

#include "hearth/error.h"

namespace hearth::testing {

/// Collects this thread's warnings during its lifetime.
class Warnings {
 public:
  Warnings() : former_(set_warning_sink([](const std::string& text) { said().push_back(text); })) {
    said().clear();
  }
  ~Warnings() { set_warning_sink(former_); }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;
  /// The texts of the warnings so far.
  static std::vector<std::string>& said() {
    thread_local std::vector<std::string> texts;
    return texts;
  }
  static bool contains(const std::string& text) {
    for (const std::string& warning : said())
      if (warning.find(text) != std::string::npos) return true;
    return false;
  }

 private:
  WarningSink former_;
};

}  // namespace hearth::testing
