#include "io/bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <istream>

namespace hearth::io {

namespace {

/// Smaller parts are cheaper to copy than to map.
constexpr uint64_t kMinBytesToMap = 64 << 10;
constexpr size_t kReadBytesAtOnce = 1 << 20;
constexpr std::string_view kOldPickleMagic = "\x80\x02\x8a\x0a";

class MappedFile final : public Bytes {
 public:
  explicit MappedFile(const std::string& path) : Bytes(path) {
    // O_NONBLOCK: open() does not wait for the writer of a pipe, which map() then refuses.
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file_ < 0) fail(errno);
    try {
      map();
    } catch (...) {
      ::close(file_);
      throw;
    }
  }
  ~MappedFile() override {
    if (size_ > 0) ::munmap(const_cast<std::byte*>(data_), size_);
    ::close(file_);
  }

  std::shared_ptr<std::byte> writable(uint64_t begin, uint64_t end) const override {
    if (end - begin < kMinBytesToMap) return nullptr;
    const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    const uint64_t start = begin / page * page;
    const size_t length = end - start;
    void* memory = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                          file_, static_cast<off_t>(start));
    if (memory == MAP_FAILED) return nullptr;
    const std::shared_ptr<void> mapping(memory, [length](void* data) { ::munmap(data, length); });
    return {mapping, static_cast<std::byte*>(memory) + (begin - start)};
  }

 private:
  [[noreturn]] void fail(int reason) const {
    detail::fail<Error>("cannot read '", name_, "': ", std::strerror(reason));
  }

  void map() {
    struct stat status;
    if (::fstat(file_, &status) != 0) fail(errno);
    if (S_ISDIR(status.st_mode)) fail(EISDIR);
    HEARTH_CHECK(S_ISREG(status.st_mode), "cannot read '", name_, "': it is not a regular file");
    if (status.st_size == 0) return;
    const auto size = static_cast<size_t>(status.st_size);
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file_, 0);
    if (memory == MAP_FAILED) fail(errno);
    data_ = static_cast<const std::byte*>(memory);
    size_ = size;
  }

  int file_;
};

class Buffer final : public Bytes {
 public:
  Buffer(std::string name, std::vector<std::byte> content)
      : Bytes(std::move(name)), content_(std::move(content)) {
    data_ = content_.data();
    size_ = content_.size();
  }

 private:
  std::vector<std::byte> content_;
};

}  // namespace

Bytes::~Bytes() = default;
std::shared_ptr<std::byte> Bytes::writable(uint64_t, uint64_t) const { return nullptr; }

BytesPtr map_file(const std::string& path) { return std::make_shared<MappedFile>(path); }

BytesPtr own_bytes(std::string name, std::vector<std::byte> content) {
  return std::make_shared<Buffer>(std::move(name), std::move(content));
}
BytesPtr copy_bytes(std::string name, const void* data, size_t bytes) {
  const auto* first = static_cast<const std::byte*>(data);
  return own_bytes(std::move(name), std::vector<std::byte>(first, first + bytes));
}

BytesPtr read_stream(std::istream& stream) {
  std::vector<std::byte> content;
  size_t size = 0;
  while (stream) {
    content.resize(size + kReadBytesAtOnce);
    stream.read(reinterpret_cast<char*>(content.data() + size), kReadBytesAtOnce);
    size += static_cast<size_t>(stream.gcount());
  }
  HEARTH_CHECK(!stream.bad(), "cannot read the stream: it failed after ", size, " bytes");
  content.resize(size);
  return own_bytes("the stream", std::move(content));
}

void refuse_old_pickle(const Bytes& bytes) {
  if (bytes.size() >= kOldPickleMagic.size() &&
      bytes.text(0, kOldPickleMagic.size()) == kOldPickleMagic)
    bad_bytes(bytes.name(), 0,
              "this is a file of torch.save's format before PyTorch 1.6; in Python, "
              "torch.save(torch.load(path), path) converts it");
}

}  // namespace hearth::io
