// Vocabularies, tokenizers, and datasets and batches of text.
#include "hearth/data/text.h"

#include <gtest/gtest.h>

#include "hearth/data/dataloader.h"
#include "hearth/io/serialize.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/files.h"

namespace hearth::data {
namespace {

using Strings = std::vector<std::string>;

TEST(Tokenizers, SplitAsInPython) {
  const tokenizers::BasicEnglish english;
  // torchtext's get_tokenizer("basic_english").
  EXPECT_EQ(english("You can now install TorchText using pip!"),
            Strings({"you", "can", "now", "install", "torchtext", "using", "pip", "!"}));
  EXPECT_EQ(english("It's \"3.5\" (A;B):\tno,<br />yes?.. <BR />"), Strings({
                                                                        "it",
                                                                        "'",
                                                                        "s",
                                                                        "3",
                                                                        ".",
                                                                        "5",
                                                                        "(",
                                                                        "a",
                                                                        "b",
                                                                        ")",
                                                                        "no",
                                                                        ",",
                                                                        "yes",
                                                                        "?",
                                                                        ".",
                                                                        ".",
                                                                    }));
  EXPECT_EQ(english("<br\" />\xc3\x84 \xff"), Strings({"\xc3\x84", "\xff"}));
  EXPECT_EQ(english(" \n"), Strings());
  EXPECT_EQ(tokenizers::Whitespace()(" a\tb\x1c"
                                     "c\v\n\xa0 d"),
            Strings({"a", "b", "c", "\xa0", "d"}));
  EXPECT_EQ(tokenizers::Whitespace()(""), Strings());
  // Valid characters, a truncated one, a surrogate, an overlong encoding, a lone byte.
  EXPECT_EQ(tokenizers::Characters()("a\xc3\xa9\xf0\x9f\x98\x80\xe2\x82"),
            Strings({"a", "\xc3\xa9", "\xf0\x9f\x98\x80", "\xe2", "\x82"}));
  EXPECT_EQ(tokenizers::Characters()("\xed\xa0\x80\xc0\x80\xff"),
            Strings({"\xed", "\xa0", "\x80", "\xc0", "\x80", "\xff"}));
  EXPECT_EQ(tokenizers::Bytes()("\xc3\xa9\n"), Strings({"\xc3", "\xa9", "\n"}));
}

TEST(Vocab, BuildsAsTorchtext) {
  const std::vector<Strings> lists = {{"b", "a", "c", "b"}, {"c", "b", "a", "d", "<unk>"}};
  EXPECT_EQ(build_vocab_from_iterator(lists).get_itos(), Strings({"b", "a", "c", "<unk>", "d"}));
  VocabOptions options = VocabOptions().min_freq(2).specials({"<pad>", "<unk>"});
  EXPECT_EQ(build_vocab_from_iterator(lists, options).get_itos(),
            Strings({"<pad>", "<unk>", "b", "a", "c"}));
  options.special_first(false).max_tokens(4);
  EXPECT_EQ(build_vocab_from_iterator(lists, options).get_itos(),
            Strings({"b", "a", "<pad>", "<unk>"}));
  EXPECT_ERROR(build_vocab_from_iterator(lists, options.max_tokens(2)),
               "len(specials) >= max_tokens, so the vocab will be entirely special tokens.");
  const Vocab vocab =
      build_vocab({"x y", "y"}, tokenizers::Whitespace(), VocabOptions().unknown("<unk>"));
  EXPECT_EQ(vocab.get_itos(), Strings({"<unk>", "y", "x"}));
  EXPECT_EQ(vocab["z"], 0);
}

TEST(Vocab, LooksUp) {
  Vocab vocab(Strings{"a", "b", ""});
  EXPECT_EQ(vocab.size(), 3U);
  EXPECT_EQ(vocab[""], 2);
  EXPECT_FALSE(vocab.contains("c"));
  EXPECT_ERROR(vocab["c"], "Token c not found and default index is not set");
  EXPECT_ERROR(vocab.set_default_index(3),
               "Specified index 3 is out of bounds for vocab of size 3");
  vocab.set_default_index(1);
  EXPECT_TRUE(vocab.lookup_indices({"b", "c", "a"}).equal(tensor({1, 1, 0})));
  EXPECT_EQ(vocab.lookup_tokens(tensor({2, 0})), Strings({"", "a"}));
  EXPECT_ERROR(vocab.lookup_tokens(tensor({-1})), "Specified index -1 is out of bounds");
  EXPECT_ERROR(vocab.lookup_tokens(tensor({1.f})), "expected ids of dtype Long");
  EXPECT_ERROR(Vocab(Strings{"a", "a"}), "Duplicate token found in tokens list: a");
  EXPECT_EQ(Vocab().size(), 0U);
}

TEST(Vocab, IsSaved) {
  const testing::TempFolder folder;
  Vocab vocab(Strings{"a\n", "", "\xff", "\\"}), loaded;
  vocab.set_default_index(3);
  save(vocab, folder.path("vocab.safetensors"));
  load(loaded, folder.path("vocab.safetensors"));
  EXPECT_EQ(loaded.get_itos(), vocab.get_itos());
  EXPECT_EQ(loaded["?"], 3);
  EXPECT_ERROR(vocab.to_file(folder.path("vocab.txt")), "a token contains the end of a line");
  const Strings lines = {"[PAD]", "\\", "##a", "\xe2\x82\xac"};
  Vocab(lines).to_file(folder.path("vocab.txt"));
  EXPECT_EQ(testing::bytes_of(folder.path("vocab.txt")), "[PAD]\n\\\n##a\n\xe2\x82\xac\n");
  EXPECT_EQ(Vocab::from_file(folder.path("vocab.txt")).get_itos(), lines);

  const auto damaged = [&](const Tensor& bytes, const Tensor& lengths) {
    serialize::OutputArchive archive;
    archive.write("bytes", bytes);
    archive.write("lengths", lengths);
    serialize::InputArchive in(archive);
    return testing::error_of([&] { loaded.load(in); });
  };
  EXPECT_EQ(damaged(zeros({2}, kByte), tensor({3})),
            "the vocabulary's token 0 has 3 bytes, but 2 are left");
  EXPECT_EQ(damaged(zeros({2}, kByte), tensor({-1})),
            "the vocabulary's token 0 has -1 bytes, but 2 are left");
  EXPECT_EQ(damaged(zeros({2}, kByte), tensor({1})),
            "the vocabulary has 1 bytes after its last token");
  EXPECT_EQ(damaged(zeros({2}), tensor({2})),
            "a vocabulary has bytes and int64 lengths, but got Float and Long");
  EXPECT_EQ(loaded.size(), 4U);
}

TEST(Text, ReadsAndEncodes) {
  const testing::TempFolder folder;
  testing::write_bytes(folder.path("a.txt"), "b a\r\n\nc\xff\rb\n");
  const Strings lines = read_lines(folder.path("a.txt"));
  EXPECT_EQ(lines, Strings({"b a", "", "c\xff\rb"}));
  EXPECT_EQ(read_text(folder.path("a.txt")), "b a\r\n\nc\xff\rb\n");
  const tokenizers::Whitespace tokenizer;
  const Vocab vocab = build_vocab(lines, tokenizer, VocabOptions().specials({"<eos>"}));
  EXPECT_TRUE(encode(lines, vocab, tokenizer).equal(tensor({1, 2, 3, 1})));
  EXPECT_TRUE(encode(lines, vocab, tokenizer, "<eos>").equal(tensor({1, 2, 0, 0, 3, 1, 0})));
  EXPECT_ERROR(encode({"z"}, vocab, tokenizer), "Token z not found");
  EXPECT_EQ(encode({}, vocab, tokenizer).sizes(), IntArrayRef({0}));
  EXPECT_TRUE(byte_ids("\xff"
                       "a")
                  .equal(tensor({255, 97})));
}

TEST(Text, BatchesOfTheTutorial) {
  const Tensor source = batchify(arange(11), 3);
  EXPECT_TRUE(source.equal(tensor({0, 3, 6, 1, 4, 7, 2, 5, 8}).view({3, 3})));
  const Example<> first = bptt_batch(source, 0, 2), last = bptt_batch(source, 1, 35);
  EXPECT_TRUE(first.data.equal(source.slice(0, 0, 2)));
  EXPECT_TRUE(first.target.equal(tensor({1, 4, 7, 2, 5, 8})));
  EXPECT_TRUE(last.data.equal(source.slice(0, 1, 2)));
  EXPECT_TRUE(last.target.equal(tensor({2, 5, 8})));
  EXPECT_ERROR(bptt_batch(source, 2), "bptt_batch: row 2 has no next row in a source of 3 rows");
  EXPECT_ERROR(bptt_batch(source, 0, 0), "bptt should be positive, but got 0");
  EXPECT_ERROR(batchify(arange(2), 3), "between 1 and the number of tokens, 2, but got 3");
  EXPECT_ERROR(batchify(source, 3), "expected a stream of tokens of one dimension");
}

TEST(Text, Windows) {
  datasets::TextWindows windows(arange(10), 3);
  EXPECT_EQ(windows.size(), 3U);
  EXPECT_TRUE(windows.get(2).data.equal(tensor({6, 7, 8})));
  EXPECT_TRUE(windows.get(2).target.equal(tensor({7, 8, 9})));
  EXPECT_ERROR(windows.get(3), "out of range");
  const Example<> batch = windows.batched().get_batch({1, 0});
  EXPECT_TRUE(batch.data.equal(tensor({3, 4, 5, 0, 1, 2}).view({2, 3})));
  EXPECT_TRUE(batch.target.equal(batch.data + 1));
  datasets::TextWindows dense(arange(10), 4, 1);
  EXPECT_EQ(dense.size(), 6U);
  EXPECT_TRUE(dense.get(5).target.equal(tensor({6, 7, 8, 9})));
  EXPECT_ERROR(datasets::TextWindows(arange(3), 3), "need a stream of at least one token more");
  EXPECT_ERROR(datasets::TextWindows(arange(3), 0), "length should be positive");
}

TEST(Text, LabelledTextsInPaddedBatches) {
  const tokenizers::Characters tokenizer;
  const Vocab vocab(Strings{"<pad>", "a", "b"});
  datasets::LabelledText texts({"ab", "", "bba"}, tensor({1, 0, 2}), vocab, tokenizer);
  EXPECT_EQ(texts.size(), 3U);
  EXPECT_TRUE(texts.tokens().equal(tensor({1, 2, 2, 2, 1})));
  EXPECT_TRUE(texts.offsets().equal(tensor({0, 2, 2, 5})));
  EXPECT_EQ(texts.get(1).data.numel(), 0);
  EXPECT_ERROR(texts.get(3), "index 3 is out of range of 3 texts");
  EXPECT_ERROR(datasets::LabelledText({"a"}, tensor({1, 2}), vocab, tokenizer),
               "there are 1 texts, but labels of sizes [2]");

  const auto loader = make_data_loader<samplers::SequentialSampler>(
      texts.map(transforms::PadSequences()), DataLoaderOptions(3).workers(2));
  for (const Example<>& batch : *loader) {
    EXPECT_TRUE(batch.data.equal(tensor({1, 2, 0, 0, 0, 0, 2, 2, 1}).view({3, 3})));
    EXPECT_TRUE(batch.target.equal(tensor({1, 0, 2})));
  }
  const auto padded = texts.map(transforms::PadWithLengths(-1, false)).get_batch({0, 2});
  EXPECT_TRUE(padded.data.first.equal(tensor({1, 2, 2, 2, -1, 1}).view({3, 2})));
  EXPECT_TRUE(padded.data.second.equal(tensor({2, 3})));
  const auto joined = texts.map(transforms::JoinWithOffsets()).get_batch({2, 1, 0});
  EXPECT_TRUE(joined.data.first.equal(tensor({2, 2, 1, 1, 2})));
  EXPECT_TRUE(joined.data.second.equal(tensor({0, 3, 3})));
  EXPECT_TRUE(joined.target.equal(tensor({2, 0, 1})));
  EXPECT_ERROR(transforms::PadSequences().apply_batch({{tensor(1), tensor(1)}}),
               "an example's data have no dimension");
}

}  // namespace
}  // namespace hearth::data
