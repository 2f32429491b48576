#include "hearth/io/key_hint.h"

#include <algorithm>

#include "hearth/error.h"

namespace hearth::io {

namespace {

constexpr size_t kMostListed = 4;

/// Whether `path` is `key` below one or more names.
bool ends_with_key(const std::string& path, const std::string& key) {
  return path.size() > key.size() + 1 && path.ends_with(key) &&
         path[path.size() - key.size() - 1] == '.';
}

/// How many letters must be inserted, removed or replaced.
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

/// The nearest key, if it is near enough to be meant.
const std::string* nearest(const std::string& missing, const std::vector<std::string>& there) {
  const std::string* best = nullptr;
  size_t least = missing.size() / 3 + 1;
  for (const std::string& key : there)
    if (const size_t far = distance(missing, key); far < least) {
      least = far;
      best = &key;
    }
  return best;
}

}  // namespace

std::string key_hint(const std::string& missing, const std::vector<std::string>& there,
                     bool list_others) {
  using detail::str;
  for (const std::string& key : there) {
    if (ends_with_key(key, missing))
      return str("; there is '", key, "': remove the prefix '",
                 key.substr(0, key.size() - missing.size()), "'");
    if (ends_with_key(missing, key))
      return str("; there is '", key, "': add the prefix '",
                 missing.substr(0, missing.size() - key.size()), "'");
  }
  if (const std::string* near = nearest(missing, there))
    return str("; did you mean '", *near, "'?");
  if (there.empty() || !list_others) return "";
  std::string text = "; there are ";
  for (size_t i = 0; i < std::min(there.size(), kMostListed); ++i)
    text += str(i == 0 ? "'" : ", '", there[i], "'");
  return there.size() > kMostListed ? str(text, ", … (", there.size(), " in all)") : text;
}

}  // namespace hearth::io
