// A DCGAN: a network draws pictures until another cannot tell them from real ones. Writes dcgan.png
// with pictures of the generator.
//
//   dcgan          half of the pictures show a disc, after half a minute
//   dcgan quick    less training, for a first look
#include <hearth/vision.h>

#include <iostream>

#include "discs.h"

using namespace hearth;

namespace {

constexpr int64_t kNoise = 16, kChannels = 16, kBatch = 64;

/// Doubles the size of the picture.
nn::ConvTranspose2d up(int64_t in, int64_t out) {
  return nn::ConvTranspose2d(
      nn::ConvTranspose2dOptions(in, out, 4).stride(2).padding(1).bias(false));
}

/// Halves the size of the picture.
nn::Conv2d down(int64_t in, int64_t out) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, 4).stride(2).padding(1).bias(false));
}

/// Noise [N, kNoise, 1, 1] to pictures.
nn::Sequential new_generator() {
  return nn::Sequential(
      nn::ConvTranspose2d(nn::ConvTranspose2dOptions(kNoise, 2 * kChannels, 4).bias(false)),
      nn::BatchNorm2d(2 * kChannels), nn::ReLU(),                            // 4 x 4
      up(2 * kChannels, kChannels), nn::BatchNorm2d(kChannels), nn::ReLU(),  // 8 x 8
      up(kChannels, 1), nn::Sigmoid());                                      // 16 x 16
}

/// Pictures to a score [N, 1]: above 0 for real ones.
nn::Sequential new_discriminator() {
  return nn::Sequential(down(1, kChannels),
                        nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
                        down(kChannels, 2 * kChannels), nn::BatchNorm2d(2 * kChannels),
                        nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)), nn::Flatten(),
                        nn::Linear(2 * kChannels * 4 * 4, 1));
}

/// DCGAN's initial weights.
void initialize(nn::Module& module) {
  for (const auto& parameter : module.named_parameters())
    if (parameter.value().dim() == 4) nn::init::normal_(parameter.value(), 0, 0.02);
}

Tensor noise(int64_t count, Device device) { return randn({count, kNoise, 1, 1}).to(device); }

/// The binary cross entropy of the scores with one label for all pictures: 1 is real, 0 is drawn.
Tensor loss_of(const Tensor& scores, double label) {
  return binary_cross_entropy_with_logits(scores, full_like(scores, label));
}

void train(nn::Sequential& generator, nn::Sequential& discriminator, Device device, int64_t steps) {
  const auto options = optim::AdamOptions(2e-3).betas({0.5, 0.999});
  optim::Adam generator_optimizer(generator->parameters(), options),
      discriminator_optimizer(discriminator->parameters(), options);
  optim::LinearLR generator_schedule(generator_optimizer, 1.0, 0.05, steps),
      discriminator_schedule(discriminator_optimizer, 1.0, 0.05, steps);
  for (int64_t step = 0; step < steps; ++step) {
    const Tensor real = discs::draw(discs::random(kBatch, device));
    const Tensor drawn = generator->forward(noise(kBatch, device));
    discriminator_optimizer.zero_grad();
    // Labels of 0.9 keep the discriminator from becoming too sure.
    (loss_of(discriminator->forward(real), 0.9) +
     loss_of(discriminator->forward(drawn.detach()), 0))
        .backward();
    discriminator_optimizer.step();
    generator_optimizer.zero_grad();
    loss_of(discriminator->forward(drawn), 1).backward();
    generator_optimizer.step();
    generator_schedule.step();
    discriminator_schedule.step();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string(argv[1]) == "quick";
  manual_seed(0);
  const Device device = cuda::is_available() ? kCUDA : kCPU;
  nn::Sequential generator = new_generator(), discriminator = new_discriminator();
  for (nn::Sequential network : {generator, discriminator}) {
    initialize(*network);
    network->to(device);
  }
  train(generator, discriminator, device, quick ? 300 : 3000);

  const NoGradGuard no_grad;
  generator->eval();
  const Tensor pictures = generator->forward(noise(1000, device));
  std::cout << "discs: " << discs::share_of_discs(pictures) << '\n';
  // The spread of the discs' places and sizes shows that the pictures differ.
  const Tensor real = discs::draw(discs::random(1000, device));
  const auto spread = [](const Tensor& images) {
    return discs::fit(images).std(0).mean().item<double>();
  };
  std::cout << "spread: " << spread(pictures) << ", of real pictures " << spread(real) << '\n';
  vision::utils::save_image(pictures.slice(0, 0, 64).cpu(), "dcgan.png",
                            vision::utils::GridOptions().nrow(16).pad_value(0.5));
}
