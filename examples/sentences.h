// Sentences such as "the tall dogs see a red cat.", an endless text whose entropy is known.
#pragma once

#include <hearth/hearth.h>

#include <array>
#include <sstream>
#include <string>
#include <vector>

namespace sentences {

using namespace hearth;
using Words = std::array<const char*, 8>;

inline constexpr Words kAdjectives{"tall",  "young", "small", "big",
                                   "quiet", "red",   "happy", "slow"};
inline constexpr Words kNouns{"dog", "cat", "bird", "teacher", "robot", "king", "farmer", "horse"};
inline constexpr Words kVerbs{"see", "hear", "follow", "help", "know", "like", "find", "visit"};

/// The sentence of six random choices: singular or plural, and five words. The verb agrees with the
/// first noun: "the dog sees", "the dogs see".
inline std::string sentence(bool plural, const std::array<size_t, 5>& words) {
  return std::string("the ") + kAdjectives[words[0]] + " " + kNouns[words[1]] +
         (plural ? "s " : " ") + kVerbs[words[2]] + (plural ? "" : "s") + " a " +
         kAdjectives[words[3]] + " " + kNouns[words[4]] + ".\n";
}

/// This many random sentences, drawn from the default generator.
inline std::string text(int64_t count) {
  const Tensor words = randint(8, {count, 5}), plurals = randint(2, {count});
  std::string result;
  for (int64_t i = 0; i < count; ++i) {
    std::array<size_t, 5> choices;
    for (int64_t j = 0; j < 5; ++j) choices[size_t(j)] = size_t(words[i][j].item<int64_t>());
    result += sentence(plurals[i].item<int64_t>() == 1, choices);
  }
  return result;
}

/// The entropy in bits per character, which no model can fall below: 16 bits choose a sentence.
inline double entropy() {
  const auto mean_length = [](const Words& words) {
    double sum = 0;
    for (const char* word : words) sum += double(std::string(word).size());
    return sum / double(words.size());
  };
  const double other_characters = double(std::string("the    a  .\n").size() + 1);  // one "s"
  return 16 / (2 * mean_length(kAdjectives) + 2 * mean_length(kNouns) + mean_length(kVerbs) +
               other_characters);
}

/// Whether the word is one of the list followed by `ending`.
inline bool contains(const Words& words, const std::string& word, const char* ending = "") {
  for (const char* known : words)
    if (known + std::string(ending) == word) return true;
  return false;
}

/// Whether a line is one of the 65,536 sentences.
inline bool is_sentence(const std::string& line) {
  std::istringstream stream(line);
  std::array<std::string, 7> w;
  for (std::string& word : w) stream >> word;
  const bool agrees = (contains(kNouns, w[2]) && contains(kVerbs, w[3], "s")) ||
                      (contains(kNouns, w[2], "s") && contains(kVerbs, w[3]));
  return agrees && w[0] == "the" && w[4] == "a" && contains(kAdjectives, w[1]) &&
         contains(kAdjectives, w[5]) && contains(kNouns, w[6], ".") && stream.peek() == EOF;
}

/// The characters as numbers below 128.
inline Tensor codes(const std::string& text) {
  return tensor(std::vector<int64_t>(text.begin(), text.end()));
}

inline std::string text_of(const Tensor& codes) {
  std::string text;
  for (const Tensor& code : codes.cpu().unbind()) text += char(code.item<int64_t>());
  return text;
}

/// Random windows of a text's codes: [count, length].
inline Tensor windows(const Tensor& codes, int64_t count, int64_t length) {
  const Tensor starts = randint(codes.numel() - length + 1, {count}, codes.options());
  return codes.unfold(0, length, 1).index_select(0, starts);
}

}  // namespace sentences
