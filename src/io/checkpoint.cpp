#include "hearth/io/checkpoint.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "hearth/generator.h"
#include "hearth/io/file.h"
#include "hearth/operators.h"
#include "io/safetensors_header.h"

namespace hearth::io {

namespace {

constexpr const char* kGenerators = "generators";
constexpr const char* kChecksum = "checksum";
constexpr size_t kChecksumBytes = sizeof(uint32_t);

/// The default generators of this machine's devices, by name.
std::vector<std::pair<std::string, Generator>> generators() {
  std::vector<std::pair<std::string, Generator>> result = {{"cpu", default_generator()}};
  if (!cuda::is_available()) return result;
  for (int i = 0; i < cuda::device_count(); ++i) {
    const Device device(kCUDA, static_cast<DeviceIndex>(i));
    result.emplace_back(device.str(), default_generator(device));
  }
  return result;
}

/// Checks a state on a copy of the generator; the returned function gives the generator this state.
std::function<void()> checked_state(const std::string& path, const std::string& name,
                                    Generator generator, const Tensor& state) {
  try {
    generator.clone().set_state(state);
  } catch (Error& error) {
    error.append_line(detail::str("while reading the generator '", name, "' from '", path, "'"));
    throw;
  }
  return [generator, state]() mutable { generator.set_state(state); };
}

/// The names of a file's entries except the checksum, joined by commas.
std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    if (name != kChecksum) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Writes a file and replaces its last bytes by the checksum of the bytes before them.
class CheckedFile {
 public:
  explicit CheckedFile(const std::string& path) : file_(path) {}

  void write(const void* data, size_t bytes) {
    const auto* new_bytes = static_cast<const char*>(data);
    const size_t available = num_kept_ + bytes;
    const size_t num_passed = available - std::min(available, kChecksumBytes);
    const size_t num_old = std::min(num_kept_, num_passed), num_new = num_passed - num_old;
    pass(kept_bytes_.data(), num_old);
    num_kept_ -= num_old;
    std::memmove(kept_bytes_.data(), kept_bytes_.data() + num_old, num_kept_);
    pass(new_bytes, num_new);
    std::memcpy(kept_bytes_.data() + num_kept_, new_bytes + num_new, bytes - num_new);
    num_kept_ += bytes - num_new;
  }
  /// Writes the checksum instead of the last bytes.
  void commit() {
    file_.write(&checksum_, kChecksumBytes);
    file_.commit();
  }

 private:
  void pass(const char* data, size_t bytes) {
    checksum_ = crc32(data, bytes, checksum_);
    file_.write(data, bytes);
  }

  AtomicFile file_;
  uint32_t checksum_ = 0;
  std::array<char, kChecksumBytes> kept_bytes_{};  // the last bytes, not yet passed to the file
  size_t num_kept_ = 0;
};

}  // namespace

Checkpoint& Checkpoint::add_part(Part part) {
  const std::string& name = part.name;
  HEARTH_CHECK(!name.empty() && name != kGenerators && name != kChecksum &&
                   name.find('.') == std::string::npos,
               "'", name, "' cannot name a part of a checkpoint: it is empty, has a dot or is '",
               kGenerators, "' or '", kChecksum, "'");
  for (const Part& other : parts_)
    HEARTH_CHECK(other.name != name, "the checkpoint has a part '", name, "' already");
  parts_.push_back(std::move(part));
  return *this;
}

Checkpoint::Commit Checkpoint::read_value(serialize::InputArchive& archive, const std::string& name,
                                          Tensor& value) {
  Tensor read = value.defined() ? empty_like(value) : Tensor();
  archive.read(name, read);
  return [&value, read] {
    const NoGradGuard no_history;
    if (value.defined())
      value.copy_(read);
    else
      value = read;
  };
}

/// Writes an integer if the value is in int64's range, else a string of decimal digits.
void Checkpoint::write_wide(serialize::OutputArchive& archive, const std::string& name,
                            uint64_t value) {
  if (std::in_range<int64_t>(value))
    archive.write(name, static_cast<int64_t>(value));
  else
    archive.write(name, std::to_string(value));
}

uint64_t Checkpoint::read_wide(serialize::InputArchive& archive, const std::string& name) {
  uint64_t value = 0;
  std::string digits;
  if (!archive.try_read(name, digits)) {
    archive.read(name, value);
    return value;
  }
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  HEARTH_CHECK(error == std::errc() && stop == end && !std::in_range<int64_t>(value),
               "No such serialized int '", name, "'; found the string '", digits, "'");
  return value;
}

void Checkpoint::check_file(const std::string& path) {
  const BytesPtr bytes = map_file(path);
  const SafetensorsHeader header = read_header(*bytes);
  for (const TensorEntry& entry : header.tensors) {
    if (entry.name != kChecksum) continue;
    const uint64_t begin = header.data_begin + entry.begin;
    uint32_t saved = 0, found = 0;
    HEARTH_CHECK(
        entry.end - entry.begin == kChecksumBytes && begin + kChecksumBytes == bytes->size(),
        "cannot read '", path, "': its tensor '", kChecksum, "' is not a checkpoint's checksum");
    std::memcpy(&saved, bytes->data() + begin, kChecksumBytes);
    found = crc32(bytes->data(), begin);
    HEARTH_CHECK(saved == found, "cannot read '", path,
                 "': the file is damaged: its bytes have the checksum ", found, ", but ", saved,
                 " was saved with them");
  }
}

void Checkpoint::save(const std::string& path) const {
  serialize::OutputArchive archive, states;
  for (const Part& part : parts_) part.save(archive);
  for (const auto& [name, generator] : generators()) states.write(name, generator.get_state());
  archive.write(kGenerators, states);
  // Tensors are stored by descending element size, so the tensor of bytes written last ends the
  // file.
  archive.write(kChecksum, zeros({static_cast<int64_t>(kChecksumBytes)}, kByte));
  CheckedFile file(path);
  archive.save_to([&file](const void* data, size_t bytes) {
    file.write(data, bytes);
    return bytes;
  });
  file.commit();
}

void Checkpoint::load(const std::string& path, std::optional<Device> device) const {
  check_file(path);
  serialize::InputArchive archive, states;
  archive.load_from(path, device);
  archive.require_same_sizes();
  HEARTH_CHECK(archive.contains(kGenerators), "'", path, "' is not a checkpoint: it has no '",
               kGenerators, "'; it has ", joined_names(archive.keys()));
  for (const Part& part : parts_)
    HEARTH_CHECK(archive.contains(part.name), "the checkpoint '", path, "' has no '", part.name,
                 "'; it has ", joined_names(archive.keys()));
  archive.read(kGenerators, states);
  std::vector<Commit> objects, values;
  for (const Part& part : parts_)
    (part.is_value ? values : objects).push_back(part.prepare(archive));
  for (const auto& [name, generator] : generators())
    if (Tensor state; states.try_read(name, state))
      values.push_back(checked_state(path, name, generator, state.cpu()));
  for (const Commit& commit : objects) commit();
  for (const Commit& commit : values) commit();
}

}  // namespace hearth::io
