#include "hearth/data/vocab.h"

#include <algorithm>
#include <unordered_map>

#include "data/string_hash.h"
#include "hearth/data/text.h"
#include "hearth/io/file.h"
#include "hearth/operators.h"

namespace hearth::data {

struct Vocab::State {
  explicit State(std::vector<std::string> list) : tokens(std::move(list)) {
    index.reserve(tokens.size());
    for (size_t i = 0; i < tokens.size(); ++i)
      HEARTH_CHECK(index.emplace(tokens[i], int64_t(i)).second,
                   "Duplicate token found in tokens list: ", tokens[i]);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const std::vector<std::string> tokens;
  std::unordered_map<std::string_view, int64_t> index;
};

Vocab::Vocab() : Vocab(std::vector<std::string>()) {}
Vocab::Vocab(std::vector<std::string> tokens)
    : state_(std::make_shared<State>(std::move(tokens))) {}

size_t Vocab::size() const { return state_->tokens.size(); }
const std::vector<std::string>& Vocab::get_itos() const { return state_->tokens; }

std::optional<int64_t> Vocab::find(std::string_view token) const {
  const auto found = state_->index.find(token);
  return found == state_->index.end() ? std::nullopt : std::optional(found->second);
}
int64_t Vocab::operator[](std::string_view token) const {
  const std::optional<int64_t> found = find(token);
  HEARTH_CHECK(found || default_index_, "Token ", token, " not found and default index is not set");
  return found ? *found : *default_index_;
}
const std::string& Vocab::lookup_token(int64_t index) const {
  HEARTH_CHECK(index >= 0 && index < int64_t(size()), "Specified index ", index,
               " is out of bounds for vocab of size ", size());
  return state_->tokens[size_t(index)];
}

Tensor Vocab::lookup_indices(ArrayRef<std::string> tokens) const {
  Tensor ids = empty({int64_t(tokens.size())}, kLong);
  std::transform(tokens.begin(), tokens.end(), ids.data_ptr<int64_t>(),
                 [&](const std::string& token) { return (*this)[token]; });
  return ids;
}
std::vector<std::string> Vocab::lookup_tokens(const Tensor& ids) const {
  HEARTH_CHECK_AS(TypeError, ids.scalar_type() == kLong, "expected ids of dtype ", kLong,
                  ", but got ", ids.scalar_type());
  const Tensor dense = ids.cpu().contiguous();
  const auto* values = dense.const_data_ptr<int64_t>();
  std::vector<std::string> tokens;
  for (int64_t i = 0; i < dense.numel(); ++i) tokens.push_back(lookup_token(values[i]));
  return tokens;
}

void Vocab::set_default_index(std::optional<int64_t> index) {
  if (index) (void)lookup_token(*index);
  default_index_ = index;
}

Vocab Vocab::from_file(const std::string& path) { return Vocab(read_lines(path)); }
void Vocab::to_file(const std::string& path) const {
  std::string text;
  for (const std::string& token : state_->tokens) {
    HEARTH_CHECK(token.find('\n') == std::string::npos && !token.ends_with('\r'), "cannot write '",
                 path, "': a token contains the end of a line; save() can write it");
    text += token;
    text += '\n';
  }
  io::write_file(path, text);
}

// Tokens may be any bytes, so they are saved as a tensor.
void Vocab::save(serialize::OutputArchive& archive) const {
  const int64_t num_tokens = int64_t(size());
  std::string bytes;
  Tensor lengths = empty({num_tokens}, kLong);
  for (int64_t i = 0; i < num_tokens; ++i) {
    bytes += state_->tokens[size_t(i)];
    lengths.data_ptr<int64_t>()[i] = int64_t(state_->tokens[size_t(i)].size());
  }
  Tensor all_bytes = empty({int64_t(bytes.size())}, kByte);
  std::copy(bytes.begin(), bytes.end(), all_bytes.data_ptr<uint8_t>());
  archive.write("bytes", all_bytes);
  archive.write("lengths", lengths);
  if (default_index_) archive.write("default_index", IValue(*default_index_));
}

void Vocab::load(serialize::InputArchive& archive) {
  Tensor bytes, lengths;
  archive.read("bytes", bytes);
  archive.read("lengths", lengths);
  HEARTH_CHECK(bytes.scalar_type() == kByte && lengths.scalar_type() == kLong,
               "a vocabulary has bytes and int64 lengths, but got ", bytes.scalar_type(), " and ",
               lengths.scalar_type());
  bytes = bytes.cpu().contiguous();
  lengths = lengths.cpu().contiguous();
  const auto* next = reinterpret_cast<const char*>(bytes.const_data_ptr<uint8_t>());
  int64_t num_remaining = bytes.numel();
  std::vector<std::string> tokens;
  for (int64_t i = 0; i < lengths.numel(); ++i) {
    const int64_t length = lengths.const_data_ptr<int64_t>()[i];
    HEARTH_CHECK(length >= 0 && length <= num_remaining, "the vocabulary's token ", i, " has ",
                 length, " bytes, but ", num_remaining, " are left");
    tokens.emplace_back(next, size_t(length));
    next += length;
    num_remaining -= length;
  }
  HEARTH_CHECK(num_remaining == 0, "the vocabulary has ", num_remaining,
               " bytes after its last token");
  Vocab loaded(std::move(tokens));
  if (int64_t index = 0; archive.try_read("default_index", index)) loaded.set_default_index(index);
  *this = std::move(loaded);
}

struct TokenCounter::State {
  StringMap<int64_t> counts;
};

TokenCounter::TokenCounter() : state_(new State) {}
TokenCounter::~TokenCounter() = default;

void TokenCounter::add(std::string_view token) {
  const auto found = state_->counts.find(token);
  if (found != state_->counts.end())
    ++found->second;
  else
    state_->counts.emplace(token, 1);
}
int64_t TokenCounter::count(std::string_view token) const {
  const auto found = state_->counts.find(token);
  return found == state_->counts.end() ? 0 : found->second;
}

Vocab TokenCounter::vocab(const VocabOptions& options) const {
  std::vector<std::string> specials;
  const auto is_special = [&](const std::string& token) {
    return std::find(specials.begin(), specials.end(), token) != specials.end();
  };
  for (const std::string& each : options.specials())
    if (!is_special(each)) specials.push_back(each);
  if (options.unknown() && !is_special(*options.unknown()))
    specials.insert(specials.begin(), *options.unknown());

  using Counted = std::pair<std::string, int64_t>;
  std::vector<Counted> sorted(state_->counts.begin(), state_->counts.end());
  std::sort(sorted.begin(), sorted.end(), [](const Counted& a, const Counted& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (const std::optional<size_t> max_tokens = options.max_tokens()) {
    HEARTH_CHECK(specials.size() < *max_tokens,
                 "len(specials) >= max_tokens, so the vocab will be entirely special tokens.");
    sorted.resize(std::min(sorted.size(), *max_tokens - specials.size()));
  }
  std::vector<std::string> tokens;
  if (options.special_first()) tokens = specials;
  for (auto& [token, count] : sorted)
    if (count >= options.min_freq() && !is_special(token)) tokens.push_back(std::move(token));
  if (!options.special_first()) tokens.insert(tokens.end(), specials.begin(), specials.end());
  Vocab vocab(std::move(tokens));
  if (options.unknown()) vocab.set_default_index(vocab[*options.unknown()]);
  return vocab;
}

}  // namespace hearth::data
