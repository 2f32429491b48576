#include "tests/io/fuzz_targets.h"

#include <sys/mman.h>
#include <unistd.h>
#include <string>

#include "hearth/generator.h"
#include "hearth/io/archive.h"
#include "hearth/io/safetensors.h"
#include "io/read_idx.h"
#include "tests/io/run.h"

using namespace hearth;

namespace {

/// Reads every value.
void read_all(serialize::InputArchive& archive) {
  for (const std::string& key : archive.keys()) {
    IValue value;
    serialize::InputArchive nested;
    if (archive.try_read(key, nested)) read_all(nested);
    try {
      archive.try_read(key, value);
    } catch (const Error&) {  // other values may still be valid
    }
  }
}

int64_t sum_of_bytes(const Tensor& tensor) {
  const auto* bytes = static_cast<const uint8_t*>(tensor.data_ptr());
  int64_t sum = 0;
  for (size_t i = 0; i < tensor.nbytes(); ++i) sum += bytes[i];
  return sum;
}

/// A file in memory.
class MemoryFile {
 public:
  MemoryFile(const uint8_t* data, size_t size) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    HEARTH_CHECK(descriptor_ >= 0 && ::write(descriptor_, data, size) == ssize_t(size),
                 "no memory for a file");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

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

int fuzz_checkpoint(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  Generator generator = default_generator();
  const Tensor state = generator.get_state();
  hearth::testing::Run run;
  try {
    run.checkpoint().load(file.path());
    // Training must work with every state that was accepted.
    for (int i = 0; i < 4; ++i) run.train_epoch();
  } catch (const Error&) {
  }
  generator.set_state(state);
  return 0;
}

int fuzz_idx(const uint8_t* data, size_t size) {
  try {
    (void)sum_of_bytes(io::read_idx(io::copy_bytes("fuzz", data, size)));
  } catch (const Error&) {
  }
  return 0;
}
