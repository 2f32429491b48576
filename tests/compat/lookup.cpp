// Name lookup: unqualified calls in programs that define names of the library themselves.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <string>

// Types that a program may define together with `using namespace torch`.
struct Dims {
  int count;
};
struct Modes {
  int count;
};
struct Variable {
  int count;
};

using namespace torch;  // NOLINT

namespace own {

int calls = 0;

void save(const torch::Tensor&, const char*) { ++calls; }
void load(torch::Tensor&, const char*) { ++calls; }
std::string to_string(const torch::Tensor&) { return "own"; }
std::string to_string(const torch::Device&) { return "own"; }
std::string to_string(torch::ScalarType) { return "own"; }
std::string to_string(torch::IntArrayRef) { return "own"; }
const char* name_of(torch::ScalarType) { return "own"; }
int element_size(torch::ScalarType) { return -1; }
torch::Tensor softsign(const torch::Tensor& x) { return x.neg(); }
torch::Tensor unique(const torch::Tensor& x) { return x.neg(); }
torch::Tensor contiguous(const torch::Tensor& x) { return x.neg(); }
torch::Tensor view(const torch::Tensor& x, torch::IntArrayRef) { return x.neg(); }
torch::Tensor expand(const torch::Tensor& x, torch::IntArrayRef, bool = false) { return x.neg(); }
torch::Tensor repeat(const torch::Tensor& x, torch::IntArrayRef) { return x.neg(); }
torch::Tensor zeros(torch::IntArrayRef size, const torch::TensorOptions& = {}) {
  return torch::full(size, -1);
}
torch::Tensor ones(torch::IntArrayRef size, const torch::TensorOptions& = {}) {
  return torch::full(size, -1);
}

TEST(Lookup, PrefersTheProgramsFunctions) {
  torch::Tensor x = torch::ones({2});
  save(x, "x.bin");
  load(x, "x.bin");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(to_string(x), "own");
  EXPECT_EQ(to_string(x.device()), "own");
  EXPECT_EQ(to_string(x.scalar_type()), "own");
  EXPECT_EQ(to_string(x.sizes()), "own");
  EXPECT_EQ(name_of(x.scalar_type()), std::string("own"));
  EXPECT_EQ(element_size(x.scalar_type()), -1);
  for (const torch::Tensor& result :
       {softsign(x), unique(x), contiguous(x), view(x, x.sizes()), expand(x, x.sizes()),
        repeat(x, x.sizes()), zeros(x.sizes(), x.options()), ones(x.sizes(), x.options())})
    EXPECT_EQ(result.sum().item<double>(), -2);
}

}  // namespace own

namespace other {

TEST(Lookup, FindsFunctionsOfNamespaceAtByArgument) {
  const at::Tensor x = at::ones({2, 2});
  EXPECT_EQ(sum(relu(x)).item<double>(), 4);
  EXPECT_EQ(max(x).item<double>(), 1);
  EXPECT_EQ(flip(x, {0}).sizes(), x.sizes());
  EXPECT_TRUE(is_floating_point(x));
}

}  // namespace other

TEST(Lookup, AllowsOwnTypesWithAUsingDirective) {
  const Dims dims{1};
  const Modes modes{2};
  const Variable variable{3};
  EXPECT_EQ(dims.count + modes.count + variable.count, 6);
}
