#include "tests/io/fuzz_targets.h"

#include <string>

#include "hearth/io/archive.h"
#include "hearth/io/safetensors.h"
#include "io/read_idx.h"

using namespace hearth;

namespace {

/// Reads every value, so that nothing stays unlooked at.
void read_all(serialize::InputArchive& archive) {
  for (const std::string& key : archive.keys()) {
    IValue value;
    serialize::InputArchive nested;
    if (archive.try_read(key, nested)) read_all(nested);
    try {
      archive.try_read(key, value);
    } catch (const Error&) {  // one value's fault is not the others'
    }
  }
}

int64_t sum_of_bytes(const Tensor& tensor) {
  const auto* bytes = static_cast<const uint8_t*>(tensor.data_ptr());
  int64_t sum = 0;
  for (size_t i = 0; i < tensor.nbytes(); ++i) sum += bytes[i];
  return sum;
}

}  // namespace

int fuzz_safetensors(const uint8_t* data, size_t size) {
  try {
    const io::SafetensorsFile file(data, size);
    for (const std::string& key : file.keys()) {
      (void)file.info(key);
      try {
        (void)sum_of_bytes(file.get_tensor(key));
      } catch (const Error&) {
      }
    }
  } catch (const Error&) {
  }
  return 0;
}

int fuzz_archive(const uint8_t* data, size_t size) {
  try {
    serialize::InputArchive archive;
    archive.load_from(reinterpret_cast<const char*>(data), size);
    read_all(archive);
  } catch (const Error&) {
  }
  return 0;
}

int fuzz_idx(const uint8_t* data, size_t size) {
  try {
    (void)sum_of_bytes(io::read_idx(io::copy_bytes("fuzz", data, size)));
  } catch (const Error&) {
  }
  return 0;
}
