#include "data/csv_numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace hearth::data {

namespace {

bool is_blank(char character) { return character == ' ' || character == '\t'; }
bool is_digit(char character) { return character >= '0' && character <= '9'; }

/// Removes blanks at both ends and a plus sign, neither of which std::from_chars reads.
std::string_view readable_part(std::string_view field) {
  while (!field.empty() && is_blank(field.front())) field.remove_prefix(1);
  while (!field.empty() && is_blank(field.back())) field.remove_suffix(1);
  const bool has_plus = field.size() > 1 && field[0] == '+' && field[1] != '-' && field[1] != '+';
  return has_plus ? field.substr(1) : field;
}

/// Whether a decimal number out of double's range is too large, rather than too close to 0.
bool is_large(std::string_view digits) {
  const size_t exponent_mark = std::min(digits.find_first_of("eE"), digits.size());
  const std::string_view mantissa = digits.substr(0, exponent_mark);
  const size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  const auto point = int64_t(std::min(mantissa.find('.'), mantissa.size()));
  std::string_view text = digits.substr(std::min(exponent_mark + 1, digits.size()));
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t exponent = 0;
  const auto end = text.data() + text.size();
  if (std::from_chars(text.data(), end, exponent).ec == std::errc::result_out_of_range)
    return text[0] != '-';
  const int64_t digits_to_point = point - int64_t(first);  // from the first one that is not 0
  return exponent > -digits_to_point;
}

template <class T>
Parsed parse(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || stopped != end) return Parsed::kNotANumber;
  return error == std::errc() ? Parsed::kYes : Parsed::kOutOfRange;
}

}  // namespace

Parsed parse_number(std::string_view field, double& value) {
  const std::string_view text = readable_part(field);
  const Parsed result = parse(text, value);
  const bool is_negative = text.starts_with('-');
  const std::string_view digits = text.substr(is_negative ? 1 : 0);
  // std::from_chars also reads "nan(…)".
  if (result == Parsed::kYes && text.ends_with(')')) return Parsed::kNotANumber;
  // Some versions of std::from_chars read a number that is too large as infinity.
  if (result == Parsed::kYes && std::isinf(value) && (is_digit(digits[0]) || digits[0] == '.'))
    return Parsed::kOutOfRange;
  if (result != Parsed::kOutOfRange || is_large(digits)) return result;
  value = is_negative ? -0.0 : 0.0;
  return Parsed::kYes;
}

Parsed parse_integer(std::string_view field, int64_t& value) {
  return parse(readable_part(field), value);
}

}  // namespace hearth::data
