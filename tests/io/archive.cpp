#include "hearth/io/archive.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <sstream>

#include "hearth/cuda.h"
#include "hearth/io/pt.h"
#include "hearth/io/safetensors.h"
#include "hearth/io/serialize.h"
#include "hearth/ivalue_containers.h"
#include "hearth/nn/linear.h"
#include "hearth/tensor_literal.h"
#include "tests/io/archives.h"
#include "tests/support/files.h"

namespace hearth::serialize {
namespace {

using testing::TempFolder;

TEST(Archive, RoundTripsATree) {
  OutputArchive net, empty_part, root;
  net.write("weight", arange(6, kFloat).view({2, 3}).requires_grad_());
  net.write("bias", Tensor());
  root.write("net", net);
  root.write("relu", empty_part);
  root.write("step", 7);
  const OutputArchive* as_written = &root;
  for (const bool in_memory : {false, true}) {
    InputArchive archive = in_memory ? InputArchive(*as_written) : through_stream(root);
    InputArchive nested, submodule;
    Tensor weight, bias, other = zeros({2, 3}, kDouble);
    archive.read("net", nested);
    nested.read("weight", weight);
    nested.read("bias", bias);
    nested.read("weight", other);
    EXPECT_TRUE(weight.equal(arange(6, kFloat).view({2, 3})));
    EXPECT_TRUE(weight.requires_grad() && weight.is_leaf());
    EXPECT_FALSE(bias.defined());
    EXPECT_EQ(other[1][2].item<double>(), 5);
    EXPECT_TRUE(archive.try_read("relu", submodule));
    EXPECT_TRUE(submodule.keys().empty());
    EXPECT_FALSE(archive.try_read("gelu", submodule));
    EXPECT_EQ(nested.keys().size(), 2U);
    EXPECT_TRUE(archive.contains("net") && archive.contains("net.weight"));
    EXPECT_FALSE(archive.contains("ne") || archive.contains("net."));
  }
}

TEST(Archive, ErrorsNameTheKey) {
  OutputArchive inner, root;
  inner.write("x", ones({2}));
  inner.write("n", 1);
  root.write("a", inner);
  InputArchive archive = through_stream(root), nested;
  archive.read("a", nested);
  Tensor t;
  std::string text;
  bool flag = false;
  EXPECT_ERROR(nested.read("y", t), "No such serialized tensor 'a.y' in 'the stream'");
  EXPECT_ERROR(nested.read("n", t), "No such serialized tensor 'a.n' in 'the stream'; found Int");
  EXPECT_ERROR(nested.read("x", text), "No such serialized string 'a.x'");
  EXPECT_ERROR(nested.read("x", nested), "No such serialized submodule: 'a.x'");
  EXPECT_FALSE(nested.try_read("n", text) || nested.try_read("n", flag) || nested.try_read("y", t));
  Tensor wrong = zeros({3}), integers = zeros({2}, kLong);
  EXPECT_ERROR(nested.read("x", integers), "'a.x' was saved as Float, which cannot be read into a");
  nested.read("x", wrong);
  EXPECT_TRUE(wrong.equal(ones({2})));
  wrong = zeros({3});
  archive.require_same_sizes();
  archive.read("a", nested);
  EXPECT_ERROR(
      nested.read("x", wrong),
      "size mismatch for a.x: copying a param with shape [2] from checkpoint, the shape in "
      "current model is [3].");
  EXPECT_ERROR(root.write("a", 1), "already has a value under 'a'");
  EXPECT_ERROR(root.write("a", root), "cannot be written into itself");
}

TEST(Archive, ReadsFilesWithoutMetadataAsTrees) {
  std::ostringstream out;
  io::save_safetensors({{"net.fc.weight", ones({2, 2})}, {"net.fc.bias", zeros({2})}},
                       [&](const void* data, size_t bytes) {
                         out.write(static_cast<const char*>(data), std::streamsize(bytes));
                       });
  const std::string bytes = out.str();
  InputArchive archive, net, fc;
  archive.load_from(bytes.data(), bytes.size());
  archive.read("net", net);
  net.read("fc", fc);
  EXPECT_EQ(fc.keys(), (std::vector<std::string>{"weight", "bias"}));
  Tensor bias;
  fc.read("bias", bias);
  EXPECT_TRUE(bias.equal(zeros({2})));
}

/// Large tensors, because SafetensorsFile maps these into memory.
TEST(Archive, LoadedTensorsDoNotDependOnTheFile) {
  const TempFolder folder;
  const std::string path = folder.path("x");
  const Tensor large = arange(100000, kFloat);
  save(large, path);
  Tensor read;
  load(read, path);
  InputArchive archive;
  archive.load_from(path);
  IValue value;
  archive.read("0", value);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-64, std::ios::end);
    file << std::string(64, 'x');
  }
  EXPECT_TRUE(read.equal(large) && value.toTensor().equal(large));
  std::filesystem::resize_file(path, 100);
  EXPECT_TRUE(read.equal(large) && value.toTensor().equal(large));
}

TEST(Archive, LoadsToTheSavedOrGivenDevice) {
  if (!cuda::is_available()) GTEST_SKIP() << "no GPU";
  const TempFolder folder;
  const std::string path = folder.path("x");
  save(ones({3}, kCUDA), path);
  Tensor on_gpu, on_cpu;
  load(on_gpu, path);
  load(on_cpu, path, kCPU);
  EXPECT_EQ(on_gpu.device(), Device("cuda:0"));
  EXPECT_TRUE(on_cpu.is_cpu());
  on_gpu = zeros({3}, kCUDA);
  save(ones({3}), path);
  load(on_gpu, path);
  EXPECT_TRUE(on_gpu.is_cuda());
  EXPECT_EQ(on_gpu.sum().item<float>(), 3);
  load(on_gpu, path, kCPU);
  EXPECT_TRUE(on_gpu.is_cpu());
  EXPECT_EQ(on_gpu.sum().item<float>(), 3);
  save(ones({3}, kCUDA), path);

  OutputArchive root;
  root.write("pair", std::make_tuple(ones({3}, kCUDA), ones({2})));
  root.save_to(path);
  for (const auto device : {std::optional<Device>(), std::optional<Device>(kCPU)}) {
    InputArchive archive;
    archive.load_from(path, device);
    const std::vector<IValue> pair = value_in(archive, "pair").toTupleRef().elements();
    EXPECT_EQ(pair[0].toTensor().is_cuda(), !device);
    EXPECT_EQ(pair[0].toTensor().sum().item<float>(), 3);
    EXPECT_TRUE(pair[1].toTensor().is_cpu());
  }
}

TEST(Archive, MovesAModuleToTheGivenDevice) {
  if (!cuda::is_available()) GTEST_SKIP() << "no GPU";
  const TempFolder folder;
  for (const char* name : {"x.safetensors", "x.pt"}) {
    SCOPED_TRACE(name);
    const std::string path = folder.path(name);
    const nn::Linear saved(3, 1);
    if (path.ends_with(".pt"))
      io::save_pt(saved->state_dict(), path);
    else
      save(saved, path);
    nn::Linear loaded(3, 1);
    load(loaded, path, kCUDA);
    EXPECT_EQ(loaded->weight.device(), Device("cuda:0"));
    EXPECT_TRUE(loaded->bias.cpu().equal(saved->bias));
    load(loaded, path);
    EXPECT_TRUE(loaded->weight.is_cuda());
    load(loaded, path, kCPU);
    EXPECT_TRUE(loaded->weight.equal(saved->weight));
  }
}

TEST(Archive, WritesAFileForPython) {
  const char* output_folder = std::getenv("HEARTH_KEEP_FILES");
  if (!output_folder) GTEST_SKIP() << "for tests/oracle/safetensors_file.py check";
  OutputArchive net, root;
  net.write("weight", arange(6, kFloat).view({2, 3}));
  net.write("mask", tensor({true, false}), true);
  root.write("net", net);
  root.write("half", arange(5, kBFloat16));
  root.write("step", 5);
  root.write("lr", 0.1);
  root.write("name", "a \"name\"");
  root.write("done", false);
  root.save_to(std::string(output_folder) + "/archive.safetensors");
}

TEST(Archive, ReadsAndWritesThroughCallbacks) {
  std::string bytes;
  OutputArchive root;
  root.write("x", ones({2}));
  root.save_to([&](const void* data, size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    return size;
  });
  InputArchive archive;
  archive.load_from(
      [&](uint64_t offset, void* buffer, size_t size) {
        return bytes.copy(static_cast<char*>(buffer), size, offset);
      },
      [&] { return bytes.size(); });
  EXPECT_TRUE(archive.contains("x"));
  EXPECT_ERROR(root.save_to([](const void*, size_t) { return size_t{1}; }),
               "the function wrote 1 of ");
}

struct Point {
  int64_t x = 0;
  Tensor t;
  void save(OutputArchive& archive) const {
    archive.write("x", x);
    archive.write("t", t);
  }
  void load(InputArchive& archive) {
    archive.read("x", x);
    archive.read("t", t);
  }
};

// A parser with quadratic time would take minutes. Processor time, since other tests run beside
// this one.
TEST(Archive, ReadsManyTensorsInLinearTime) {
  OutputArchive out;
  const Tensor one = ones({1}, requires_grad());
  for (int i = 0; i < 40'000; ++i) out.write(std::to_string(i), one);
  const std::clock_t begin = std::clock();
  InputArchive archive = through_stream(out);
  Tensor t;
  archive.read("39999", t);
  EXPECT_LT(double(std::clock() - begin) / CLOCKS_PER_SEC, 10);
  EXPECT_TRUE(t.requires_grad());
}

TEST(Save, RoundTripsTensorsListsAndObjects) {
  const TempFolder folder;
  const std::string path = folder.path("x.pt");
  save(arange(3), path);
  Tensor t, same = zeros({3}, kLong), other = ones({2, 2}), alias = other;
  load(t, path);
  load(same, path);
  load(other, path);
  EXPECT_TRUE(t.equal(arange(3)) && same.equal(arange(3)) && alias.equal(arange(3)));

  save(std::vector<Tensor>{ones({1}), Tensor(), zeros({2})}, path);
  std::vector<Tensor> list;
  load(list, path);
  ASSERT_EQ(list.size(), 3U);
  EXPECT_TRUE(list[0].equal(ones({1})) && !list[1].defined() && list[2].equal(zeros({2})));

  const auto pointer = std::make_shared<Point>(Point{5, ones({2})});
  save(pointer, path);
  Point loaded;
  load(loaded, path);
  EXPECT_TRUE(loaded.x == 5 && loaded.t.equal(ones({2})));
  EXPECT_ERROR(load(t, path), "No such serialized tensor '0' in");
  EXPECT_ERROR(save(t, folder.path("no/x.pt")), "No such file");
  EXPECT_EQ(folder.count(), 1U);
}

}  // namespace
}  // namespace hearth::serialize
