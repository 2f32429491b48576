#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/arg.h"
#include "hearth/io/archive.h"
#include "hearth/owned_ptr.h"
#include "hearth/shape.h"
#include "hearth/tensor.h"

namespace hearth::data {

/// A list of distinct tokens, each with its index, as in torchtext. Tokens are any bytes. Copies
/// share the list.
class HEARTH_API Vocab {
 public:
  Vocab();
  explicit Vocab(std::vector<std::string> tokens);

  size_t size() const;
  bool contains(std::string_view token) const { return find(token).has_value(); }
  std::optional<int64_t> find(std::string_view token) const;  ///< the token's index, if any
  /// The token's index, or the default index.
  int64_t operator[](std::string_view token) const;
  const std::string& lookup_token(int64_t index) const;
  const std::vector<std::string>& get_itos() const;  ///< all tokens

  Tensor lookup_indices(ArrayRef<std::string> tokens) const;        ///< int64 [tokens]
  std::vector<std::string> lookup_tokens(const Tensor& ids) const;  ///< ids to tokens

  /// Sets the index of all tokens that are not in the list; without a default index, they are
  /// errors.
  void set_default_index(std::optional<int64_t> index);
  std::optional<int64_t> get_default_index() const { return default_index_; }

  /// A text file with a token in each line, such as BERT's vocab.txt.
  static Vocab from_file(const std::string& path);
  void to_file(const std::string& path) const;  ///< refuses tokens that contain a line end

  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 private:
  struct State;
  std::shared_ptr<const State> state_;
  std::optional<int64_t> default_index_;
};

/// Selection and order of the tokens of a vocabulary.
struct VocabOptions {
  HEARTH_ARG(int64_t, min_freq) = 1;                ///< rarer tokens are left out
  HEARTH_ARG(std::optional<size_t>, max_tokens);    ///< including the special tokens
  HEARTH_ARG(std::vector<std::string>, specials);   ///< special tokens, which are always included
  HEARTH_ARG(bool, special_first) = true;           ///< whether special tokens come first, not last
  HEARTH_ARG(std::optional<std::string>, unknown);  ///< the special token with the default index
};

/// Counts tokens for a vocabulary.
class HEARTH_API TokenCounter {
 public:
  TokenCounter();
  ~TokenCounter();
  TokenCounter(TokenCounter&&) noexcept = default;
  TokenCounter& operator=(TokenCounter&&) noexcept = default;

  void add(std::string_view token);
  int64_t count(std::string_view token) const;
  /// The counted tokens from the most to the least frequent, equally frequent ones in the order of
  /// their bytes, as torchtext's build_vocab_from_iterator.
  Vocab vocab(const VocabOptions& options = {}) const;

 private:
  struct State;
  hearth::detail::OwnedPtr<State> state_;
};

/// A vocabulary of the tokens in lists of tokens.
template <class Lists>
Vocab build_vocab_from_iterator(const Lists& lists, const VocabOptions& options = {}) {
  TokenCounter counter;
  for (const auto& tokens : lists)
    for (const auto& token : tokens) counter.add(token);
  return counter.vocab(options);
}

}  // namespace hearth::data
