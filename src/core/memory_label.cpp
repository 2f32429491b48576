#include "core/memory_label.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "core/storage_impl.h"
#include "core/tensor_impl.h"
#include "hearth/named_scope.h"

namespace hearth {

namespace {

/// The paths of modules that allocated memory, numbered from 1. Never destroyed, because static
/// objects may own tensors.
struct Paths {
  std::mutex mutex;
  std::unordered_map<std::string, uint16_t> numbers;
  std::deque<std::string> texts{""};  // by number; references stay valid

  uint16_t number_of(const char* path) {
    const std::lock_guard lock(mutex);
    const auto [entry, is_new] = numbers.try_emplace(path, static_cast<uint16_t>(texts.size()));
    if (!is_new) return entry->second;
    if (texts.size() > UINT16_MAX) {
      numbers.erase(entry);
      return 0;
    }
    texts.emplace_back(path);
    return entry->second;
  }
  const std::string& text_of(uint16_t number) {
    const std::lock_guard lock(mutex);
    return texts[number];
  }
};

Paths& paths() {
  static Paths& created = *new Paths;
  return created;
}

/// The path that this thread looked up last: a module often allocates several blocks in a row.
struct LastPath {
  const std::string* text = nullptr;
  uint16_t number = 0;
};
constinit thread_local LastPath last_path;

}  // namespace

namespace detail {

uint16_t innermost_path() {
  const char* const path = NamedScope::innermost_name();
  if (!path || !*path) return 0;
  if (last_path.text && *last_path.text == path) return last_path.number;
  const uint16_t number = paths().number_of(path);
  if (number != 0) last_path = {&paths().text_of(number), number};
  return number;
}

}  // namespace detail

void PathBytes::add(uint16_t path, int64_t bytes) {
  if (path == 0) return;
  if (path >= stats_.size()) stats_.resize(path + 1u);
  bytes > 0 ? stats_[path].increase(bytes) : stats_[path].decrease(-bytes);
}

void PathBytes::reset_peak() {
  for (MemoryStat& stat : stats_) stat.reset_peak();
}

std::vector<ModuleMemory> PathBytes::modules() const {
  std::vector<ModuleMemory> modules;
  for (size_t path = 1; path < stats_.size(); ++path)
    if (stats_[path].peak > 0)
      modules.push_back({paths().text_of(static_cast<uint16_t>(path)), stats_[path]});
  std::ranges::stable_sort(modules, [](const ModuleMemory& a, const ModuleMemory& b) {
    return a.bytes.peak > b.bytes.peak;
  });
  return modules;
}

const char* as_text(MemoryTag tag) {
  constexpr const char* kTexts[kNumMemoryTags] = {"other",           "parameter",  "gradient",
                                                  "optimizer state", "activation", "workspace"};
  const auto number = static_cast<size_t>(tag);
  HEARTH_CHECK(number < kNumMemoryTags, "MemoryTag ", number, " does not exist");
  return kTexts[number];
}

MemoryTagGuard::MemoryTagGuard(MemoryTag tag) : former_(modes.memory_tag) {
  (void)as_text(tag);  // throws if it does not exist
  modes.memory_tag = tag;
}
MemoryTagGuard::~MemoryTagGuard() { modes.memory_tag = former_; }

void set_memory_tag(const Tensor& tensor, MemoryTag tag) {
  (void)as_text(tag);  // throws if it does not exist
  if (tensor.defined() && impl_of(tensor).storage) retag(*impl_of(tensor).storage, tag);
}

MemoryTag memory_tag(const Tensor& tensor) {
  HEARTH_CHECK(tensor.defined(), "memory_tag(): the tensor is undefined");
  const StoragePtr& storage = impl_of(tensor).storage;
  return storage ? storage->label.tag() : MemoryTag::Other;
}

}  // namespace hearth
