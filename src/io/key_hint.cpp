#include "hearth/io/key_hint.h"

#include <algorithm>

#include "hearth/error.h"

namespace hearth::io {

namespace {

constexpr size_t kMaxListed = 4;

/// Whether `path` is `key` with a prefix "a.b.".
bool ends_with_key(const std::string& path, const std::string& key) {
  return path.size() > key.size() + 1 && path.ends_with(key) &&
         path[path.size() - key.size() - 1] == '.';
}

/// The edit distance: the fewest insertions, deletions and replacements of characters.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

/// The nearest key, or null if none is similar.
const std::string* nearest(const std::string& missing, const std::vector<std::string>& existing) {
  const std::string* best = nullptr;
  size_t smallest_distance = missing.size() / 3 + 1;
  for (const std::string& key : existing)
    if (const size_t key_distance = distance(missing, key); key_distance < smallest_distance) {
      smallest_distance = key_distance;
      best = &key;
    }
  return best;
}

}  // namespace

std::string key_hint(const std::string& missing, const std::vector<std::string>& existing,
                     bool list_others) {
  using detail::str;
  for (const std::string& key : existing) {
    if (ends_with_key(key, missing))
      return str("; found '", key, "': remove the prefix '",
                 key.substr(0, key.size() - missing.size()), "'");
    if (ends_with_key(missing, key))
      return str("; found '", key, "': add the prefix '",
                 missing.substr(0, missing.size() - key.size()), "'");
  }
  if (const std::string* near = nearest(missing, existing))
    return str("; did you mean '", *near, "'?");
  if (existing.empty() || !list_others) return "";
  std::string text = "; found ";
  for (size_t i = 0; i < std::min(existing.size(), kMaxListed); ++i)
    text += str(i == 0 ? "'" : ", '", existing[i], "'");
  return existing.size() > kMaxListed ? str(text, ", … (", existing.size(), " in all)") : text;
}

}  // namespace hearth::io
