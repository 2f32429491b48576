// Reads and checks the saved states of samplers.
#pragma once

#include <string>

#include "hearth/data/samplers.h"

namespace hearth::data::samplers {

inline size_t read_size(serialize::InputArchive& archive, const std::string& key) {
  size_t value = 0;
  archive.read(key, value);
  return value;
}

/// Reads a position in an epoch of `end` examples.
inline size_t read_position(serialize::InputArchive& archive, const std::string& key, size_t end) {
  const size_t position = read_size(archive, key);
  HEARTH_CHECK(position <= end, "the sampler's position in the archive is ", position, " of ", end);
  return position;
}

/// Throws if the sizes differ; `unit` is the noun in the error.
inline void check_size(size_t saved, size_t own, const char* unit = "examples") {
  HEARTH_CHECK(saved == own, "the sampler's state was saved for ", saved, " ", unit,
               "; this sampler has ", own);
}

}  // namespace hearth::data::samplers
