#pragma once

/// @file
/// Text as int64 ids: tokenizers, datasets and batches. Not part of hearth.h.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/data/datasets.h"
#include "hearth/data/transforms.h"
#include "hearth/data/vocab.h"

namespace hearth::data {

/// Splits texts into tokens. Texts are bytes: invalid UTF-8 is kept as it is.
class HEARTH_API Tokenizer {
 public:
  using Sink = std::function<void(std::string_view token)>;

  virtual ~Tokenizer();
  /// Calls sink with each token, which is valid during the call only.
  virtual void split(std::string_view text, const Sink& sink) const = 0;
  std::vector<std::string> operator()(std::string_view text) const;  ///< a list of the tokens
};

namespace tokenizers {

/// The parts between ASCII characters that are white space in Python.
struct HEARTH_API Whitespace : Tokenizer {
  void split(std::string_view text, const Sink& sink) const override;
};
/// torchtext's "basic_english": ASCII letters in lower case; each of '.,()!? is a token of its own;
/// double quotes, semicolons, colons and <br /> are left out.
struct HEARTH_API BasicEnglish : Tokenizer {
  void split(std::string_view text, const Sink& sink) const override;
};
/// The characters of UTF-8; a byte that begins no valid character is a token of its own.
struct HEARTH_API Characters : Tokenizer {
  void split(std::string_view text, const Sink& sink) const override;
};
/// Each byte. (byte_ids makes ids of bytes without a vocabulary.)
struct HEARTH_API Bytes : Tokenizer {
  void split(std::string_view text, const Sink& sink) const override;
};

}  // namespace tokenizers

HEARTH_API std::string read_text(const std::string& path);  ///< a file's bytes
/// A file's lines without their ends ("\n" or "\r\n").
HEARTH_API std::vector<std::string> read_lines(const std::string& path);

/// A vocabulary of the texts' tokens.
HEARTH_API Vocab build_vocab(ArrayRef<std::string> texts, const Tokenizer& tokenizer,
                             const VocabOptions& options = {});
/// The ids of the texts' tokens, one text after the other, as one int64 tensor. The token
/// `end_of_text`, if given, follows each text.
HEARTH_API Tensor encode(ArrayRef<std::string> texts, const Vocab& vocab,
                         const Tokenizer& tokenizer,
                         const std::optional<std::string>& end_of_text = std::nullopt);
HEARTH_API Tensor byte_ids(std::string_view text);  ///< the bytes, 0 to 255, as int64

/// Cuts a stream of tokens into consecutive parts, the columns of the result: [length / batch_size,
/// batch_size]. The remaining tokens are dropped, as in PyTorch's tutorial of language models.
HEARTH_API Tensor batchify(const Tensor& tokens, int64_t batch_size);
/// The get_batch() of the same tutorial: at most `bptt` rows from row i on, and the flattened rows
/// from row i + 1 on as target.
HEARTH_API Example<> bptt_batch(const Tensor& source, int64_t i, int64_t bptt = 35);

namespace datasets {

/// Windows of a stream of tokens for language models: `length` tokens, and as target the `length`
/// tokens that begin one token later. Windows begin every `stride` tokens (0: every `length`).
class HEARTH_API TextWindows : public Dataset<TextWindows> {
 public:
  TextWindows(const Tensor& tokens, int64_t length, int64_t stride = 0);
  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
  BatchedTensors batched() const { return {inputs_, targets_}; }  ///< batches [batch, length]

 private:
  Tensor inputs_, targets_;  // views [windows, length] of the stream
};

/// Texts with labels, tokenised once: examples are the ids of a text's tokens and its label.
class HEARTH_API LabelledText : public Dataset<LabelledText> {
 public:
  /// `labels`: [texts, ...].
  LabelledText(ArrayRef<std::string> texts, Tensor labels, const Vocab& vocab,
               const Tokenizer& tokenizer);
  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
  const Tensor& tokens() const { return tokens_; }    ///< the ids of all texts
  const Tensor& offsets() const { return offsets_; }  ///< the start of each text, and the end

 private:
  Tensor tokens_, offsets_, labels_;
};

}  // namespace datasets

namespace transforms {

/// Stacks examples whose data have different lengths (their first dimension): data [batch, longest,
/// ...], or [longest, batch, ...] without batch_first.
class HEARTH_API PadSequences : public Collation<Example<>> {
 public:
  explicit PadSequences(double padding_value = 0, bool batch_first = true)
      : padding_value_(padding_value), batch_first_(batch_first) {}
  Example<> apply_batch(std::vector<Example<>> examples) override;

 private:
  double padding_value_;
  bool batch_first_;
};

/// Padded sequences and their lengths, for example for nn::utils::rnn::pack_padded_sequence; or
/// joined sequences and their offsets.
using SequenceBatch = Example<std::pair<Tensor, Tensor>, Tensor>;
/// PadSequences that also returns the lengths, int64 [batch].
class HEARTH_API PadWithLengths : public BatchTransform<std::vector<Example<>>, SequenceBatch> {
 public:
  explicit PadWithLengths(double padding_value = 0, bool batch_first = true)
      : padding_value_(padding_value), batch_first_(batch_first) {}
  SequenceBatch apply_batch(std::vector<Example<>> examples) override;

 private:
  double padding_value_;
  bool batch_first_;
};
/// Concatenates the sequences, with the offset of each, for EmbeddingBag.
struct HEARTH_API JoinWithOffsets : BatchTransform<std::vector<Example<>>, SequenceBatch> {
  SequenceBatch apply_batch(std::vector<Example<>> examples) override;
};

}  // namespace transforms
}  // namespace hearth::data
