#include "hearth/io/sharded.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "hearth/operators.h"
#include "tests/support/files.h"

namespace hearth::io {
namespace {

using testing::TempFolder;
using testing::write_bytes;

const NamedTensors& tensors() {
  static const NamedTensors result{
      {"b", arange(4, kFloat)}, {"a", ones({8})}, {"c", zeros({3}, kHalf)}};
  return result;
}

TEST(Sharded, WritesAndReadsShards) {
  const TempFolder folder;
  save_sharded_safetensors(tensors(), folder.str(), 24);
  EXPECT_EQ(folder.count(), 4U);
  const std::string index = folder.path("model.safetensors.index.json");
  EXPECT_EQ(testing::bytes_of(index),
            "{\n  \"metadata\": {\n    \"total_size\": 54\n  },\n  \"weight_map\": {\n"
            "    \"b\": \"model-00001-of-00003.safetensors\",\n"
            "    \"a\": \"model-00002-of-00003.safetensors\",\n"
            "    \"c\": \"model-00003-of-00003.safetensors\"\n  }\n}\n");
  for (const std::string& path : {index, folder.str()}) {
    const NamedTensors read = load_sharded_safetensors(path);
    ASSERT_EQ(read.size(), 3U);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(read[i].first, tensors()[i].first);
      EXPECT_TRUE(read[i].second.equal(tensors()[i].second));
    }
  }
}

TEST(Sharded, OneShardNeedsNoIndex) {
  const TempFolder folder;
  save_sharded_safetensors(tensors(), folder.str());
  EXPECT_EQ(folder.count(), 1U);
  EXPECT_EQ(load_sharded_safetensors(folder.str()).size(), 3U);
}

/// Expects `files` files in the folder, from which the tensors `expected` are read.
void expect_saved(const TempFolder& folder, const NamedTensors& expected, size_t files) {
  EXPECT_EQ(folder.count(), files);
  const NamedTensors read = load_sharded_safetensors(folder.str());
  ASSERT_EQ(read.size(), expected.size());
  for (size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].first, expected[i].first);
    EXPECT_TRUE(read[i].second.equal(expected[i].second));
  }
}

TEST(Sharded, ReplacesAnEarlierSave) {
  const TempFolder folder;
  save_sharded_safetensors(tensors(), folder.str(), 24);
  const NamedTensors one{{"a", ones({2})}}, two{{"a", zeros({8})}, {"b", ones({8})}};
  save_sharded_safetensors(one, folder.str(), 24);
  expect_saved(folder, one, 1);
  save_sharded_safetensors(two, folder.str(), 32);
  expect_saved(folder, two, 3);
}

TEST(Sharded, SavesIntoTheCurrentFolder) {
  const TempFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.str());
  save_sharded_safetensors(tensors(), "");
  std::filesystem::current_path(before);
  expect_saved(folder, tensors(), 1);
}

TEST(Sharded, ReplacesTheFileBehindALinkToTheIndex) {
  const TempFolder folder, other;
  const std::string index = "model.safetensors.index.json";
  save_sharded_safetensors(tensors(), folder.str(), 24);
  std::filesystem::rename(folder.path(index), other.path(index));
  std::filesystem::create_symlink(other.path(index), folder.path(index));
  const NamedTensors two{{"a", zeros({8})}, {"b", ones({8})}};
  save_sharded_safetensors(two, folder.str(), 32);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path(index)));
  expect_saved(folder, two, 3);
}

TEST(Sharded, AFailedSaveKeepsTheEarlierOne) {
  const TempFolder folder;
  save_sharded_safetensors(tensors(), folder.str(), 24);
  NamedTensors twice{{"a", zeros({8})}, {"b", zeros({8})}, {"a", zeros({8})}};
  EXPECT_EQ(testing::error_of([&] { save_sharded_safetensors(twice, folder.str(), 24); }),
            "cannot save two tensors under the name 'a'");
  expect_saved(folder, tensors(), 4);
}

TEST(Sharded, ReadsFilesInSubfolders) {
  const TempFolder folder;
  std::filesystem::create_directories(folder.path("a/b"));
  save_safetensors(NamedTensors{{"x", ones({1})}}, folder.path("a/b/1.safetensors"));
  save_safetensors(NamedTensors{{"y", ones({2})}}, folder.path("a/2.safetensors"));
  const std::string index = folder.path("model.safetensors.index.json");
  write_bytes(index, R"({"weight_map":{"x":"a/b/1.safetensors","y":"a/2.safetensors"}})");
  const NamedTensors tensors = load_sharded_safetensors(index);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_TRUE(tensors[0].second.equal(ones({1})) && tensors[1].second.equal(ones({2})));
}

TEST(Sharded, RefusesBadIndexes) {
  const TempFolder folder;
  const std::string path = folder.path("model.safetensors.index.json");
  const auto error = [&](const std::string& json) {
    write_bytes(path, json);
    return testing::error_of([&] { load_sharded_safetensors(path); });
  };
  const auto expect = [&](const std::string& json, const char* text) {
    EXPECT_NE(error(json).find(text), std::string::npos) << error(json);
  };
  expect("", "not valid JSON");
  expect("{}", "expected an object 'weight_map'");
  expect("[]", "expected an object 'weight_map'");
  expect("{\"weight_map\":{\"a\":1}}", "expected a file for tensor 'a'");
  expect("{\"weight_map\":{\"a\":\"../x\"}}", "not in the index's folder");
  expect("{\"weight_map\":{\"a\":\"..\"}}", "not in the index's folder");
  for (const std::string file : {"/x", "sub/../../x", "sub//x", "sub/", "", "sub/.."})
    expect("{\"weight_map\":{\"a\":\"" + file + "\"}}", "not in the index's folder");
  expect("{\"weight_map\":{\"a\":\"x\"}}", "/x': No such file");
  expect(std::string(100000, '['), "nested too deeply");
  save_safetensors(NamedTensors{{"b", ones({1})}}, folder.path("x"));
  expect("{\"weight_map\":{\"a\":\"x\"}}", "has no tensor 'a'");
}

}  // namespace
}  // namespace hearth::io
