#include "distributed/key_table.h"

#include <algorithm>
#include <charconv>

#include "hearth/error.h"

namespace hearth::distributed {

int64_t number_in(const std::string& key, const std::string& value) {
  int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto result = std::from_chars(value.data(), end, number);
  HEARTH_CHECK_AS(DistStoreError, result.ec == std::errc() && result.ptr == end,
                  "add: the value of the key '", key, "' is not a number");
  return number;
}

void throw_store_timeout(const std::vector<std::string>& keys, int64_t timeout_ms) {
  constexpr size_t kShown = 4;
  std::string names;
  for (size_t i = 0; i < std::min(keys.size(), kShown); ++i)
    names += detail::str(i ? ", " : "", keys[i]);
  if (keys.size() > kShown) names += detail::str(" and ", keys.size() - kShown, " more");
  detail::fail<DistStoreError>("wait timeout after ", timeout_ms, "ms, keys: ", names);
}

const std::string* KeyTable::find(const std::string& key) const {
  const auto entry = values_.find(key);
  return entry == values_.end() ? nullptr : &entry->second;
}

bool KeyTable::has_all(const std::vector<std::string>& keys) const {
  return std::all_of(keys.begin(), keys.end(),
                     [&](const std::string& key) { return values_.contains(key); });
}

int64_t KeyTable::add(const std::string& key, int64_t value) {
  const std::string* const former = find(key);
  // Unsigned, so that a sum out of range wraps around.
  const uint64_t sum = uint64_t(former ? number_in(key, *former) : 0) + uint64_t(value);
  values_[key] = std::to_string(static_cast<int64_t>(sum));
  return static_cast<int64_t>(sum);
}

std::string KeyTable::compare_set(const std::string& key, const std::string& expected,
                                  const std::string& desired) {
  const auto entry = values_.find(key);
  if (entry == values_.end()) {
    if (!expected.empty()) return expected;
    values_[key] = desired;
    return desired;
  }
  if (entry->second == expected) entry->second = desired;
  return entry->second;
}

bool KeyTable::erase(const std::string& key) { return values_.erase(key) + queues_.erase(key) > 0; }

std::vector<std::string> KeyTable::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<std::string> KeyTable::entries(const std::string& start) const {
  std::vector<std::string> entries;
  for (const auto& [key, value] : values_)
    if (key.starts_with(start)) entries.insert(entries.end(), {key, value});
  return entries;
}

void KeyTable::push(const std::string& key, std::string value) {
  queues_[key].push_back(std::move(value));
}

bool KeyTable::pop(const std::string& key, std::string& value) {
  const auto queue = queues_.find(key);
  if (queue == queues_.end()) return false;
  value = std::move(queue->second.front());
  queue->second.pop_front();
  if (queue->second.empty()) queues_.erase(queue);
  return true;
}

int64_t KeyTable::queue_length(const std::string& key) const {
  const auto queue = queues_.find(key);
  return queue == queues_.end() ? 0 : static_cast<int64_t>(queue->second.size());
}

}  // namespace hearth::distributed
