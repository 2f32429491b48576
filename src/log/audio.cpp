#include <algorithm>

#include "log/events.h"
#include "log/pictures.h"

namespace hearth::utils::tensorboard::detail {

namespace {

constexpr int kSampleBytes = 2;

void append_little_endian(std::string& out, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

/// A sample in the range of 16-bit integers, computed in T.
template <class T>
int16_t scaled(T sample) {
  if (!(sample == sample)) return 0;  // NaN
  return static_cast<int16_t>(std::clamp(sample, T(-1), T(1)) * T(32767));
}

/// A WAV file of one channel with 16-bit samples.
template <class T>
std::string wav_file(const std::vector<T>& samples, uint32_t sample_rate) {
  const auto data_bytes = static_cast<uint32_t>(samples.size() * kSampleBytes);
  std::string out = "RIFF";
  append_little_endian(out, 36 + data_bytes, 4);  // bytes that follow
  out += "WAVEfmt ";
  append_little_endian(out, 16, 4);  // bytes of the format
  append_little_endian(out, 1, 2);   // integers
  append_little_endian(out, 1, 2);   // channels
  append_little_endian(out, sample_rate, 4);
  append_little_endian(out, sample_rate * kSampleBytes, 4);  // bytes per second
  append_little_endian(out, kSampleBytes, 2);                // bytes of one sample per channel
  append_little_endian(out, 8 * kSampleBytes, 2);            // bits per sample
  out += "data";
  append_little_endian(out, data_bytes, 4);
  for (const T sample : samples)
    append_little_endian(out, static_cast<uint32_t>(scaled(sample)), kSampleBytes);
  return out;
}

}  // namespace

Message audio_message(const std::string& tag, const Tensor& sound, int64_t sample_rate) {
  constexpr int kAudio = 6;  // of Summary.Value
  const auto rate = static_cast<uint32_t>(sample_rate);
  const std::string file = sound.scalar_type() == kDouble ? wav_file(elements<double>(sound), rate)
                                                          : wav_file(elements<float>(sound), rate);
  return tagged(tag).message(kAudio, Message()
                                         .real32(1, static_cast<float>(sample_rate))
                                         .integer(2, 1)  // channels
                                         .integer(3, sound.numel())
                                         .bytes(4, file)
                                         .bytes(5, "audio/wav"));
}

}  // namespace hearth::utils::tensorboard::detail
