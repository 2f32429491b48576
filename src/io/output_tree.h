#pragma once

#include "io/archive_values.h"

namespace hearth::serialize {

struct OutputArchive::Tree {
  void add(const std::string& path, Value value);

  Values values;
};

}  // namespace hearth::serialize
