#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearth::distributed {

/// The content of a store, without locks: values and queues by key.
class KeyTable {
 public:
  void set(const std::string& key, std::string value) { values_[key] = std::move(value); }
  /// The value of a key, or null.
  const std::string* find(const std::string& key) const;
  bool has_all(const std::vector<std::string>& keys) const;
  int64_t add(const std::string& key, int64_t value);
  std::string compare_set(const std::string& key, const std::string& expected,
                          const std::string& desired);
  void append(const std::string& key, const std::string& value) { values_[key] += value; }
  bool erase(const std::string& key);
  int64_t size() const { return static_cast<int64_t>(values_.size()); }
  std::vector<std::string> keys() const;
  /// The keys that begin with `start`, each followed by its value.
  std::vector<std::string> entries(const std::string& start) const;

  void push(const std::string& key, std::string value);
  /// Removes the first value of the queue; returns whether there was one.
  bool pop(const std::string& key, std::string& value);
  int64_t queue_length(const std::string& key) const;

 private:
  std::unordered_map<std::string, std::string> values_;
  std::unordered_map<std::string, std::deque<std::string>> queues_;
};

/// The number in the value of a store's key; throws if it is not a number.
int64_t number_in(const std::string& key, const std::string& value);
/// Throws the error of a wait that took too long.
[[noreturn]] void throw_store_timeout(const std::vector<std::string>& keys, int64_t timeout_ms);

}  // namespace hearth::distributed
