// The file begins with kFileMark. Records follow, each written under an exclusive lock: a letter (S
// sets a key, D deletes it), the lengths of key and value as two little-endian 32-bit numbers, the
// key, the value. A process reads the records that are new to it whenever it holds the lock.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>

#include "distributed/bytes_text.h"
#include "distributed/deadline.h"
#include "distributed/key_table.h"
#include "hearth/distributed/store.h"

namespace hearth::distributed {

namespace {

constexpr std::string_view kFileMark = "HEARTHFILESTORE1";
constexpr size_t kRecordHeader = 9;
constexpr char kClosedKey[] = "/closed";
constexpr milliseconds kFilePollInterval{10};

[[noreturn]] void fail_on_file(const std::string& path, const char* action) {
  detail::fail<DistStoreError>("FileStore: cannot ", action, " '", path,
                               "': ", std::strerror(errno));
}

void put_u32(std::string& out, size_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xff);
}

size_t get_u32(const char* data) {
  size_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(data[i]);
  return value;
}

std::string record_of(char kind, const std::string& key, const std::string& value) {
  constexpr size_t kMax = 1u << 30;
  HEARTH_CHECK_AS(DistStoreError, key.size() <= kMax && value.size() <= kMax,
                  "FileStore: the key '", key.substr(0, 100),
                  "' or its value is larger than 1 GiB");
  std::string record(1, kind);
  put_u32(record, key.size());
  put_u32(record, value.size());
  return record + key + value;
}

}  // namespace

struct FileStore::Shared {
  Shared(std::string file_path, int workers) : path(std::move(file_path)), num_workers(workers) {
    descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor < 0) fail_on_file(path, "open");
  }
  ~Shared() {
    try {
      const int64_t closed = locked([&] { return add(kClosedKey, 1); });
      if (closed == num_workers) unlink(path.c_str());
    } catch (const std::exception&) {
      // The other processes may still need the file, so it stays.
    }
    close(descriptor);
  }

  /// Runs f with the file locked and read to its end.
  template <class F>
  auto locked(const F& f) -> decltype(f()) {
    const std::lock_guard guard(mutex);
    while (flock(descriptor, LOCK_EX) != 0)
      if (errno != EINTR) fail_on_file(path, "lock");
    struct Unlock {
      int descriptor;
      ~Unlock() { flock(descriptor, LOCK_UN); }
    } unlock{descriptor};
    read_new_records();
    return f();
  }

  void write(char kind, const std::string& key, const std::string& value) {
    std::string text = position == 0 ? std::string(kFileMark) : "";
    text += record_of(kind, key, value);
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written != static_cast<ssize_t>(text.size())) {
      // A partial record would mislead all readers.
      if (written > 0 && ftruncate(descriptor, static_cast<off_t>(position)) != 0)
        fail_on_file(path, "restore");
      if (written >= 0) errno = ENOSPC;  // only a part was written
      fail_on_file(path, "write to");
    }
    read_new_records();
  }

  void set(const std::string& key, const std::string& value) { write('S', key, value); }

  int64_t add(const std::string& key, int64_t value) {
    const std::string* const former = table.find(key);
    const uint64_t sum = uint64_t(former ? number_in(key, *former) : 0) + uint64_t(value);
    set(key, std::to_string(static_cast<int64_t>(sum)));
    return static_cast<int64_t>(sum);
  }

  void read_new_records() {
    struct stat status {};
    if (fstat(descriptor, &status) != 0) fail_on_file(path, "read");
    const auto size = static_cast<uint64_t>(status.st_size);
    HEARTH_CHECK_AS(DistStoreError, size >= position, "FileStore: '", path,
                    "' became shorter: another program writes to it");
    std::string text(size - position, '\0');
    size_t filled = 0;
    while (filled < text.size()) {
      const ssize_t count = pread(descriptor, text.data() + filled, text.size() - filled,
                                  static_cast<off_t>(position + filled));
      if (count == 0) errno = EIO;  // the file became shorter since fstat
      if (count <= 0) fail_on_file(path, "read");
      filled += static_cast<size_t>(count);
    }
    parse(text);
    position = size;
  }

  void parse(std::string_view text) {
    if (position == 0 && !text.empty()) {
      HEARTH_CHECK_AS(DistStoreError, text.starts_with(kFileMark), "FileStore: '", path,
                      "' is not a store's file; give the path of a new file");
      text.remove_prefix(kFileMark.size());
    }
    while (!text.empty()) {
      const bool has_header = text.size() >= kRecordHeader;
      const size_t key_size = has_header ? get_u32(text.data() + 1) : 0;
      const size_t value_size = has_header ? get_u32(text.data() + 5) : 0;
      HEARTH_CHECK_AS(DistStoreError,
                      has_header && (text[0] == 'S' || text[0] == 'D') &&
                          key_size + value_size <= text.size() - kRecordHeader,
                      "FileStore: '", path, "' is damaged; delete it and start the job again");
      const std::string key(text.substr(kRecordHeader, key_size));
      if (text[0] == 'S')
        table.set(key, std::string(text.substr(kRecordHeader + key_size, value_size)));
      else
        table.erase(key);
      text.remove_prefix(kRecordHeader + key_size + value_size);
    }
  }

  const std::string path;
  const int num_workers;
  int descriptor = -1;
  std::mutex mutex;
  KeyTable table;
  uint64_t position = 0;  // the bytes that were read
};

FileStore::FileStore(std::string path, int num_workers)
    : shared_(std::make_shared<Shared>(std::move(path), num_workers)) {}
FileStore::~FileStore() = default;

const std::string& FileStore::getPath() const noexcept { return shared_->path; }

std::shared_ptr<Store> FileStore::clone() { return std::shared_ptr<Store>(new FileStore(*this)); }

void FileStore::set(const std::string& key, const Bytes& value) {
  shared_->locked([&] { shared_->set(key, to_text(value)); });
}

Store::Bytes FileStore::get(const std::string& key) {
  wait({key}, timeout_);
  return shared_->locked([&] {
    const std::string* const value = shared_->table.find(key);
    return value ? to_bytes(*value) : Bytes();
  });
}

int64_t FileStore::add(const std::string& key, int64_t value) {
  return shared_->locked([&] { return shared_->add(key, value); });
}

Store::Bytes FileStore::compareSet(const std::string& key, const Bytes& expected,
                                   const Bytes& desired) {
  return shared_->locked([&] {
    const std::string* const former = shared_->table.find(key);
    const std::string wanted = to_text(expected);
    if (former ? *former == wanted : wanted.empty())
      shared_->set(key, to_text(desired));
    else if (!former)
      return expected;
    return to_bytes(*shared_->table.find(key));
  });
}

bool FileStore::deleteKey(const std::string& key) {
  return shared_->locked([&] {
    const bool existed = shared_->table.find(key) != nullptr;
    if (existed) shared_->write('D', key, "");
    return existed;
  });
}

bool FileStore::check(const std::vector<std::string>& keys) {
  return shared_->locked([&] { return shared_->table.has_all(keys); });
}

int64_t FileStore::getNumKeys() {
  return shared_->locked([&] { return shared_->table.size(); });
}

std::vector<std::string> FileStore::listKeys() {
  return shared_->locked([&] { return shared_->table.keys(); });
}

void FileStore::wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) {
  const Deadline deadline = Deadline::after(timeout);
  while (!check(keys)) {
    if (deadline.has_passed()) throw_store_timeout(keys, timeout.count());
    std::this_thread::sleep_for(kFilePollInterval);
  }
}

void FileStore::append(const std::string& key, const Bytes& value) {
  shared_->locked([&] {
    const std::string* const former = shared_->table.find(key);
    shared_->set(key, (former ? *former : "") + to_text(value));
  });
}

}  // namespace hearth::distributed
