#include "tests/io/fuzz_targets.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>

#include "hearth/data/csv.h"
#include "hearth/data/text.h"
#include "hearth/generator.h"
#include "hearth/io/archive.h"
#include "hearth/io/safetensors.h"
#include "hearth/operators.h"
#include "hearth/vision/image.h"
#include "io/npz.h"
#include "io/pickle_writer.h"
#include "io/pt_file.h"
#include "io/read_idx.h"
#include "io/shard_index.h"
#include "tests/io/run.h"
#include "vision/codecs.h"

using namespace hearth;

int64_t accepted_images = 0;

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

/// Flattens, converts and pickles a value that was read from a file.
void process_value(const IValue& value, size_t file_bytes) {
  for (const auto& [name, item] : io::flatten(value, /*with_sizes=*/true, file_bytes))
    if (item.isTensor() && item.toTensor().has_storage())
      (void)sum_of_bytes(item.toTensor().contiguous());
  (void)io::flatten(io::from_libtorch_optimizer(value), /*with_sizes=*/true, file_bytes);
  (void)io::pickle_value(value);
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

int fuzz_checkpoint(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  Generator generator = default_generator();
  const Tensor state = generator.get_state();
  hearth::testing::Run run;
  try {
    run.checkpoint().load(file.path());
    // Training must not crash with any state that was accepted.
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

int fuzz_pt(const uint8_t* data, size_t size) {
  try {
    std::vector<std::string> damage;
    io::PtFile file(io::copy_bytes("fuzz", data, size), std::nullopt);
    file.tolerate(&damage);  // otherwise, checksums would reject most changes to the pickle
    process_value(file.read(), size);
  } catch (const Error&) {
  }
  return 0;
}

int fuzz_pickle(const uint8_t* data, size_t size) {
  const auto storage = [](const io::StorageRef& ref) {
    HEARTH_CHECK(ref.numel >= 0 && ref.numel < 100, "no such storage");
    return zeros({ref.numel}, ref.type);
  };
  try {
    process_value(
        io::unpickle({reinterpret_cast<const char*>(data), size}, {"fuzz", storage, true}), size);
  } catch (const Error&) {
  }
  return 0;
}

int fuzz_npy(const uint8_t* data, size_t size) {
  try {
    const io::BytesPtr bytes = io::copy_bytes("fuzz", data, size);
    if (!io::ZipReader::recognizes(*bytes))
      return (void)sum_of_bytes(io::read_npy(*bytes, 0, size).contiguous()), 0;
    for (const auto& [name, tensor] : io::read_npz(io::ZipReader(bytes)))
      (void)sum_of_bytes(tensor.contiguous());
  } catch (const Error&) {
  }
  return 0;
}

int fuzz_index(const uint8_t* data, size_t size) {
  try {
    (void)io::parse_shard_index({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const Error&) {
  }
  return 0;
}

int fuzz_csv(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  using data::datasets::CSV, data::datasets::CSVOptions;
  // The first byte chooses the options.
  const auto options = [bits = data[0]] {
    CSVOptions chosen = CSVOptions().header(bits & 1).trim(bits & 2).allow_missing(bits & 4);
    if (bits & 8) chosen.delimiter(';').quote('\'');
    if (bits & 16) chosen.quote('\0').dtype(kDouble);
    return bits & 32 ? chosen.header(false)
                           .names({"a", "b", "c", "d"})
                           .integers("a")
                           .categorical("c")
                           .target("c")
                           .text("d")
                     : chosen;
  }();
  try {
    const CSV csv = CSV::from_text({reinterpret_cast<const char*>(data) + 1, size - 1}, options);
    (void)sum_of_bytes(csv.data().contiguous());
    // Each value takes at least a byte of the text: a delimiter or the end of a line.
    if (csv.data().numel() > int64_t(size)) std::abort();
  } catch (const Error&) {
  }
  return 0;
}

int fuzz_image(const uint8_t* data, size_t size) {
  using vision::ImageReadMode;
  const Tensor bytes = empty({int64_t(size)}, kByte);
  std::copy_n(data, size, static_cast<uint8_t*>(bytes.data_ptr()));
  for (const ImageReadMode mode :
       {ImageReadMode::UNCHANGED, ImageReadMode::GRAY, ImageReadMode::RGB,
        ImageReadMode::GRAY_ALPHA, ImageReadMode::RGB_ALPHA}) {
    Tensor image;
    try {
      image = vision::decode_image(bytes, mode);
    } catch (const Error&) {
      continue;
    }
    // An image that was accepted can be written and read again, unless it is longer or wider than
    // files may be.
    if (image.size(1) > vision::kMaxEdge || image.size(2) > vision::kMaxEdge) continue;
    if (!vision::decode_image(vision::encode_png(image, 0)).equal(image)) std::abort();
    ++accepted_images;
  }
  return 0;
}

int fuzz_text(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  const std::vector<std::string> lines = data::read_lines(file.path());
  const data::tokenizers::Whitespace whitespace;
  const data::tokenizers::BasicEnglish basic_english;
  const data::tokenizers::Characters characters;
  const data::tokenizers::Bytes bytes;
  for (const data::Tokenizer* tokenizer : std::initializer_list<const data::Tokenizer*>{
           &whitespace, &basic_english, &characters, &bytes}) {
    const data::Vocab vocab = data::build_vocab(lines, *tokenizer);
    for (const std::string& line : lines)
      for (const std::string& token : (*tokenizer)(line))
        if (vocab.lookup_token(vocab[token]) != token) std::abort();
  }
  try {
    (void)data::Vocab::from_file(file.path());
  } catch (const Error&) {  // a token is there twice
  }
  return 0;
}
