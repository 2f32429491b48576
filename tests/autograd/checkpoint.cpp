// Checkpoints, also sequential ones, and save_on_cpu: values and gradients of the plain run bit for
// bit, random numbers, nesting, threads.
#include <array>
#include <cmath>
#include <map>
#include <thread>
#include <unordered_map>

#include "autograd/checkpoint_frame.h"
#include "hearth/autograd_hooks.h"
#include "hearth/custom_function.h"
#include "tests/autograd/checkpoint_support.h"

namespace hearth::testing {
namespace {

using utils::checkpoint;
using utils::checkpoint_sequential;
using utils::CheckpointOptions;

/// The number of elements that are saved outside of checkpoints while f runs.
template <class F>
int64_t saved_elements(const F& f) {
  int64_t elements = 0;
  const autograd::graph::saved_tensors_hooks hooks(
      [&](const Tensor& tensor) -> std::any {
        elements += tensor.numel();
        return tensor;
      },
      [](const std::any& tensor) { return std::any_cast<Tensor>(tensor); });
  const Tensor result = f();
  return elements;
}

TEST(Checkpoint, ComputesOnceMoreInBackward) {
  for (const Device device : test_devices()) {
    const Tensor x = rand({5, 5}, device).requires_grad_();
    const Tensor w = rand({5, 5}, device).requires_grad_();
    CountedCalls f;
    expect_identical([&] { return f(x, w).sum(); }, [&] { return checkpoint(f, x, w).sum(); },
                     {x, w});
    EXPECT_EQ(*f.calls, 3);
    EXPECT_EQ(saved_elements([&] { return checkpoint(f, x, w); }), 50);
    const NoGradGuard no_grad;
    EXPECT_FALSE(checkpoint(f, x, w).requires_grad());
  }
}

TEST(Checkpoint, RestoresRandomStatesOfModules) {
  for (const Device device : test_devices()) {
    nn::Sequential net = block(6);
    net->to(device);
    const Tensor x = rand({4, 6}, device).requires_grad_();
    std::vector<Tensor> leaves = net->parameters();
    leaves.push_back(x);
    expect_identical([&] { return net->forward(x).pow(2).sum(); },
                     [&] { return checkpoint(net, x).pow(2).sum(); }, leaves);
    manual_seed(3);
    const Tensor y = checkpoint(CheckpointOptions().preserve_rng_state(false), net, x);
    const Tensor state = default_generator(device).get_state();
    y.sum().backward();
    EXPECT_FALSE(default_generator(device).get_state().equal(state));
  }
}

TEST(Checkpoint, SavesTheRandomStatesOfExistingDevices) {
  EXPECT_EQ(utils::detail::RandomStates().count(), size_t(1 + cuda::device_count()));
}

TEST(Checkpoint, RestoresAutocast) {
  nn::Sequential net = block(6);
  const Tensor x = rand({4, 6}).requires_grad_();
  const auto under_autocast = [&](auto&& f) {
    const AutocastMode autocast(DeviceType::CPU, kBFloat16);
    return f().to(kFloat).pow(2).sum();
  };
  std::vector<Tensor> leaves = net->parameters();
  leaves.push_back(x);
  expect_identical(
      [&] { return under_autocast([&] { return net->forward(net->forward(x)); }); },
      [&] { return under_autocast([&] { return checkpoint(net, checkpoint(net, x)); }); }, leaves);
}

TEST(Checkpoint, TakesInputsOfAnyKind) {
  struct Scale {
    double by;
  };
  const Tensor a = rand({3}).requires_grad_(), b = rand({3}).requires_grad_();
  const auto f = [](const std::vector<Tensor>& list, std::optional<Tensor> none, Scale scale,
                    const std::string& op, std::tuple<Tensor, int> pair) {
    const Tensor sum = list[0].mul(list[1]).add(std::get<0>(pair).exp(), std::get<1>(pair));
    EXPECT_FALSE(none);
    return std::tuple(op == "mul" ? sum.mul(scale.by) : sum, sum.sin());
  };
  const auto result = [](const std::tuple<Tensor, Tensor>& both) {
    return std::get<0>(both).mul(std::get<1>(both)).sum();
  };
  const std::vector<Tensor> list{a, b};
  expect_identical(
      [&] {
        return result(f(list, {}, Scale{3}, "mul", {a, 2}));
      },
      [&] {
        return result(checkpoint(f, list, std::optional<Tensor>(), Scale{3}, std::string("mul"),
                                 std::tuple<Tensor, int>(a, 2)));
      },
      {a, b});
  Tensor seen;
  checkpoint([&](Tensor x) { seen = x.exp(); }, a);  // returns nothing
  EXPECT_TRUE(seen.requires_grad());
  const auto sum = [](TensorList all) { return all[0].mul(all[1]).exp().sum(); };
  expect_identical([&] { return sum(list); }, [&] { return checkpoint(sum, TensorList(list)); },
                   list);
}

/// Expects a checkpoint to find the tensor in the container wrap(tensor), from which `first` takes
/// it: gradients are those without a checkpoint, and a modified tensor is an error.
template <class Wrap, class First>
void expect_seen(const Wrap& wrap, const First& first) {
  const Tensor x = rand({3}).requires_grad_();
  const auto f = [&](const auto& input) { return (first(input) + 0).exp(); };
  expect_identical([&] { return f(wrap(x)).sum(); }, [&] { return checkpoint(f, wrap(x)).sum(); },
                   {x});
  const Tensor a = x * 1;
  const auto input = wrap(a);
  const Tensor y = checkpoint(f, input).sum();
  EXPECT_TRUE(first(input).is_same(a)) << "the caller's input has changed";
  a.add_(1);
  EXPECT_ERROR(y.backward(), "input 0 of a function called by utils::checkpoint");
}

TEST(Checkpoint, SeesTensorsInContainers) {
  using Map = std::map<std::string, Tensor>;
  using Dict = OrderedDict<std::string, Tensor>;
  expect_seen([](const Tensor& t) { return std::array<Tensor, 1>{t}; },
              [](const auto& array) { return array[0]; });
  expect_seen(
      [](const Tensor& t) {
        return Map{{"a", t}};
      },
      [](const Map& map) { return map.at("a"); });
  expect_seen(
      [](const Tensor& t) {
        return std::unordered_map<int, std::vector<Tensor>>{{1, {t}}};
      },
      [](const auto& map) { return map.at(1)[0]; });
  expect_seen(
      [](const Tensor& t) {
        return Dict({{"a", t}});
      },
      [](const Dict& dict) { return dict["a"]; });
  expect_seen(
      [](const Tensor& t) {
        return std::vector<std::pair<Tensor, int>>{{t, 1}};
      },
      [](const auto& list) { return list[0].first; });
  expect_seen(
      [](const Tensor& t) {
        return std::vector<std::optional<Tensor>>{t, {}};
      },
      [](const auto& list) { return *list[0]; });
  expect_seen([](const Tensor& t) { return IValue(t); },
              [](const IValue& value) { return value.toTensor(); });
  expect_seen([](const Tensor& t) { return IValue(std::vector<Tensor>{t}); },
              [](const IValue& value) { return value.toTensorVector()[0]; });
  expect_seen(
      [](const Tensor& t) {
        GenericDict dict;
        dict.insert("a", ivalue::Tuple::create(1, std::vector<IValue>{"b", t}));
        return IValue(dict);
      },
      [](const IValue& value) {
        const IValue list = value.toGenericDict().at("a").toTupleRef().elements()[1];
        return list.toList().get(1).toTensor();
      });
}

TEST(Checkpoint, CopiesListsOfNumbers) {
  const Tensor x = rand({6}).requires_grad_();
  std::vector<int64_t> sizes{2, 3};
  const auto f = [](const Tensor& t, IntArrayRef shape) { return t.exp().reshape(shape).sin(); };
  const Tensor y = checkpoint(f, x, IntArrayRef(sizes));
  sizes = {7, 7};
  y.sum().backward();
  EXPECT_TRUE(identical(x.grad(), autograd::grad({f(x, {2, 3}).sum()}, {x})[0]));
}

TEST(Checkpoint, Nests) {
  nn::Sequential inner = block(4), outer = block(4);
  const Tensor x = rand({3, 4}).requires_grad_();
  std::vector<Tensor> leaves = inner->parameters();
  for (const Tensor& param : outer->parameters()) leaves.push_back(param);
  leaves.push_back(x);
  const auto plain = [&](const Tensor& t) { return outer->forward(inner->forward(t)).tanh(); };
  const auto nested = [&](const Tensor& t) {
    return checkpoint(outer, checkpoint(inner, checkpoint(inner, t).sin())).tanh();
  };
  expect_identical([&] { return plain(inner->forward(x).sin()).sum(); },
                   [&] { return checkpoint(nested, x).sum(); }, leaves);
  EXPECT_EQ(saved_elements([&] { return checkpoint(nested, x); }), 12);
}

TEST(Checkpoint, TakesInputsThatWereModifiedBefore) {
  const Tensor x = rand({4}).requires_grad_();
  const auto modified = [](const Tensor& t) { return t.clone().mul_(2).add_(1); };
  const auto square = [](const Tensor& t) { return t * t; };
  const auto wanted = [&] { return square(modified(x)).sum(); };
  expect_identical(wanted, [&] { return checkpoint(square, modified(x)).sum(); }, {x});
  const auto nested = [&](const Tensor& t) { return checkpoint(square, modified(t)); };
  expect_identical(wanted, [&] { return checkpoint(nested, x).sum(); }, {x});
  const auto moved = [&] {
    const autograd::graph::save_on_cpu guard;
    return checkpoint(square, modified(x)).sum();
  };
  expect_identical(wanted, moved, {x});
}

TEST(Checkpoint, SupportsHigherOrdersAndRetainedGraphs) {
  const Tensor x = rand({4}, kDouble).requires_grad_();
  const auto f = [](const Tensor& t) { return t.exp().mul(t).tanh().pow(3); };
  const auto second = [&](const Tensor& y) {
    const Tensor g = autograd::grad({y.sum()}, {x}, {}, {}, /*create_graph=*/true)[0];
    return autograd::grad({g.pow(2).sum()}, {x})[0];
  };
  EXPECT_TRUE(identical(second(checkpoint(f, x)), second(f(x))));
  const auto doubly = [&](const Tensor& t) { return checkpoint(f, checkpoint(f, t)); };
  EXPECT_TRUE(identical(second(checkpoint(doubly, x)), second(f(f(x)))));
  const Tensor y = checkpoint(f, x).sum();
  y.backward({}, /*retain_graph=*/true);
  const Tensor once = x.grad().clone();
  y.backward();
  EXPECT_TRUE(identical(x.grad(), once.mul(2)));
  EXPECT_ERROR(y.backward(), "Trying to backward through the graph a second time");
}

TEST(Checkpoint, FreesValuesInRetainedGraphs) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU, whose allocator counts bytes";
  const Tensor x = rand({1 << 16}, kCUDA).requires_grad_();
  const auto chain = [](const Tensor& t) { return t.sin().cos().sin().cos().sin().cos(); };
  const auto peak = [&](bool retain_graph) {
    int calls = 0;
    const auto counted = [&](const Tensor& t) {
      ++calls;
      return chain(t);
    };
    Tensor y = x;
    for (int i = 0; i < 8; ++i) y = checkpoint(counted, y);
    const Tensor loss = y.sum();
    cuda::synchronize();
    cuda::reset_peak_memory_stats();
    const size_t before = cuda::memory_allocated();
    const Tensor gradient = autograd::grad({loss}, {x}, {}, retain_graph)[0];
    cuda::synchronize();
    EXPECT_EQ(calls, 16);
    return cuda::max_memory_allocated() - before;
  };
  EXPECT_LE(peak(true), peak(false) + x.nbytes());
}

TEST(Checkpoint, StopsEarly) {
  const Tensor x = rand({4}).requires_grad_();
  int ends = 0;
  const auto f = [&](const Tensor& t) {
    const Tensor y = t.exp().sin();
    const Tensor z = y.add(1);  // saves nothing
    ++ends;
    return z;
  };
  checkpoint(f, x).sum().backward();
  EXPECT_EQ(ends, 1);
  checkpoint(CheckpointOptions().early_stop(false), f, x).sum().backward();
  EXPECT_EQ(ends, 3);
  {
    const utils::set_checkpoint_early_stop all(false);
    checkpoint(f, x).sum().backward();
  }
  EXPECT_EQ(ends, 5);
}

TEST(Checkpoint, StopsFunctionsThatCatchEverything) {
  const Tensor x = rand({4}).requires_grad_();
  const auto f = [](const Tensor& t) {
    Tensor y = t.sin();
    try {
      y = y.exp();
    } catch (...) {
      y = y.cos();
    }
    return y;
  };
  expect_identical([&] { return f(x).sum(); }, [&] { return checkpoint(f, x).sum(); }, {x});
}

TEST(Checkpoint, AllowsBackwardInside) {
  const Tensor x = rand({4}).requires_grad_();
  const auto f = [](const Tensor& t) {
    const Tensor y = t.exp().mul(t);
    return autograd::grad({y.sum()}, {t}, {}, {}, /*create_graph=*/true)[0].mul(y).sum();
  };
  for (const bool early_stop : {true, false})
    expect_identical([&] { return f(x); },
                     [&] { return checkpoint(CheckpointOptions().early_stop(early_stop), f, x); },
                     {x});
}

TEST(Checkpoint, ServesSeveralThreads) {
  const Tensor x = rand({8, 8}).requires_grad_();
  const Tensor y = checkpoint(CheckpointOptions().preserve_rng_state(false), CountedCalls(),
                              checkpoint(CountedCalls(), x, x), x);
  const Tensor wanted = autograd::grad({y.sum()}, {x}, {}, /*retain_graph=*/true)[0];
  std::vector<Tensor> got(4);
  std::vector<std::thread> threads;
  for (Tensor& gradient : got)
    threads.emplace_back([&] { gradient = autograd::grad({y}, {x}, {ones({8, 8})}, true)[0]; });
  for (std::thread& thread : threads) thread.join();
  for (const Tensor& gradient : got) EXPECT_TRUE(identical(gradient, wanted));
}

/// Saves its input itself.
struct Cube : autograd::Function<Cube> {
  static Tensor forward(autograd::AutogradContext* context, const Tensor& x) {
    context->save_for_backward({x});
    return x.pow(3);
  }
  static variable_list backward(autograd::AutogradContext* context, variable_list grads) {
    const Tensor x = context->get_saved_variables()[0];
    return {grads[0].mul(x.mul(x)).mul(3)};
  }
};

TEST(Checkpoint, WorksWithCustomFunctionsAndViews) {
  const Tensor x = rand({4, 3}).requires_grad_();
  const auto f = [](const Tensor& t) {
    Tensor y = Cube::apply(t.t()).add(t.t());
    y[0].mul_(2);
    return y.relu_().sum();
  };
  expect_identical([&] { return f(x); }, [&] { return checkpoint(f, x); }, {x});
}

TEST(CheckpointSequential, DividesIntoSegments) {
  nn::Sequential net;
  for (int i = 0; i < 3; ++i) net->extend(*block(4));
  const Tensor x = rand({2, 4}).requires_grad_();
  std::vector<Tensor> leaves = net->parameters();
  leaves.push_back(x);
  for (const int64_t segments : {1, 2, 4, 15})
    expect_identical([&] { return net->forward(x).pow(2).sum(); },
                     [&] { return checkpoint_sequential(net, segments, x).pow(2).sum(); }, leaves);
  EXPECT_THROW(checkpoint_sequential(net, 16, x), ValueError);
  EXPECT_THROW(checkpoint_sequential(net, 0, x), ValueError);
  using Layer = std::function<Tensor(Tensor)>;
  const std::vector<Layer> functions{[](const Tensor& t) { return t.exp(); },
                                     [](const Tensor& t) { return t.sin(); },
                                     [](const Tensor& t) { return t.mul(t); }};
  expect_identical([&] { return x.exp().sin().pow(2).sum(); },
                   [&] { return checkpoint_sequential(functions, 3, x).sum(); }, {x});
}

TEST(SaveOnCpu, GivesTheSameGradients) {
  for (const Device device : test_devices()) {
    nn::Sequential net = block(6);
    net->to(device);
    const Tensor x = rand({4, 6}, device).requires_grad_();
    for (const bool pin : {false, device.is_cuda()})
      expect_identical([&] { return net->forward(x.t().t()).sin().sum(); },
                       [&] {
                         const autograd::graph::save_on_cpu guard(pin);
                         return net->forward(x.t().t()).sin().sum();
                       },
                       {x});
  }
}

TEST(SaveOnCpu, ReportsModifiedTensors) {
  const Tensor x = rand({3}).requires_grad_();
  Tensor y;
  {
    const autograd::graph::save_on_cpu guard;
    y = x.exp();
  }
  y.add_(1);
  EXPECT_ERROR(y.sum().backward(), "has been modified by an inplace operation");
}

}  // namespace
}  // namespace hearth::testing
