// A variational autoencoder: encodes pictures as a few latent numbers, and decodes random numbers
// into new pictures. Writes vae.png: pictures, their reconstructions, and new pictures.
//
//   vae          three fifths of the new pictures show a disc, after a quarter of a minute
//   vae quick    less training, for a first look
#include <hearth/vision.h>

#include <iostream>

#include "discs.h"

using namespace hearth;

namespace {

constexpr int64_t kPixels = discs::kSize * discs::kSize, kLatent = 3;

struct VAEImpl : nn::Module {
  VAEImpl()
      : encoder(register_module(
            "encoder",
            nn::Sequential(nn::Flatten(), nn::Linear(kPixels, 256), nn::ReLU(),
                           nn::Linear(256, 128), nn::ReLU(), nn::Linear(128, 2 * kLatent)))),
        decoder(register_module(
            "decoder", nn::Sequential(nn::Linear(kLatent, 128), nn::ReLU(), nn::Linear(128, 256),
                                      nn::ReLU(), nn::Linear(256, kPixels)))) {}

  /// The mean and the logarithm of the variance of a picture's latent numbers.
  std::pair<Tensor, Tensor> encode(const Tensor& pictures) {
    const std::vector<Tensor> parts = encoder->forward(pictures).chunk(2, 1);
    return {parts[0], parts[1]};
  }
  /// The logits of the pixels of pictures with these latent numbers; sigmoid gives the brightness.
  Tensor decode(const Tensor& numbers) {
    return decoder->forward(numbers).view({-1, 1, discs::kSize, discs::kSize});
  }

  nn::Sequential encoder, decoder;
};
HEARTH_MODULE(VAE);

/// The negative evidence lower bound of a picture, in nats: the reconstruction loss plus the KL
/// divergence of the latent numbers from N(0, 1).
Tensor loss_of(VAE& vae, const Tensor& pictures) {
  const auto [mean, log_variance] = vae->encode(pictures);
  const Tensor numbers = mean + randn_like(mean) * (log_variance / 2).exp();
  const Tensor pixels =
      binary_cross_entropy_with_logits(vae->decode(numbers), pictures, {}, {}, Reduction::Sum);
  const Tensor divergence = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum();
  return (pixels + divergence) / pictures.size(0);
}

/// The entropy of the pixels given their brightness, which is the least reconstruction loss.
double entropy_of(const Tensor& pictures) {
  return binary_cross_entropy(pictures, pictures, {}, Reduction::Sum).item<double>() /
         double(pictures.size(0));
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string(argv[1]) == "quick";
  const int64_t steps = quick ? 500 : 6000;
  manual_seed(0);
  const Device device = cuda::is_available() ? kCUDA : kCPU;
  VAE vae;
  vae->to(device);
  optim::Adam optimizer(vae->parameters(), optim::AdamOptions(2e-3));
  optim::CosineAnnealingLR schedule(optimizer, steps);
  for (int64_t step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    loss_of(vae, discs::draw(discs::random(64, device))).backward();
    optimizer.step();
    schedule.step();
  }

  const NoGradGuard no_grad;
  const Tensor test = discs::draw(discs::random(1000, device));
  std::cout << "nats per picture: " << loss_of(vae, test).item<double>() << ", at least "
            << entropy_of(test) << '\n';
  const Tensor drawn = vae->decode(randn({1000, kLatent}).to(device)).sigmoid();
  std::cout << "discs among new pictures: " << discs::share_of_discs(drawn) << '\n';
  const Tensor originals = test.slice(0, 0, 16),
               reconstructions = vae->decode(vae->encode(originals).first).sigmoid();
  vision::utils::save_image(cat({originals, reconstructions, drawn.slice(0, 0, 32)}).cpu(),
                            "vae.png", vision::utils::GridOptions().nrow(16).pad_value(0.5));
}
