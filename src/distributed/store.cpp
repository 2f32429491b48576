#include "hearth/distributed/store.h"

#include "distributed/bytes_text.h"

namespace hearth::distributed {

Store::~Store() = default;

void Store::set(const std::string& key, const std::string& value) { set(key, to_bytes(value)); }

std::string Store::get_to_str(const std::string& key) { return to_text(get(key)); }

std::string Store::compareSet(const std::string& key, const std::string& expected,
                              const std::string& desired) {
  return to_text(compareSet(key, to_bytes(expected), to_bytes(desired)));
}

std::vector<std::pair<std::string, std::string>> Store::entries(const std::string& start) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::string& key : listKeys())
    if (key.starts_with(start) && check({key})) found.emplace_back(key, get_to_str(key));
  return found;
}

std::vector<Store::Bytes> Store::multiGet(const std::vector<std::string>& keys) {
  std::vector<Bytes> values;
  for (const std::string& key : keys) values.push_back(get(key));
  return values;
}

void Store::multiSet(const std::vector<std::string>& keys, const std::vector<Bytes>& values) {
  HEARTH_CHECK_AS(ValueError, keys.size() == values.size(), "multi_set: ", keys.size(),
                  " keys, but ", values.size(), " values");
  for (size_t i = 0; i < keys.size(); ++i) set(keys[i], values[i]);
}

void Store::queuePush(const std::string&, const Bytes&) {
  detail::fail<NotImplementedError>("queue support is not implemented.");
}
Store::Bytes Store::queuePop(const std::string&, bool) {
  detail::fail<NotImplementedError>("queue support is not implemented.");
}
int64_t Store::queueLen(const std::string&) {
  detail::fail<NotImplementedError>("queue support is not implemented.");
}

void Store::barrier(const std::string& key, int64_t world_size, std::chrono::milliseconds timeout) {
  const std::string complete = key + "/complete";
  if (add(key, 1) == world_size) set(complete, std::string("1"));
  wait({complete}, timeout);
}

}  // namespace hearth::distributed
