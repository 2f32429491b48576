#include "io/pt_file.h"

#include <charconv>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "io/little_endian.h"
#include "io/read_tensor.h"
#include "io/saved_device.h"

namespace hearth::io {

namespace {

constexpr std::string_view kPickle = "data.pkl";

/// The folder of the archive's pickle: "archive/".
std::string folder_of_pickle(const ZipReader& zip) {
  for (const ZipEntry& entry : zip.entries()) {
    const size_t slash = entry.name.find('/');
    const size_t begin = slash == std::string::npos ? 0 : slash + 1;
    if (entry.name.substr(begin) == kPickle) return entry.name.substr(0, begin);
  }
  detail::fail<Error>("cannot read '", zip.name(), "': this zip archive has no ", kPickle,
                      ", so it is not one of torch.save");
}

/// Throws unless the archive's format is one that PyTorch 2 reads.
void check_version(const ZipReader& zip, const std::string& folder) {
  constexpr uint64_t kOldest = 1, kNewest = 10;
  const std::string& file = zip.name();
  const ZipEntry* entry = zip.find(folder + ".data/version");
  if (!entry) entry = zip.find(folder + "version");
  HEARTH_CHECK(entry, "cannot read '", file,
               "': Expected hasRecord(\"version\") to be true, but got false.");
  const std::string text = zip.text(*entry);
  uint64_t version = 0;
  // As in PyTorch, text may follow the number.
  const auto error = std::from_chars(text.data(), text.data() + text.size(), version).ec;
  HEARTH_CHECK(error == std::errc(), "cannot read '", file, "': Couldn't parse the version ", text,
               " as Long Long.");
  HEARTH_CHECK(version >= kOldest, "cannot read '", file,
               "': Attempted to read a PyTorch file with version ", version,
               ", but the minimum supported version for reading is ", kOldest, ".");
  HEARTH_CHECK(version <= kNewest, "cannot read '", file,
               "': Attempted to read a PyTorch file with version ", version,
               ", but the maximum supported version for reading is ", kNewest, ".");
}

/// Adds the texts between double quotes.
void add_quoted(std::string_view text, std::set<std::string>& texts) {
  for (size_t begin = text.find('"'); begin != std::string_view::npos;) {
    const size_t end = text.find('"', begin + 1);
    if (end == std::string_view::npos) return;
    texts.emplace(text.substr(begin + 1, end - begin - 1));
    begin = text.find('"', end + 1);
  }
}

}  // namespace

PtFile::PtFile(BytesPtr bytes, std::optional<Device> device)
    : zip_(std::move(bytes)), device_(device), folder_(folder_of_pickle(zip_)) {
  check_version(zip_, folder_);
  if (const ZipEntry* entry = zip_.find(folder_ + "byteorder")) {
    const std::string order = zip_.text(*entry);
    is_big_endian_ = order == "big";
    HEARTH_CHECK(is_big_endian_ || order == "little", "cannot read '", name(),
                 "': Unknown endianness type: ", order);
  }
}

bool PtFile::has_objects() const { return zip_.find(folder_ + "constants.pkl") != nullptr; }

std::set<std::string> PtFile::declared_names() const {
  std::set<std::string> names;
  for (const ZipEntry& entry : zip_.entries()) {
    if (!entry.name.starts_with(folder_ + "code/") || !entry.name.ends_with(".py")) continue;
    const std::string code = zip_.text(entry);
    for (const std::string_view list : {"__parameters__ = [", "__buffers__ = ["})
      for (size_t at = code.find(list); at != std::string::npos; at = code.find(list, at + 1))
        add_quoted(std::string_view(code).substr(at, code.find(']', at) - at), names);
  }
  return names;
}

const ZipEntry& PtFile::record(const std::string& name) const {
  const ZipEntry* entry = zip_.find(folder_ + name);
  HEARTH_CHECK(entry, "cannot read '", this->name(), "': it has no record '", name, "'");
  return *entry;
}

IValue PtFile::read() {
  const NoGradGuard no_history;
  const std::string pickle = zip_.text(record(std::string(kPickle)));
  return unpickle(pickle,
                  {name(), [this](const StorageRef& ref) { return storage(ref); }, has_objects(),
                   [this](const Tensor& bytes, ScalarType type) { give_dtype(bytes, type); }});
}

Device PtFile::device_of(const StorageRef& ref) const {
  if (device_) return *device_;
  // Tensors of devices that Hearth does not have go to the CPU.
  if (!ref.location.starts_with("cuda") && ref.location != "meta") return kCPU;
  const Device device(ref.location);
  check_reachable(name(), device);
  return device;
}

Tensor PtFile::storage(const StorageRef& ref) {
  if (const auto found = storages_.find(ref.key); found != storages_.end()) {
    HEARTH_CHECK(found->second.scalar_type() == ref.type, "cannot read '", name(), "': storage ",
                 ref.key, " has two dtypes, ", found->second.scalar_type(), " and ", ref.type);
    return found->second;
  }
  const Device device = device_of(ref);
  const TensorOptions options = TensorOptions(device).dtype(ref.type);
  if (device.is_meta()) return storages_[ref.key] = empty({0}, options);
  const ZipEntry& entry = record("data/" + ref.key);
  HEARTH_CHECK(ref.numel >= 0 && uint64_t(ref.numel) == entry.size / element_size(ref.type) &&
                   entry.size % element_size(ref.type) == 0,
               "cannot read '", name(), "': storage ", ref.key, " has ", entry.size, " bytes, but ",
               ref.numel, " elements of ", ref.type, " are expected");
  const ZipReader::Part part = zip_.part(entry);
  Tensor values =
      read_tensor(*part.bytes, part.begin, part.end, {ref.numel}, ref.type, /*may_map=*/true);
  if (is_big_endian_) swap_bytes(values);
  return storages_[ref.key] = values.to(options);
}

/// Swaps the bytes of a big-endian storage of bytes, whose tensors may have any dtype.
void PtFile::give_dtype(const Tensor& bytes, ScalarType type) {
  if (!is_big_endian_ || bytes.numel() == 0) return;
  const auto [found, is_new] = dtypes_.emplace(bytes.storage().unsafeGetStorageImpl(), type);
  const auto width_of = [](ScalarType dtype) { return int64_t(element_size(to_real(dtype))); };
  const int64_t width = width_of(type);
  HEARTH_CHECK(width_of(found->second) == width, "cannot read '", name(),
               "': a big-endian storage has two dtypes, ", found->second, " and ", type);
  if (is_new && width > 1) bytes.copy_(bytes.view({-1, width}).flip(1).view(-1));
}

}  // namespace hearth::io
