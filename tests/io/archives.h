// Archives that are written and read again.
#pragma once

#include <sstream>
#include <string>

#include "hearth/io/archive.h"

namespace hearth::serialize {

/// Saves the archive to a stream and loads it again.
inline InputArchive through_stream(const OutputArchive& written) {
  std::stringstream stream;
  written.save_to(stream);
  InputArchive archive;
  archive.load_from(stream);
  return archive;
}

/// The value with this key.
inline IValue value_in(InputArchive& archive, const std::string& key) {
  IValue value;
  archive.read(key, value);
  return value;
}

}  // namespace hearth::serialize
