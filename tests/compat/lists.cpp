// c10::List and c10::Dict. The expected results are LibTorch's.
#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/ivalue.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Ints = std::vector<int64_t>;

TEST(Lists, ElementsAreReadAndAssigned) {
  c10::List<int64_t> list({1, 2, 3});
  int64_t sum = 0;
  for (const int64_t x : list) sum += x;
  for (auto it = list.begin(); it != list.end(); ++it) sum += *it;
  EXPECT_EQ(sum, 12);
  list.set(0, 9);
  list[1] = 8;
  EXPECT_EQ(list.get(0), 9);
  EXPECT_EQ(static_cast<int64_t>(list[1]), 8);
  EXPECT_EQ(list.extract(2), 3);
  EXPECT_TRUE(list != c10::List<int64_t>({9, 8, 3}));  // the element is None now
  EXPECT_THROW(list.get(5), std::out_of_range);
  EXPECT_THROW(list.set(5, 1), std::out_of_range);
  EXPECT_EQ(list.end() - list.begin(), 3);
  EXPECT_EQ(c10::List<double>(c10::ArrayRef<double>({1.5, 2.5})).vec()[1], 2.5);
}

TEST(Lists, GrowAndShrink) {
  c10::List<int64_t> list{4, 5};
  list.push_back(7);
  list.emplace_back(6);
  list.append(c10::List<int64_t>{1, 2});
  list.insert(list.begin(), 100);
  EXPECT_EQ(list.vec(), (Ints{100, 4, 5, 7, 6, 1, 2}));
  list.erase(list.begin());
  list.erase(list.begin(), list.begin() + 2);
  list.pop_back();
  list.resize(5, 3);
  list.reserve(20);
  EXPECT_EQ(list.vec(), (Ints{7, 6, 1, 3, 3}));
  EXPECT_EQ(std::find(list.begin(), list.end(), 6) - list.begin(), 1);
  EXPECT_TRUE(list.emplace(list.begin(), 55) == list.begin());
  list.append(list);
  EXPECT_EQ(list.size(), 12U);
  list.clear();
  EXPECT_TRUE(list.empty());
}

TEST(Lists, IteratorsSortAndAssign) {
  c10::List<int64_t> list{3, 1, 2};
  std::sort(list.begin(), list.end());
  EXPECT_EQ(list.vec(), (Ints{1, 2, 3}));
  *list.begin() = 7;
  swap(*list.begin(), *(list.begin() + 1));
  EXPECT_EQ(list.vec(), (Ints{2, 7, 3}));
  EXPECT_EQ(int64_t(*std::max_element(list.begin(), list.end())), 7);
  *list.begin() = *(list.end() - 1);
  EXPECT_EQ(list.get(0), 3);
}

TEST(Lists, CopiesShareTheContent) {
  const c10::List<int64_t> list{1, 2};
  const auto alias = list, copy = list.copy();
  alias.push_back(3);
  EXPECT_EQ(list.size(), 3U);
  EXPECT_EQ(copy.size(), 2U);
  EXPECT_TRUE(list.is(alias) && !list.is(copy));
  EXPECT_TRUE(list == alias && list != copy);
  EXPECT_EQ(list.use_count(), 2U);
}

TEST(Lists, OfOtherTypes) {
  c10::List<std::string> names;
  names.push_back("a");
  names.push_back(std::string("b"));
  std::string joined;
  for (const std::string& name : names) joined += name;
  EXPECT_EQ(joined, "ab");
  const torch::List<torch::Tensor> tensors({torch::ones(2)});
  EXPECT_EQ(tensors.get(0).sum().item<float>(), 2);
  c10::impl::GenericList any(c10::AnyType::get());
  any.push_back(3);
  any.push_back("x");
  EXPECT_EQ(any.get(1).toStringRef(), "x");
}

TEST(Lists, OfOptionalTensorsAreIndices) {
  c10::List<std::optional<torch::Tensor>> indices;
  indices.push_back(std::nullopt);
  indices.push_back(torch::tensor({1}));
  EXPECT_FALSE(indices.get(0).has_value());
  const auto x = torch::arange(6).reshape({2, 3});
  EXPECT_TRUE(at::index(x, indices).equal(torch::tensor({{1}, {4}})));
}

TEST(Dicts, EntriesAreInsertedAndRead) {
  const c10::Dict<std::string, int64_t> dict;
  const auto first = dict.insert("a", 1), second = dict.insert("a", 2);
  EXPECT_TRUE(first.second && !second.second);
  EXPECT_EQ(second.first->value(), 1);
  dict.insert_or_assign("a", 5);
  dict.insert("b", 6);
  std::string text;
  for (const auto& item : dict) text += item.key() + std::to_string(item.value());
  EXPECT_EQ(text, "a5b6");
  EXPECT_EQ(dict.at("a"), 5);
  EXPECT_TRUE(dict.find("z") == dict.end() && dict.contains("b"));
  dict.find("b")->setValue(7);
  EXPECT_EQ(dict.at("b"), 7);
  EXPECT_THROW(dict.at("z"), std::exception);
}

TEST(Dicts, EntriesAreErased) {
  const c10::Dict<std::string, int64_t> dict;
  for (const char* key : {"a", "b", "c"}) dict.insert(key, 1);
  EXPECT_EQ(dict.erase("b"), 1U);
  EXPECT_EQ(dict.erase("b"), 0U);
  dict.erase(dict.find("a"));
  EXPECT_EQ(dict.size(), 1U);
  const auto copy = dict.copy();
  EXPECT_TRUE(dict == copy && dict.is(dict) && !dict.is(copy));
  copy.insert("d", 2);
  EXPECT_TRUE(dict != copy);
  dict.reserve(10);
  dict.clear();
  EXPECT_TRUE(dict.empty());
  dict.insert("c", 3);
  EXPECT_EQ(dict.at("c"), 3);
}

TEST(Dicts, OfAnyValues) {
  const c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  dict.insert("a", 1);
  dict.insert("b", "c");
  EXPECT_EQ(dict.at("b").toStringRef(), "c");
  for (const auto& item : dict) EXPECT_TRUE(item.key().isString());
}

}  // namespace
