#pragma once

#include <cstdint>
#include <memory>
#include <mutex>  // std::chrono::milliseconds: <chrono> itself takes a tenth of a second to compile
#include <string>
#include <utility>
#include <vector>

#include "hearth/error.h"
#include "hearth/export.h"

namespace hearth::distributed {

/// Keys and values that the processes of a job share, to find each other and to agree. Functions
/// have LibTorch's names and, below, those of Python.
class HEARTH_API Store {
 public:
  using Bytes = std::vector<uint8_t>;
  static constexpr std::chrono::milliseconds kDefaultTimeout{300'000};
  static constexpr std::chrono::milliseconds kNoTimeout{0};  ///< waits forever

  Store() = default;
  explicit Store(std::chrono::milliseconds timeout) : timeout_(timeout) {}
  virtual ~Store();

  /// Another object for the same keys.
  virtual std::shared_ptr<Store> clone() = 0;

  virtual void set(const std::string& key, const Bytes& value) = 0;
  void set(const std::string& key, const std::string& value);
  /// The value of a key; waits until it is set, at most getTimeout().
  virtual Bytes get(const std::string& key) = 0;
  std::string get_to_str(const std::string& key);
  /// Adds to the number in `key`, which starts at 0, and returns the sum.
  virtual int64_t add(const std::string& key, int64_t value) = 0;
  /// Sets the key to `desired` if it has the value `expected` (or is missing and `expected` is
  /// empty). Returns the value afterwards, or `expected` if the key is missing.
  virtual Bytes compareSet(const std::string& key, const Bytes& expected, const Bytes& desired) = 0;
  std::string compareSet(const std::string& key, const std::string& expected,
                         const std::string& desired);
  virtual bool deleteKey(const std::string& key) = 0;  ///< returns whether the key existed
  virtual bool check(const std::vector<std::string>& keys) = 0;  ///< whether all keys are set
  virtual int64_t getNumKeys() = 0;
  virtual std::vector<std::string> listKeys() = 0;
  /// The keys that begin with `start`, and their values. A TCP store needs one request.
  virtual std::vector<std::pair<std::string, std::string>> entries(const std::string& start);
  /// Waits until all keys are set; throws DistStoreError after the timeout.
  void wait(const std::vector<std::string>& keys) { wait(keys, timeout_); }
  virtual void wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) = 0;

  virtual void append(const std::string& key, const Bytes& value) = 0;
  virtual std::vector<Bytes> multiGet(const std::vector<std::string>& keys);
  virtual void multiSet(const std::vector<std::string>& keys, const std::vector<Bytes>& values);
  virtual bool hasExtendedApi() const { return true; }  ///< whether append() exists

  /// Appends a value to a queue; a FileStore has no queues. The keys of queues are separate from
  /// those of values.
  virtual void queuePush(const std::string& key, const Bytes& value);
  /// The first value of the queue. If it is empty, waits if `block`, else throws
  /// DistQueueEmptyError.
  virtual Bytes queuePop(const std::string& key, bool block = true);
  virtual int64_t queueLen(const std::string& key);

  /// Waits until `world_size` processes have called it with this key.
  void barrier(const std::string& key, int64_t world_size, std::chrono::milliseconds timeout);
  void barrier(const std::string& key, int64_t world_size) { barrier(key, world_size, timeout_); }

  virtual std::chrono::milliseconds getTimeout() const noexcept { return timeout_; }
  virtual void setTimeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  std::string compare_set(const std::string& key, const std::string& expected,
                          const std::string& desired) {
    return compareSet(key, expected, desired);
  }
  bool delete_key(const std::string& key) { return deleteKey(key); }
  int64_t num_keys() { return getNumKeys(); }
  std::vector<std::string> list_keys() { return listKeys(); }
  std::vector<Bytes> multi_get(const std::vector<std::string>& keys) { return multiGet(keys); }
  void multi_set(const std::vector<std::string>& keys, const std::vector<Bytes>& values) {
    multiSet(keys, values);
  }
  std::chrono::milliseconds timeout() const noexcept { return getTimeout(); }
  void set_timeout(std::chrono::milliseconds timeout) { setTimeout(timeout); }

 protected:
  Store(const Store&) = default;
  Store& operator=(const Store&) = default;

  std::chrono::milliseconds timeout_ = kDefaultTimeout;
};

/// A store for the threads of one process.
class HEARTH_API HashStore : public Store {
 public:
  HashStore();
  ~HashStore() override;
  using Store::compareSet;
  using Store::set;
  using Store::wait;
  std::shared_ptr<Store> clone() override;
  void set(const std::string& key, const Bytes& value) override;
  Bytes get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t value) override;
  Bytes compareSet(const std::string& key, const Bytes& expected, const Bytes& desired) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  int64_t getNumKeys() override;
  std::vector<std::string> listKeys() override;
  void wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) override;
  void append(const std::string& key, const Bytes& value) override;
  void queuePush(const std::string& key, const Bytes& value) override;
  Bytes queuePop(const std::string& key, bool block = true) override;
  int64_t queueLen(const std::string& key) override;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

/// A store in a file that all processes can open and lock. The last of `num_workers` processes to
/// destroy its store deletes the file; with -1, the file stays.
class HEARTH_API FileStore : public Store {
 public:
  explicit FileStore(std::string path, int num_workers = -1);
  ~FileStore() override;
  using Store::compareSet;
  using Store::set;
  using Store::wait;
  std::shared_ptr<Store> clone() override;
  void set(const std::string& key, const Bytes& value) override;
  Bytes get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t value) override;
  Bytes compareSet(const std::string& key, const Bytes& expected, const Bytes& desired) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  int64_t getNumKeys() override;
  std::vector<std::string> listKeys() override;
  void wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) override;
  void append(const std::string& key, const Bytes& value) override;
  const std::string& getPath() const noexcept;
  const std::string& path() const noexcept { return getPath(); }

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

/// A part of another store: its keys begin with `prefix` and a slash.
class HEARTH_API PrefixStore : public Store {
 public:
  PrefixStore(std::string prefix, std::shared_ptr<Store> store);
  using Store::compareSet;
  using Store::set;
  using Store::wait;
  std::shared_ptr<Store> clone() override;
  void set(const std::string& key, const Bytes& value) override;
  Bytes get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t value) override;
  Bytes compareSet(const std::string& key, const Bytes& expected, const Bytes& desired) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  int64_t getNumKeys() override;
  std::vector<std::string> listKeys() override;  ///< the keys of this part, without the prefix
  std::vector<std::pair<std::string, std::string>> entries(const std::string& start) override;
  void wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) override;
  void append(const std::string& key, const Bytes& value) override;
  bool hasExtendedApi() const override { return store_->hasExtendedApi(); }
  void queuePush(const std::string& key, const Bytes& value) override;
  Bytes queuePop(const std::string& key, bool block = true) override;
  int64_t queueLen(const std::string& key) override;
  std::chrono::milliseconds getTimeout() const noexcept override { return store_->getTimeout(); }
  void setTimeout(std::chrono::milliseconds timeout) override { store_->setTimeout(timeout); }
  std::shared_ptr<Store> getUnderlyingStore() const { return store_; }
  /// The store below all prefixes.
  std::shared_ptr<Store> getUnderlyingNonPrefixStore() const;
  std::shared_ptr<Store> underlying_store() const { return store_; }

 private:
  std::string joined(const std::string& key) const { return prefix_ + "/" + key; }
  std::vector<std::string> joined(const std::vector<std::string>& keys) const;

  std::string prefix_;
  std::shared_ptr<Store> store_;
};

}  // namespace hearth::distributed
