#include "hearth/data/text.h"

#include <algorithm>

#include "hearth/operators.h"
#include "io/bytes.h"

namespace hearth::data {

namespace {

Tensor tensor_of(const std::vector<int64_t>& ids) {
  Tensor tensor = empty({int64_t(ids.size())}, kLong);
  std::copy(ids.begin(), ids.end(), tensor.data_ptr<int64_t>());
  return tensor;
}

void append_ids(std::vector<int64_t>& ids, std::string_view text, const Vocab& vocab,
                const Tokenizer& tokenizer) {
  tokenizer.split(text, [&](std::string_view token) { ids.push_back(vocab[token]); });
}

void check_stream(const Tensor& tokens) {
  HEARTH_CHECK_AS(ValueError, tokens.dim() == 1,
                  "expected a stream of tokens of one dimension, "
                  "but got sizes ",
                  tokens.sizes());
}

}  // namespace

std::string read_text(const std::string& path) {
  const io::BytesPtr bytes = io::map_file(path);
  return std::string(bytes->text(0, bytes->size()));
}

std::vector<std::string> read_lines(const std::string& path) {
  const io::BytesPtr bytes = io::map_file(path);
  std::string_view rest = bytes->text(0, bytes->size());
  std::vector<std::string> lines;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (end < rest.size() && line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

Vocab build_vocab(ArrayRef<std::string> texts, const Tokenizer& tokenizer,
                  const VocabOptions& options) {
  TokenCounter counter;
  for (const std::string& text : texts)
    tokenizer.split(text, [&](std::string_view token) { counter.add(token); });
  return counter.vocab(options);
}

Tensor encode(ArrayRef<std::string> texts, const Vocab& vocab, const Tokenizer& tokenizer,
              const std::optional<std::string>& end_of_text) {
  std::vector<int64_t> ids;
  for (const std::string& text : texts) {
    append_ids(ids, text, vocab, tokenizer);
    if (end_of_text) ids.push_back(vocab[*end_of_text]);
  }
  return tensor_of(ids);
}

Tensor byte_ids(std::string_view text) {
  Tensor bytes = empty({int64_t(text.size())}, kByte);
  std::copy(text.begin(), text.end(), bytes.data_ptr<uint8_t>());
  return bytes.to(kLong);
}

Tensor batchify(const Tensor& tokens, int64_t batch_size) {
  check_stream(tokens);
  HEARTH_CHECK_AS(ValueError, batch_size > 0 && batch_size <= tokens.numel(),
                  "batchify: batch_size should be between 1 and the number of tokens, ",
                  tokens.numel(), ", but got ", batch_size);
  const int64_t rows = tokens.numel() / batch_size;
  return tokens.narrow(0, 0, rows * batch_size).view({batch_size, rows}).t().contiguous();
}

Example<> bptt_batch(const Tensor& source, int64_t i, int64_t bptt) {
  const int64_t rows = source.dim() > 0 ? source.size(0) : 0;
  HEARTH_CHECK_AS(IndexError, i >= 0 && i < rows - 1, "bptt_batch: row ", i,
                  " has no next row in a source of ", rows, " rows");
  HEARTH_CHECK_AS(ValueError, bptt > 0, "bptt_batch: bptt should be positive, but got ", bptt);
  const int64_t length = std::min(bptt, rows - 1 - i);
  return {source.narrow(0, i, length), source.narrow(0, i + 1, length).reshape({-1})};
}

namespace datasets {

TextWindows::TextWindows(const Tensor& tokens, int64_t length, int64_t stride) {
  check_stream(tokens);
  HEARTH_CHECK_AS(ValueError, length > 0 && stride >= 0,
                  "TextWindows: length should be positive and stride not negative, but got ",
                  length, " and ", stride);
  HEARTH_CHECK_AS(ValueError, length < tokens.numel(), "TextWindows: windows of ", length,
                  " tokens need a stream of at least one token more, but it has ", tokens.numel());
  const int64_t num_pairs = tokens.numel() - 1, step = stride > 0 ? stride : length;
  inputs_ = tokens.narrow(0, 0, num_pairs).unfold(0, length, step);
  targets_ = tokens.narrow(0, 1, num_pairs).unfold(0, length, step);
}
Example<> TextWindows::get(size_t index) {
  return {inputs_[int64_t(index)], targets_[int64_t(index)]};
}
std::optional<size_t> TextWindows::size() const { return size_t(inputs_.size(0)); }

LabelledText::LabelledText(ArrayRef<std::string> texts, Tensor labels, const Vocab& vocab,
                           const Tokenizer& tokenizer)
    : labels_(std::move(labels)) {
  HEARTH_CHECK_AS(ValueError, labels_.dim() > 0 && labels_.size(0) == int64_t(texts.size()),
                  "LabelledText: there are ", texts.size(), " texts, but labels of sizes ",
                  labels_.sizes());
  std::vector<int64_t> ids, offsets{0};
  for (const std::string& text : texts) {
    append_ids(ids, text, vocab, tokenizer);
    offsets.push_back(int64_t(ids.size()));
  }
  tokens_ = tensor_of(ids);
  offsets_ = tensor_of(offsets);
}
Example<> LabelledText::get(size_t index) {
  const auto i = static_cast<int64_t>(index);
  HEARTH_CHECK_AS(IndexError, index < *size(), "index ", index, " is out of range of ", *size(),
                  " texts");
  const auto* offsets = offsets_.const_data_ptr<int64_t>();
  return {tokens_.narrow(0, offsets[i], offsets[i + 1] - offsets[i]), labels_[i]};
}
std::optional<size_t> LabelledText::size() const { return size_t(labels_.size(0)); }

}  // namespace datasets

namespace transforms {

namespace {

struct Parts {
  std::vector<Tensor> data, targets;
  Tensor lengths;
};

/// Splits examples into data, targets and lengths; data must have a first dimension.
Parts parts_of(std::vector<Example<>>& examples) {
  Parts parts;
  parts.lengths = empty({int64_t(examples.size())}, kLong);
  auto* length = parts.lengths.data_ptr<int64_t>();
  for (Example<>& example : examples) {
    HEARTH_CHECK_AS(ValueError, example.data.dim() > 0,
                    "expected sequences, but an example's data have no dimension");
    *length++ = example.data.size(0);
    parts.data.push_back(std::move(example.data));
    parts.targets.push_back(std::move(example.target));
  }
  return parts;
}

}  // namespace

Example<> PadSequences::apply_batch(std::vector<Example<>> examples) {
  SequenceBatch batch =
      PadWithLengths(padding_value_, batch_first_).apply_batch(std::move(examples));
  return {std::move(batch.data.first), std::move(batch.target)};
}
SequenceBatch PadWithLengths::apply_batch(std::vector<Example<>> examples) {
  const Parts parts = parts_of(examples);
  return {{pad_sequence(parts.data, batch_first_, padding_value_), parts.lengths},
          stack(parts.targets)};
}
SequenceBatch JoinWithOffsets::apply_batch(std::vector<Example<>> examples) {
  const Parts parts = parts_of(examples);
  return {{cat(parts.data), parts.lengths.cumsum(0).sub(parts.lengths)}, stack(parts.targets)};
}

}  // namespace transforms
}  // namespace hearth::data
