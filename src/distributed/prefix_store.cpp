#include "hearth/distributed/store.h"

namespace hearth::distributed {

PrefixStore::PrefixStore(std::string prefix, std::shared_ptr<Store> store)
    : prefix_(std::move(prefix)), store_(std::move(store)) {
  HEARTH_CHECK_AS(ValueError, store_, "PrefixStore: the store is null");
}

std::vector<std::string> PrefixStore::joined(const std::vector<std::string>& keys) const {
  std::vector<std::string> result;
  for (const std::string& key : keys) result.push_back(joined(key));
  return result;
}

std::shared_ptr<Store> PrefixStore::clone() {
  return std::make_shared<PrefixStore>(prefix_, store_->clone());
}

std::shared_ptr<Store> PrefixStore::getUnderlyingNonPrefixStore() const {
  std::shared_ptr<Store> store = store_;
  while (const auto* const prefixed = dynamic_cast<const PrefixStore*>(store.get()))
    store = prefixed->store_;
  return store;
}

void PrefixStore::set(const std::string& key, const Bytes& value) {
  store_->set(joined(key), value);
}
Store::Bytes PrefixStore::get(const std::string& key) { return store_->get(joined(key)); }
int64_t PrefixStore::add(const std::string& key, int64_t value) {
  return store_->add(joined(key), value);
}
Store::Bytes PrefixStore::compareSet(const std::string& key, const Bytes& expected,
                                     const Bytes& desired) {
  return store_->compareSet(joined(key), expected, desired);
}
bool PrefixStore::deleteKey(const std::string& key) { return store_->deleteKey(joined(key)); }
bool PrefixStore::check(const std::vector<std::string>& keys) {
  return store_->check(joined(keys));
}
int64_t PrefixStore::getNumKeys() { return store_->getNumKeys(); }
std::vector<std::string> PrefixStore::listKeys() {
  const std::string start = prefix_ + "/";
  std::vector<std::string> keys;
  for (const std::string& key : store_->listKeys())
    if (key.starts_with(start)) keys.push_back(key.substr(start.size()));
  return keys;
}
std::vector<std::pair<std::string, std::string>> PrefixStore::entries(const std::string& start) {
  std::vector<std::pair<std::string, std::string>> found = store_->entries(joined(start));
  for (auto& [key, value] : found) key.erase(0, prefix_.size() + 1);
  return found;
}
void PrefixStore::wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) {
  store_->wait(joined(keys), timeout);
}
void PrefixStore::append(const std::string& key, const Bytes& value) {
  store_->append(joined(key), value);
}
void PrefixStore::queuePush(const std::string& key, const Bytes& value) {
  store_->queuePush(joined(key), value);
}
Store::Bytes PrefixStore::queuePop(const std::string& key, bool block) {
  return store_->queuePop(joined(key), block);
}
int64_t PrefixStore::queueLen(const std::string& key) { return store_->queueLen(joined(key)); }

}  // namespace hearth::distributed
