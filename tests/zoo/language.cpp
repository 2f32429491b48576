// The examples' GPT-2 and BERT: Hugging Face's names and outputs (tests/oracle/zoo.py), generation,
// published files and errors.
#include <gtest/gtest.h>

#include "tests/support/files.h"
#include "tests/zoo/expected.h"
#include "tests/zoo/models.h"

namespace hearth::testing {

namespace {

TEST(LanguageModels, NamesAndOutputsMatchHuggingFace) { for_each_language_model(expect_model); }

/// Generation with cached keys and values gives the tokens of calls on whole sequences.
TEST(LanguageModels, GenerationWithACacheMatchesWholeSequences) {
  models::GPT2 model(small_gpt2());
  for (const Tensor& parameter : model->parameters()) nn::init::normal_(parameter, 0, 0.5);
  const Tensor generated = model->generate(ids().slice(1, 0, 3), 9);
  EXPECT_TRUE(model->is_training());
  model->eval();
  const Tensor expected = model(generated).argmax(-1).slice(1, 2, 11);
  EXPECT_TRUE(generated.slice(1, 3).equal(expected));
  EXPECT_ERROR(model->generate(ids(), 9), "a sequence of 13 tokens is longer than 12 positions");

  models::KeyValueCache cache;
  const Tensor whole = model(ids());
  model(ids().slice(1, 0, 3), &cache);
  const Tensor rest = model(ids().slice(1, 3), &cache);
  EXPECT_TRUE(rest.allclose(whole.slice(1, 3), 1e-4, 1e-5));
}

/// Published files name tensors differently: GPT-2's without "transformer.", and with masks; BERT's
/// with "bert.", the old names gamma and beta, and a head.
TEST(LanguageModels, LoadPublishedNames) {
  const TempFolder folder;
  const models::GPT2 model(small_gpt2());
  models::State state;
  for (const auto& item : model->state_dict())
    state.insert(item.key().substr(std::string("transformer.").size()), item.value());
  state.insert("h.0.attn.bias", ones({1, 1, 12, 12}));
  io::save_safetensors(state, folder.path("model.safetensors"));
  models::GPT2 loaded = models::load_gpt2(folder.path(""), /*head_width=*/8);
  EXPECT_EQ(loaded->options.n_head, 2);
  for (const auto& item : loaded->state_dict())
    EXPECT_TRUE(item->equal(model->state_dict()[item.key()])) << item.key();

  const models::BertModel bert(small_bert());
  state.clear();
  for (const auto& item : bert->state_dict()) {
    std::string name = "bert." + item.key();
    if (const size_t start = name.find("LayerNorm.weight"); start != std::string::npos)
      name.replace(start, std::string::npos, "LayerNorm.gamma");
    if (const size_t start = name.find("LayerNorm.bias"); start != std::string::npos)
      name.replace(start, std::string::npos, "LayerNorm.beta");
    state.insert(name, item.value());
  }
  state.insert("cls.predictions.bias", ones({20}));
  io::save_safetensors(state, folder.path("model.safetensors"));
  models::BertModel loaded_bert = models::load_bert(folder.path(""), /*head_width=*/8);
  EXPECT_EQ(loaded_bert->options.intermediate_size, 24);
  for (const auto& item : loaded_bert->state_dict())
    EXPECT_TRUE(item->equal(bert->state_dict()[item.key()])) << item.key();
}

TEST(LanguageModels, RefuseBadTokensAndFolders) {
  models::GPT2 model(small_gpt2());
  EXPECT_THROW(model(ids().to(kFloat)), Error);
  EXPECT_THROW(model(zeros({1, 13}, kLong)), Error);
  EXPECT_THROW(models::load_gpt2("no such folder"), Error);
  // A call that fails leaves each module in its own mode.
  model->train();
  model->transformer->h->eval();
  EXPECT_THROW(model->generate(zeros({1, 12}, kLong), 2), Error);
  EXPECT_TRUE(model->is_training());
  EXPECT_FALSE(model->transformer->h->is_training());
}

}  // namespace

}  // namespace hearth::testing
