#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "c10/util/Exception.h"
#include "c10/util/Type.h"

namespace c10 {

template <class Key>
std::string KeyStrRepr(const Key&) {
  return "[key type printing not supported]";
}
inline std::string KeyStrRepr(const std::string& key) { return key; }

/// Of several creators for one key, the one with the highest priority is used.
enum RegistryPriority { REGISTRY_FALLBACK = 1, REGISTRY_DEFAULT = 2, REGISTRY_PREFERRED = 3 };

/// Creators of objects by key, registered before main() by the macros below.
template <class Key, class ObjectPtr, class... Args>
class Registry {
 public:
  using Creator = std::function<ObjectPtr(Args...)>;

  explicit Registry(bool warning = true) : warning_(warning) {}
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  void Register(const Key& key, Creator creator, RegistryPriority priority = REGISTRY_DEFAULT) {
    const std::lock_guard lock(mutex_);
    const auto [entry, is_new] = entries_.try_emplace(key);
    if (is_new || priority > entry->second.priority)
      entry->second = {std::move(creator), priority};
    else if (priority == entry->second.priority)
      refuse("Key already registered with the same priority: " + KeyStrRepr(key));
    else if (warning_)
      print("Higher priority item already registered, skipping registration of " + KeyStrRepr(key));
  }
  void Register(const Key& key, Creator creator, const std::string& help,
                RegistryPriority priority = REGISTRY_DEFAULT) {
    Register(key, std::move(creator), priority);
    help_[key] = help;
  }
  bool Has(const Key& key) { return entries_.count(key) != 0; }
  /// A new object, or null if the key is unknown.
  ObjectPtr Create(const Key& key, Args... args) {
    const auto found = entries_.find(key);
    return found == entries_.end() ? ObjectPtr() : found->second.creator(args...);
  }
  std::vector<Key> Keys() const {
    std::vector<Key> keys;
    for (const auto& [key, entry] : entries_) keys.push_back(key);
    return keys;
  }
  const std::unordered_map<Key, std::string>& HelpMessage() const { return help_; }
  /// The class of a registered key, or null.
  const char* HelpMessage(const Key& key) const {
    const auto found = help_.find(key);
    return found == help_.end() ? nullptr : found->second.c_str();
  }
  /// Whether registering a key twice ends the program (default) or throws.
  void SetTerminate(bool terminate) { terminate_ = terminate; }

 private:
  struct Entry {
    Creator creator;
    RegistryPriority priority = REGISTRY_DEFAULT;
  };
  static void print(const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }
  void refuse(const std::string& text) {
    print(text);
    if (terminate_) std::exit(1);
    TORCH_CHECK(false, text);
  }

  std::unordered_map<Key, Entry> entries_;
  std::unordered_map<Key, std::string> help_;
  bool terminate_ = true;
  const bool warning_;
  std::mutex mutex_;
};

/// Registers a creator by its constructor.
template <class Key, class ObjectPtr, class... Args>
class Registerer {
 public:
  using For = Registry<Key, ObjectPtr, Args...>;
  explicit Registerer(const Key& key, For* registry, typename For::Creator creator,
                      const std::string& help = "") {
    registry->Register(key, std::move(creator), help);
  }
  explicit Registerer(const Key& key, RegistryPriority priority, For* registry,
                      typename For::Creator creator, const std::string& help = "") {
    registry->Register(key, std::move(creator), help, priority);
  }
  template <class Derived>
  static ObjectPtr DefaultCreator(Args... args) {
    return ObjectPtr(new Derived(args...));
  }
};

}  // namespace c10

#define HEARTH_REGISTRY_TYPE(Key, Object, Ptr, ...) \
  ::c10::Registry<Key, Ptr<Object> __VA_OPT__(, ) __VA_ARGS__>
#define C10_DECLARE_TYPED_REGISTRY(Name, Key, Object, Ptr, ...) \
  HEARTH_REGISTRY_TYPE(Key, Object, Ptr, __VA_ARGS__) * Name(); \
  typedef ::c10::Registerer<Key, Ptr<Object> __VA_OPT__(, ) __VA_ARGS__> Registerer##Name
#define HEARTH_DEFINE_REGISTRY(Name, warning, Key, Object, Ptr, ...)                          \
  HEARTH_REGISTRY_TYPE(Key, Object, Ptr, __VA_ARGS__) * Name() {                              \
    static auto* registry = new HEARTH_REGISTRY_TYPE(Key, Object, Ptr, __VA_ARGS__)(warning); \
    return registry;                                                                          \
  }
#define C10_DEFINE_TYPED_REGISTRY(Name, ...) HEARTH_DEFINE_REGISTRY(Name, true, __VA_ARGS__)
#define C10_DEFINE_TYPED_REGISTRY_WITHOUT_WARNING(Name, ...) \
  HEARTH_DEFINE_REGISTRY(Name, false, __VA_ARGS__)
#define C10_DECLARE_REGISTRY(Name, Object, ...) \
  C10_DECLARE_TYPED_REGISTRY(Name, std::string, Object, std::unique_ptr __VA_OPT__(, ) __VA_ARGS__)
#define C10_DEFINE_REGISTRY(Name, Object, ...) \
  C10_DEFINE_TYPED_REGISTRY(Name, std::string, Object, std::unique_ptr __VA_OPT__(, ) __VA_ARGS__)
#define C10_DEFINE_REGISTRY_WITHOUT_WARNING(Name, Object, ...)         \
  C10_DEFINE_TYPED_REGISTRY_WITHOUT_WARNING(Name, std::string, Object, \
                                            std::unique_ptr __VA_OPT__(, ) __VA_ARGS__)
#define C10_DECLARE_SHARED_REGISTRY(Name, Object, ...) \
  C10_DECLARE_TYPED_REGISTRY(Name, std::string, Object, std::shared_ptr __VA_OPT__(, ) __VA_ARGS__)
#define C10_DEFINE_SHARED_REGISTRY(Name, Object, ...) \
  C10_DEFINE_TYPED_REGISTRY(Name, std::string, Object, std::shared_ptr __VA_OPT__(, ) __VA_ARGS__)
#define C10_DEFINE_SHARED_REGISTRY_WITHOUT_WARNING(Name, Object, ...)  \
  C10_DEFINE_TYPED_REGISTRY_WITHOUT_WARNING(Name, std::string, Object, \
                                            std::shared_ptr __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_DECLARE_TYPED_REGISTRY C10_DECLARE_TYPED_REGISTRY
#define TORCH_DECLARE_REGISTRY C10_DECLARE_REGISTRY
#define TORCH_DECLARE_SHARED_REGISTRY C10_DECLARE_SHARED_REGISTRY

#define HEARTH_REGISTRATION(Name) static Registerer##Name C10_CONCATENATE(g_##Name, __COUNTER__)
#define C10_REGISTER_TYPED_CREATOR(Name, key, ...) \
  HEARTH_REGISTRATION(Name)(key, Name(), __VA_ARGS__);
#define C10_REGISTER_TYPED_CREATOR_WITH_PRIORITY(Name, key, priority, ...) \
  HEARTH_REGISTRATION(Name)(key, priority, Name(), __VA_ARGS__);
#define C10_REGISTER_TYPED_CLASS(Name, key, ...) \
  HEARTH_REGISTRATION(Name)                      \
  (key, Name(), Registerer##Name::DefaultCreator<__VA_ARGS__>, ::c10::demangle_type<__VA_ARGS__>());
#define C10_REGISTER_TYPED_CLASS_WITH_PRIORITY(Name, key, priority, ...) \
  HEARTH_REGISTRATION(Name)                                              \
  (key, priority, Name(), Registerer##Name::DefaultCreator<__VA_ARGS__>, \
   ::c10::demangle_type<__VA_ARGS__>());
#define C10_REGISTER_CREATOR(Name, key, ...) C10_REGISTER_TYPED_CREATOR(Name, #key, __VA_ARGS__)
#define C10_REGISTER_CREATOR_WITH_PRIORITY(Name, key, priority, ...) \
  C10_REGISTER_TYPED_CREATOR_WITH_PRIORITY(Name, #key, priority, __VA_ARGS__)
#define C10_REGISTER_CLASS(Name, key, ...) C10_REGISTER_TYPED_CLASS(Name, #key, __VA_ARGS__)
#define C10_REGISTER_CLASS_WITH_PRIORITY(Name, key, priority, ...) \
  C10_REGISTER_TYPED_CLASS_WITH_PRIORITY(Name, #key, priority, __VA_ARGS__)
