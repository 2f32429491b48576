// Strides of saved tensors (those of LibTorch, unless they waste memory), and loading into defined
// tensors.
#include <sstream>

#include "hearth/io/serialize.h"
#include "hearth/operators.h"
#include "tests/support/files.h"
#include "tests/support/throws.h"

namespace hearth {
namespace {

using serialize::InputArchive;
using serialize::OutputArchive;

Tensor saved_and_loaded(const Tensor& tensor) {
  std::stringstream stream;
  save(tensor, stream);
  Tensor loaded;
  load(loaded, stream);
  return loaded;
}

void expect_same_strides(const Tensor& tensor) {
  const Tensor loaded = saved_and_loaded(tensor);
  EXPECT_TRUE(loaded.equal(tensor));
  EXPECT_EQ(loaded.strides().vec(), tensor.strides().vec()) << "sizes " << tensor.sizes();
}

TEST(Strides, AreRestoredForViews) {
  expect_same_strides(arange(6.0).view({2, 3}).t());
  expect_same_strides(arange(24.0).view({1, 2, 3, 4}).contiguous(MemoryFormat::ChannelsLast));
  expect_same_strides(arange(12.0).view({3, 4}).slice(1, 1, 3));
  expect_same_strides(arange(10).slice(0, 2, 8, 2));
  expect_same_strides(ones({2}).expand({3, 2}));
  expect_same_strides(arange(3, kShort).view({1, 3, 1}).expand({2, 3, 4}));
  expect_same_strides(arange(5));
}

TEST(Strides, AreNotRestoredIfTheyWasteMemory) {
  const Tensor sparse = zeros({1000, 1000}).slice(1, 0, 1);
  EXPECT_EQ(saved_and_loaded(sparse).strides().vec(), (std::vector<int64_t>{1, 1}));
  const Tensor overlapping = arange(3.0).as_strided({2, 2}, {1, 1});
  EXPECT_TRUE(saved_and_loaded(overlapping).equal(overlapping));
  EXPECT_TRUE(saved_and_loaded(zeros({0, 3}).t()).is_contiguous());
}

TEST(Strides, AreRestoredFromAnArchive) {
  OutputArchive out;
  out.write("t", arange(6.0).view({2, 3}).t());
  std::stringstream stream;
  out.save_to(stream);
  InputArchive in;
  in.load_from(stream);
  Tensor t = zeros({3, 2});
  in.read("t", t);
  EXPECT_EQ(t.strides().vec(), (std::vector<int64_t>{1, 3}));
  EXPECT_TRUE(t.equal(arange(6.0).view({2, 3}).t()));
}

TEST(Load, ReplacesTheDataOfDefinedTensors) {
  std::stringstream stream;
  save(arange(4.0), stream);
  const std::string file = stream.str();
  const auto load_from_file = [&file](Tensor& tensor) {
    std::istringstream in(file);
    load(tensor, in);
  };
  Tensor t = zeros({4});
  const Tensor handle = t, older = t.detach();
  load_from_file(t);
  EXPECT_TRUE(handle.is_same(t) && handle.equal(arange(4.0)));
  EXPECT_TRUE(older.equal(zeros({4})));

  const Tensor base = zeros({2, 4});
  Tensor row = base[0];
  load_from_file(row);
  EXPECT_TRUE(row.equal(arange(4.0)) && base.equal(zeros({2, 4})));

  Tensor leaf = zeros({2, 2}, requires_grad());
  load_from_file(leaf);
  EXPECT_TRUE(leaf.requires_grad() && leaf.is_leaf() && leaf.sizes() == IntArrayRef({4}));
}

TEST(Load, ConvertsToTheTensorsDtype) {
  OutputArchive out;
  out.write("t", arange(3.0));
  InputArchive in(out);
  Tensor t = zeros({2}, kDouble);
  const Tensor older = t.detach();
  in.read("t", t);
  EXPECT_TRUE(t.equal(arange(3.0, kDouble)) && t.dtype() == kDouble);
  EXPECT_TRUE(older.equal(zeros({2}, kDouble)));
  out.write("u", t);
  t.fill_(9);
  Tensor u = zeros({3});
  InputArchive(out).read("u", u);
  t.fill_(8);
  EXPECT_TRUE(u.equal(full({3}, 9.0)));
}

TEST(Load, ErrorsSuggestKeys) {
  OutputArchive root, module;
  module.write("weight", ones({2}));
  root.write("module", module);
  InputArchive in(root);
  Tensor t;
  EXPECT_ERROR(in.read("weight", t),
               "No such serialized tensor 'weight'; found 'module.weight': remove the prefix "
               "'module.'");
  InputArchive nested;
  in.read("module", nested);
  EXPECT_ERROR(nested.read("wight", t), "did you mean 'module.weight'?");
  EXPECT_ERROR(nested.read("bias", t), "found 'module.weight'");
}

TEST(Load, RecognizesOldTorchSaveFiles) {
  std::istringstream stream(
      std::string("\x80\x02\x8a\nl\xfc\x9c"
                  "F\xf9 j\xa8P\x19.",
                  15));
  Tensor t;
  EXPECT_ERROR(load(t, stream), "format before PyTorch 1.6");
}

}  // namespace
}  // namespace hearth
