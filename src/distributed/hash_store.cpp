#include <condition_variable>
#include <mutex>

#include "distributed/bytes_text.h"
#include "distributed/deadline.h"
#include "distributed/key_table.h"
#include "hearth/distributed/store.h"

namespace hearth::distributed {

struct HashStore::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  KeyTable table;

  /// Runs f on the table and wakes the waiting threads.
  template <class F>
  auto change(const F& f) {
    const std::lock_guard lock(mutex);
    changed.notify_all();
    return f(table);
  }
  template <class F>
  auto read(const F& f) {
    const std::lock_guard lock(mutex);
    return f(table);
  }
  /// Waits until the predicate holds for the table; `keys` are for the error.
  template <class Predicate>
  void wait(const std::vector<std::string>& keys, milliseconds timeout, const Predicate& holds) {
    std::unique_lock lock(mutex);
    const Deadline deadline = Deadline::after(timeout);
    while (!holds(table)) {
      if (deadline.has_passed()) throw_store_timeout(keys, timeout.count());
      if (deadline.is_never())
        changed.wait(lock);
      else
        changed.wait_until(lock, deadline.time());
    }
  }
};

HashStore::HashStore() : shared_(std::make_shared<Shared>()) {}
HashStore::~HashStore() = default;

std::shared_ptr<Store> HashStore::clone() {
  auto copy = std::make_shared<HashStore>();
  copy->shared_ = shared_;
  copy->timeout_ = timeout_;
  return copy;
}

void HashStore::set(const std::string& key, const Bytes& value) {
  shared_->change([&](KeyTable& table) { table.set(key, to_text(value)); });
}

Store::Bytes HashStore::get(const std::string& key) {
  Bytes result;
  shared_->wait({key}, timeout_, [&](KeyTable& table) {
    const std::string* const value = table.find(key);
    if (value) result = to_bytes(*value);
    return value != nullptr;
  });
  return result;
}

int64_t HashStore::add(const std::string& key, int64_t value) {
  return shared_->change([&](KeyTable& table) { return table.add(key, value); });
}

Store::Bytes HashStore::compareSet(const std::string& key, const Bytes& expected,
                                   const Bytes& desired) {
  return shared_->change([&](KeyTable& table) {
    return to_bytes(table.compare_set(key, to_text(expected), to_text(desired)));
  });
}

bool HashStore::deleteKey(const std::string& key) {
  return shared_->change([&](KeyTable& table) { return table.erase(key); });
}

bool HashStore::check(const std::vector<std::string>& keys) {
  return shared_->read([&](KeyTable& table) { return table.has_all(keys); });
}

int64_t HashStore::getNumKeys() {
  return shared_->read([](KeyTable& table) { return table.size(); });
}

std::vector<std::string> HashStore::listKeys() {
  return shared_->read([](KeyTable& table) { return table.keys(); });
}

void HashStore::wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) {
  shared_->wait(keys, timeout, [&](KeyTable& table) { return table.has_all(keys); });
}

void HashStore::append(const std::string& key, const Bytes& value) {
  shared_->change([&](KeyTable& table) { table.append(key, to_text(value)); });
}

void HashStore::queuePush(const std::string& key, const Bytes& value) {
  shared_->change([&](KeyTable& table) { table.push(key, to_text(value)); });
}

Store::Bytes HashStore::queuePop(const std::string& key, bool block) {
  std::string value;
  const auto pop = [&](KeyTable& table) { return table.pop(key, value); };
  if (block)
    shared_->wait({key}, timeout_, pop);
  else if (!shared_->read(pop))
    detail::fail<DistQueueEmptyError>("queue is empty: ", key);
  return to_bytes(value);
}

int64_t HashStore::queueLen(const std::string& key) {
  return shared_->read([&](KeyTable& table) { return table.queue_length(key); });
}

}  // namespace hearth::distributed
