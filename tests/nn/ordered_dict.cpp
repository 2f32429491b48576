#include "hearth/ordered_dict.h"

#include "tests/nn/support.h"

namespace {

using Dict = hearth::OrderedDict<std::string, int>;

TEST(OrderedDict, KeepsTheOrderOfInsertion) {
  Dict dict{{"b", 2}, {"a", 1}};
  dict.insert("c", 3);
  EXPECT_EQ(dict.keys(), (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(dict.values(), (std::vector<int>{2, 1, 3}));
  EXPECT_EQ(dict[1].key(), "a");
  EXPECT_EQ(*dict[1], 1);
  EXPECT_EQ(dict["c"], 3);
  EXPECT_EQ(dict.front().value(), 2);
  EXPECT_EQ(dict.back().key(), "c");
  EXPECT_EQ(dict.pairs()[0], (std::pair<std::string, int>("b", 2)));
  int sum = 0;
  for (const auto& item : dict) sum += item.value();
  EXPECT_EQ(sum, 6);
}

TEST(OrderedDict, FindsAfterErasing) {
  Dict dict{{"a", 1}, {"b", 2}, {"c", 3}};
  dict.erase("a");
  EXPECT_EQ(dict.size(), 2u);
  EXPECT_FALSE(dict.contains("a"));
  EXPECT_EQ(dict["c"], 3);
  EXPECT_EQ(*dict.find("b"), 2);
  EXPECT_EQ(dict.find("a"), nullptr);
  dict.insert("a", 4);
  EXPECT_EQ(dict.back().value(), 4);
  dict.clear();
  EXPECT_TRUE(dict.is_empty());
}

TEST(OrderedDict, CopiesAndUpdates) {
  Dict dict{{"a", 1}};
  Dict copy = dict;
  EXPECT_TRUE(copy == dict);
  copy["a"] = 2;
  EXPECT_FALSE(copy == dict);
  EXPECT_EQ(dict["a"], 1);
  dict.update(Dict{{"b", 2}, {"c", 3}});
  EXPECT_EQ(dict.size(), 3u);
  EXPECT_ERROR(dict.update(Dict{{"b", 2}}), "Key 'b' already defined");
}

TEST(OrderedDict, ErrorsUseTheKeyDescription) {
  hearth::OrderedDict<std::string, int> penguins("Penguin");
  EXPECT_EQ(penguins.key_description(), "Penguin");
  EXPECT_ERROR(penguins["b"], "Penguin 'b' is not defined");
  penguins.insert("a", 1);
  EXPECT_ERROR(penguins.insert("a", 1), "Penguin 'a' already defined");
  EXPECT_ERROR(Dict().front(), "Called front() on an empty OrderedDict");
  EXPECT_ERROR(Dict().back(), "Called back() on an empty OrderedDict");
  EXPECT_ERROR(Dict()["foo"], "Key 'foo' is not defined");
  EXPECT_ERROR(penguins[1], "Index 1 is out of bounds");
}

}  // namespace
