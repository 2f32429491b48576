// ctc_loss, against a sum over all alignments.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/reduction.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/large.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using Labels = std::vector<int64_t>;
using Lengths = std::vector<int64_t>;

/// The labels of an alignment, without repetitions and then without blanks.
Labels labels_of(const Labels& alignment, int64_t blank) {
  Labels labels;
  for (size_t t = 0; t < alignment.size(); ++t)
    if (alignment[t] != blank && (t == 0 || alignment[t] != alignment[t - 1]))
      labels.push_back(alignment[t]);
  return labels;
}

/// -log of the sum of the probabilities of all alignments of sequence n that have the target's
/// labels.
double loss_of(const Array& log_probs, int64_t n, int64_t length, const Labels& target,
               int64_t blank) {
  const int64_t classes = log_probs.sizes[2];
  double total = 0;
  for (int64_t code = 0; code < int64_t(std::pow(classes, length)); ++code) {
    Labels alignment;
    double sum = 0;
    for (int64_t t = 0, rest = code; t < length; ++t, rest /= classes) {
      alignment.push_back(rest % classes);
      sum += at(log_probs, {t, n, rest % classes});
    }
    if (labels_of(alignment, blank) == target) total += std::exp(sum);
  }
  return -std::log(total);
}

struct Sequences {
  std::vector<Labels> targets;
  Lengths lengths;  // of the inputs
  int64_t blank;

  Lengths target_lengths() const {
    Lengths result;
    for (const Labels& t : targets) result.push_back(int64_t(t.size()));
    return result;
  }
  Tensor joined() const {
    Labels all;
    for (const Labels& t : targets) all.insert(all.end(), t.begin(), t.end());
    return tensor(all);
  }
  Tensor padded() const {
    const Tensor result = full({int64_t(targets.size()), 4}, 1, kInt);
    for (size_t n = 0; n < targets.size(); ++n)
      for (size_t s = 0; s < targets[n].size(); ++s)
        result.select(0, int64_t(n)).select(0, int64_t(s)).fill_(targets[n][s]);
    return result;
  }
};

/// The losses of log_softmax(in[0]): the derivative of ctc_loss assumes normalised probabilities.
Row ctc_row(std::string name, Sequences sequences, bool padded) {
  Row row;
  row.name = "ctc_loss_" + std::move(name);
  row.covers = {"ctc_loss", "_ctc_loss", "_ctc_loss_backward"};
  row.cases = {{{{5, int64_t(sequences.targets.size()), 3}}}};
  row.dtypes = dtypes::kFloatAndDouble;
  row.orders = 1;
  row.call = [sequences, padded](const Tensors& in) {
    const Tensor log_probs = in[0].log_softmax(2);
    const Tensor targets = (padded ? sequences.padded() : sequences.joined()).to(in[0].device());
    const auto loss = [&](int64_t reduction) {
      return ctc_loss(log_probs, targets, sequences.lengths, sequences.target_lengths(),
                      sequences.blank, reduction);
    };
    return Tensors{loss(Reduction::None), loss(Reduction::Mean), loss(Reduction::Sum)};
  };
  row.reference = [sequences](const Arrays& in) {
    Array logs = in[0];
    for (size_t i = 0; i < logs.values.size(); i += 3) {
      double sum = 0;
      for (size_t c = 0; c < 3; ++c) sum += std::exp(in[0].values[i + c]);
      for (size_t c = 0; c < 3; ++c) logs.values[i + c] -= std::log(sum);
    }
    double sum = 0, mean = 0;
    const int64_t batch = int64_t(sequences.targets.size());
    const Array losses = build({batch}, [&](const Position& p) {
      const size_t n = size_t(p[0]);
      return loss_of(logs, p[0], sequences.lengths[n], sequences.targets[n], sequences.blank);
    });
    for (size_t n = 0; n < sequences.targets.size(); ++n) {
      sum += losses.values[n];
      mean += losses.values[n] / std::fmax(double(sequences.targets[n].size()), 1) / double(batch);
    }
    return Arrays{losses, {{}, {mean}}, {{}, {sum}}};
  };
  row.slack = 10;
  row.gradient_slack = 4;
  return row;
}

const Sequences kRepeated{{{1, 2}, {1, 1}, {}}, {5, 4, 3}, 0};
const Sequences kOtherBlank{{{0, 1, 0}, {1}}, {5, 1}, 2};

const Tensor kScores = zeros({5, 2, 4}), kTargets = ones({2, 3}, kLong);

Row refusing_ctc_loss_row() {
  Row row = ctc_row("joined", kRepeated, false);
  const auto refusal = [](Tensor x, Tensor y, Lengths input_lengths, Lengths target_lengths,
                          std::string text, int64_t blank = 0) {
    return Refusal{[=] { ctc_loss(x, y, input_lengths, target_lengths, blank); }, std::move(text)};
  };
  const Tensor joined = ones({4}, kLong);
  row.refusals = {
      refusal(kScores, kTargets, {5}, {2, 3}, "input_lengths must be of size batch_size"),
      refusal(kScores, kTargets, {5, 4}, {2}, "target_lengths must be of size batch_size"),
      refusal(kScores, kTargets, {6, 4}, {2, 3},
              "Expected input_lengths to have value at most 5, but got value 6 (while checking "
              "arguments for ctc_loss_allocate_outputs)"),
      refusal(kScores, kTargets, {-1, 4}, {2, 3},
              "Expected input_lengths to have value at least 0, but got value -1"),
      refusal(kScores, kTargets, {5, 4}, {-1, 3},
              "Expected target_lengths to have value at least 0, but got value -1"),
      refusal(kScores, kTargets, {5, 4}, {2, 4},
              "Expected tensor to have size at least 4 at dimension 1, but got size 3 for argument "
              "#2 'targets'"),
      refusal(kScores, joined, {5, 4}, {2, 3},
              "Expected tensor to have size 5 at dimension 0, but got size 4 for argument #2"),
      refusal(kScores, kTargets, {5, 4}, {2, 3}, "blank must be in label range", 4),
      refusal(kScores, kTargets, {5, 4}, {2, 3}, "blank must be in label range", -1),
      refusal(kScores.to(kHalf), kTargets, {5, 4}, {2, 3},
              "\"ctc_loss_cpu\" not implemented for 'Half'"),
      refusal(zeros({5, 0, 4}), kTargets, {}, {}, "log_probs tensor must not be empty"),
      refusal(kScores, kTargets.unsqueeze(0), {5, 4}, {2, 3},
              "Expected 1 to 2 dimensions, but got 3-dimensional tensor for argument #2 'targets'"),
      {[] { ctc_loss(kScores, kTargets, ones({2}), ones({2}, kLong)); },
       "input_lengths must be integral"},
      {[] { ctc_loss(kScores, kTargets, ones({2}, kLong), ones({2})); },
       "target_lengths must be integral"}};
  for (const Device device : devices())
    row.refusals.push_back(refusal_on(
        device,
        [](Device where) {
          ctc_loss(kScores.to(where), full({2, 3}, 7, kLong).to(where), {5, 4}, {2, 3});
        },
        "Target 7 is out of bounds."));
  return row;
}

/// The forward-backward algorithm for the labels 1, 2, 1, …, with probabilities, not logarithms.
struct Chain {
  static constexpr int64_t kTimes = 12, kLabels = 6, kClasses = 5, kStates = 2 * kLabels + 1;

  /// For the scores of sequence n of a batch.
  Chain(const Large& scores, int64_t batch, int64_t n) : forward(kTimes * kStates) {
    for (int64_t t = 0; t < kTimes; ++t) {
      const int64_t first = (t * batch + n) * kClasses;
      double sum = 0;
      for (int64_t c = 0; c < kClasses; ++c) sum += std::exp(scores[first + c]);
      for (int64_t c = 0; c < kClasses; ++c)
        probabilities.push_back(std::exp(scores[first + c]) / sum);
    }
    for (int64_t t = 0; t < kTimes; ++t)
      for (int64_t s = 0; s < kStates; ++s) accumulate(forward, t, s, t - 1, 1);
    for (int64_t t = kTimes; t-- > 0;)
      for (int64_t s = 0; s < kStates; ++s) accumulate(backward, t, s, t + 1, -1);
  }

  /// Odd states are labels, even ones the blanks around them.
  static int64_t label(int64_t state) { return state % 2 ? (state / 2) % 2 + 1 : 0; }
  double p(int64_t t, int64_t label) const { return probabilities[size_t(t * kClasses + label)]; }

  /// Sets the probability to be in state s at time t, coming from the states at time `previous`.
  /// If `previous` is outside the sequence, paths begin at time t. `step` is 1 in the forward
  /// table, -1 in the backward one.
  void accumulate(Numbers& table, int64_t t, int64_t s, int64_t previous, int step) {
    const bool begins = previous < 0 || previous >= kTimes;
    double sum = begins ? double(step > 0 ? s < 2 : s >= kStates - 2) : 0;
    for (int64_t k = 0; !begins && k < 3; ++k) {
      const int64_t source = s - k * step;
      // A path may skip a state only if that is a blank between different labels.
      const bool is_forbidden = k == 2 && (s % 2 == 0 || label(s) == label(source));
      if (source >= 0 && source < kStates && !is_forbidden)
        sum += table[size_t(previous * kStates + source)];
    }
    table[size_t(t * kStates + s)] = sum * p(t, label(s));
  }

  double total() const {
    return forward[size_t(kTimes * kStates - 1)] + forward[size_t(kTimes * kStates - 2)];
  }
  /// The derivative of the loss with respect to the score of class c at time t.
  double gradient(int64_t t, int64_t c) const {
    double posterior = 0;
    for (int64_t s = 0; s < kStates; ++s)
      if (label(s) == c)
        posterior += forward[size_t(t * kStates + s)] * backward[size_t(t * kStates + s)] /
                     p(t, c) / total();
    return p(t, c) - posterior;
  }

  Numbers probabilities, forward, backward = forward;
};

/// More sequences than threads, with alternating labels as targets.
LargeCase long_sequences(ScalarType dtype) {
  constexpr int64_t batch = 40, times = Chain::kTimes, labels = Chain::kLabels,
                    classes = Chain::kClasses;
  const Large x = large({times, batch, classes}, 41);
  Array losses{{batch}, {}}, grad{x.sizes, Numbers(x.values.size())};
  for (int64_t n = 0; n < batch; ++n) {
    const Chain chain(x, batch, n);
    losses.values.push_back(-std::log(chain.total()));
    for (int64_t t = 0; t < times; ++t)
      for (int64_t c = 0; c < classes; ++c)
        grad.values[size_t((t * batch + n) * classes + c)] = chain.gradient(t, c);
  }
  const Tensor target = arange(batch * labels, kLong).remainder(2).add(1).reshape({batch, labels});
  const Tensor input = x.tensor(dtype), gradient = ones({batch}, dtype);
  const auto call = [=](const Tensors& t) {
    return ctc_loss(t[0].log_softmax(2), target, full({batch}, times, kLong),
                    full({batch}, labels, kLong), 0, Reduction::None);
  };
  return {[=] { return with_gradients(call, {input}, gradient); }, {losses, grad}};
}

const Register registered_ctc_loss[] = {Register(refusing_ctc_loss_row()),
                                        Register(ctc_row("padded", kRepeated, true)),
                                        Register(ctc_row("other_blank", kOtherBlank, false))};
const RegisterLarge registered_large_ctc_loss(
    {"ctc", {"CtcLoss", "CtcLossBackward"}, long_sequences, 64});

Tensor log_probs(int64_t times) {
  return large({times, 2, 4}, 5).tensor(kDouble).log_softmax(2).requires_grad_();
}

TEST(CtcLoss, InfiniteLossesAndTheirGradients) {
  const Tensor x = log_probs(5);
  const Lengths input_lengths{5, 2},
      target_lengths{2, 3};  // the second input is too short for its targets
  EXPECT_EQ(
      ctc_loss(x, kTargets, input_lengths, target_lengths, 0, Reduction::None)[1].item<double>(),
      kInf);
  ctc_loss(x, kTargets, input_lengths, target_lengths, 0, Reduction::Sum, false).backward();
  EXPECT_TRUE(x.grad().select(1, 1).slice(0, 0, 2).isnan().all().item<bool>());
  EXPECT_EQ(x.grad().select(1, 1).slice(0, 2).abs().sum().item<double>(), 0);
  x.mutable_grad() = Tensor();
  const Tensor losses =
      ctc_loss(x, kTargets, input_lengths, target_lengths, 0, Reduction::None, true);
  EXPECT_EQ(losses[1].item<double>(), 0);
  losses.sum().backward();
  EXPECT_EQ(x.grad().select(1, 1).abs().sum().item<double>(), 0);
  EXPECT_GT(x.grad().select(1, 0).abs().sum().item<double>(), 0);
}

TEST(CtcLoss, EmptySequences) {
  const Tensor x = log_probs(5), none = zeros({0}, kLong);
  const Tensor losses = ctc_loss(x, none, {5, 0}, {0, 0}, 3, Reduction::None);
  EXPECT_NEAR(losses[0].item<double>(), -x.select(1, 0).select(1, 3).sum().item<double>(), 1e-12);
  EXPECT_EQ(losses[1].item<double>(), 0);
  EXPECT_EQ(ctc_loss(x, ones({2, 1}, kLong), {5, 0}, {0, 1}, 0, Reduction::None)[1].item<double>(),
            kInf);
}

TEST(CtcLoss, WithoutBatchAndInOtherLayouts) {
  const Tensor x = log_probs(5), y = arange(1, 5, kLong).remainder(3).add(1).view({2, 2});
  const Tensor input_lengths = full({2}, 5, kInt), target_lengths = full({2}, 2, kInt);
  const Tensor losses = ctc_loss(x, y, input_lengths, target_lengths, 0, Reduction::None);
  const Tensor unbatched = ctc_loss(x.select(1, 0), y.select(0, 0), full({1}, 5, kLong),
                                    full({1}, 2, kLong), 0, Reduction::None);
  EXPECT_EQ(unbatched.dim(), 0);
  EXPECT_EQ(unbatched.item<double>(), losses[0].item<double>());
  const Tensor moved = x.permute({2, 0, 1}).contiguous().permute({1, 2, 0});
  EXPECT_TRUE(
      ctc_loss(moved, y.t().contiguous().t(), input_lengths, target_lengths, 0, Reduction::None)
          .equal(losses));
}

TEST(CtcLoss, SecondDerivativesAreRefused) {
  const Tensor x = log_probs(5);
  const Tensor loss = ctc_loss(x, kTargets, {5, 5}, {1, 1});
  const Tensor grad = autograd::grad({loss}, {x}, {}, true, /*create_graph=*/true)[0];
  EXPECT_TRUE(grad.equal(autograd::grad({loss}, {x})[0]));
  EXPECT_ERROR(grad.sum().backward(), "derivative for _ctc_loss_backward is not implemented");
}

}  // namespace
}  // namespace hearth::testing
