#include "core/operator_schema.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>

#include "hearth/error.h"

namespace hearth {

namespace {

/// A part of a schema. The kind is "ident", "number", "string_literal", "eof", the name of an
/// operator of several characters, or else the text itself.
struct SchemaToken {
  std::string_view kind;
  size_t begin = 0, end = 0;
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_keyword(std::string_view word) {
  return is_one_of(word, {"None",  "True",   "False", "NoneType", "if",     "else",     "elif",
                          "while", "for",    "in",    "def",      "return", "global",   "import",
                          "as",    "assert", "raise", "break",    "pass",   "continue", "and",
                          "or",    "not",    "is",    "del",      "with",   "class"});
}

/// Divides a schema into tokens.
class SchemaLexer {
 public:
  explicit SchemaLexer(const std::string& text) : text_(text) {}

  SchemaToken next() {
    const size_t spaces = position_;
    skip_spaces();
    const size_t begin = position_;
    const std::string_view skipped = std::string_view(text_).substr(spaces, begin - spaces);
    // Between parentheses, and before the schema, the end of a line is only a space.
    if (spaces > 0 && nesting_ == 0 && skipped.find('\n') != skipped.npos)
      return {"newline", begin, begin};
    if (begin == text_.size()) return {"eof", begin, begin};
    if (is_letter(text_[begin])) {
      const std::string_view word = take_while(is_letter_or_digit);
      return {is_keyword(word) ? word : "ident", begin, position_};
    }
    if (is_digit(text_[begin]) || (text_[begin] == '.' && is_digit(at(begin + 1))))
      return take_number();
    if (text_[begin] == '"' || text_[begin] == '\'') {
      const size_t end = text_.find(text_[begin], begin + 1);
      if (end != text_.npos) return take("string_literal", end + 1 - begin);
    }
    for (const auto& [symbol, kind] : {Symbol{"->", "arrow"}, {"...", "dots"}, {"==", "eq"}})
      if (rest().starts_with(symbol)) return take(kind, symbol.size());
    if (std::string_view("+-*/%=<>()[]{},.:?@!&|^~").find(text_[begin]) == std::string_view::npos)
      fail(detail::str("expected a valid token but found '", text_[spaces], "' here:\n"),
           {"", begin, begin + 1});
    nesting_ += is_one_of(rest().substr(0, 1), {"(", "["}) ? 1 : 0;
    nesting_ -= is_one_of(rest().substr(0, 1), {")", "]"}) ? 1 : 0;
    return take(rest().substr(0, 1), 1);
  }

  /// Throws a message with the schema and a mark below the token.
  [[noreturn]] void fail(const std::string& message, const SchemaToken& token) const {
    const bool is_marked = token.begin < token.end && token.end - token.begin < text_.size();
    if (!is_marked) detail::fail<Error>(message, text_);
    const size_t line_end = std::min(text_.find('\n', token.begin), text_.size());
    const size_t line = text_.rfind('\n', token.begin) + 1;  // 0 if there is none
    detail::fail<Error>(message, text_.substr(0, line_end), '\n',
                        std::string(token.begin - line, ' '),
                        std::string(token.end - token.begin, '~'), " <--- HERE\n",
                        text_.substr(std::min(line_end + 1, text_.size())));
  }
  std::string_view text_of(const SchemaToken& token) const {
    return std::string_view(text_).substr(token.begin, token.end - token.begin);
  }

 private:
  struct Symbol {
    std::string_view text, kind;
  };
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  static bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }

  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  std::string_view rest() const { return std::string_view(text_).substr(position_); }
  SchemaToken take(std::string_view kind, size_t size) {
    position_ += size;
    return {kind, position_ - size, position_};
  }
  template <class Test>
  std::string_view take_while(Test test) {
    const size_t begin = position_;
    while (position_ < text_.size() && test(text_[position_])) ++position_;
    return std::string_view(text_).substr(begin, position_ - begin);
  }
  /// Digits with a point, an exponent and the suffix of imaginary numbers, or hexadecimal digits.
  SchemaToken take_number() {
    const size_t begin = position_;
    if (rest().starts_with("0x")) {
      position_ += 2;
      take_while(is_letter_or_digit);
      return {"number", begin, position_};
    }
    take_while([](char c) { return is_digit(c) || c == '.'; });
    const bool has_sign = at(position_ + 1) == '+' || at(position_ + 1) == '-';
    if ((at(position_) | 0x20) == 'e' && is_digit(at(position_ + (has_sign ? 2 : 1)))) {
      position_ += has_sign ? 2 : 1;
      take_while(is_digit);
    }
    if (at(position_) == 'j') ++position_;
    return {"number", begin, position_};
  }
  /// Skips a comment, from # to the end of the line, too.
  void skip_spaces() {
    for (;;) {
      take_while([](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
      if (at(position_) != '#') return;
      take_while([](char c) { return c != '\n'; });
    }
  }

  const std::string& text_;
  size_t position_ = 0;
  int nesting_ = 0;
};

/// What the type of an argument permits as a default value.
struct SchemaType {
  enum class Kind {
    kNumber,    // a number, bool, string or None
    kConstant,  // the same, but no lists of them
    kNone,      // only None
    kString,
    kOther
  };
  Kind kind = Kind::kOther;
  bool is_list = false, is_sized = false, is_optional = false;
};

/// Checks the grammar of schemas.
class SchemaParser {
 public:
  explicit SchemaParser(const std::string& text)
      : text_(text), lexer_(text), token_(lexer_.next()), following_(lexer_.next()) {}

  OperatorDeclaration parse() {
    OperatorDeclaration declaration = name();
    if (is("(")) {
      declaration.signature = text_.substr(token_.begin);
      list([this] { argument(); });
      expect("arrow");
      if (is("("))
        list([this] { result(); });
      else
        result();
    }
    accept("newline");
    expect("eof");
    return declaration;
  }

 private:
  using Kind = SchemaType::Kind;

  bool is(std::string_view kind) const { return token_.kind == kind; }
  void advance() {
    token_ = following_;
    following_ = lexer_.next();
  }
  bool accept(std::string_view kind) {
    const bool found = is(kind);
    if (found) advance();
    return found;
  }
  std::string expect(std::string_view kind) {
    if (!is(kind))
      lexer_.fail(detail::str("expected ", kind, " but found '", token_.kind, "' here:\n"), token_);
    std::string text(lexer_.text_of(token_));
    if (kind != "eof") advance();
    return text;
  }
  [[noreturn]] void report(std::string_view message, const SchemaToken& token) const {
    lexer_.fail(detail::str('\n', message, ":\n"), token);
  }

  OperatorDeclaration name() {
    OperatorDeclaration result;
    result.name = expect("ident");
    if (accept(":")) {
      expect(":");
      result.name_space = result.name;
      result.name = expect("ident");
    }
    if (!accept(".")) return result;
    result.overload_name = expect("ident");
    HEARTH_CHECK(result.overload_name != "default" && !result.overload_name.starts_with("__"),
                 result.overload_name, " is not a legal overload name for aten operators");
    return result;
  }

  /// Items between commas.
  template <class Item>
  void items(Item item) {
    do {
      item();
    } while (accept(","));
  }
  /// Items in parentheses.
  template <class Item>
  void list(Item item) {
    expect("(");
    if (!is(")")) items(item);
    expect(")");
  }

  void argument() {
    if (is_variadic_) report("... must be the last element of the argument list", token_);
    if (accept("dots")) {
      is_variadic_ = true;
    } else if (accept("*")) {
      is_keyword_only_ = true;
    } else {
      const SchemaType type = argument_type();
      const std::string argument_name = expect("ident");
      const bool has_default = accept("=");
      if (has_default) default_value(type);
      const bool needs_default = has_default_ && !is_keyword_only_;
      HEARTH_CHECK(has_default || !needs_default || (type.is_list && !type.is_optional),
                   "Non-default positional argument follows default argument. Parameter ",
                   argument_name, " in ", text_);
      has_default_ |= has_default;
    }
  }
  void result() {
    if (accept("dots")) return;
    argument_type();
    accept("ident");
  }

  /// A type, or a list of a given size: int[2].
  SchemaType argument_type() {
    SchemaType result = type();
    if (accept("[")) {
      expect("number");
      expect("]");
      result.is_list = result.is_sized = true;
      result.is_optional = false;
      alias();
      if (accept("?")) result.is_optional = true;
    }
    return result;
  }
  SchemaType type() {
    SchemaType result{.kind = base_type()};
    for (;;) {
      if (accept("?")) {
        result.is_optional = true;
      } else if (is("[") && following_.kind == "]") {
        advance();
        advance();
        result.is_list = true;
        result.is_optional = false;
        alias();
      } else {
        return result;
      }
    }
  }
  Kind base_type() {
    if (is("(")) {
      list([this] { type(); });
      return Kind::kOther;
    }
    const SchemaToken token = token_;
    const std::string type_name =
        is("None") || is("NoneType") ? expect(token_.kind) : expect("ident");
    const Kind kind = kind_of(type_name, token);
    alias();
    return kind;
  }
  Kind kind_of(const std::string& type_name, const SchemaToken& token) {
    if (is_one_of(type_name, {"int", "float", "bool", "complex", "SymInt"})) return Kind::kNumber;
    if (is_one_of(type_name, {"str", "Scalar", "ScalarType", "Layout", "MemoryFormat"}))
      return Kind::kConstant;
    if (is_one_of(type_name, {"Tensor", "Generator"})) return Kind::kNone;
    if (type_name == "Device") return Kind::kString;
    if (is_one_of(type_name, {"Dict", "Union", "Future", "RRef", "Await"})) {
      parameters_of(type_name);
    } else if (type_name == "__torch__") {
      while (accept(".")) expect("ident");
    } else if (!is_one_of(type_name, {"None", "NoneType", "Any", "AnyClassType", "AnyEnumType",
                                      "Capsule", "Storage", "Stream", "QScheme", "Quantizer",
                                      "ConstQuantizerPtr", "SymBool"})) {
      refuse_type(type_name, token);
    }
    return Kind::kOther;
  }
  void parameters_of(const std::string& type_name) {
    expect("(");
    type();
    if (type_name == "Dict") {
      expect(",");
      type();
    }
    while (type_name == "Union" && accept(",")) type();
    expect(")");
  }
  [[noreturn]] void refuse_type(const std::string& type_name, const SchemaToken& token) const {
    if (type_name == "double")
      report(
          "Use `float` instead of `double` in an operator's schema string. `float` in schema "
          "corresponds to the double type in C++",
          token);
    if (type_name == "int64_t")
      report(
          "Use `SymInt` or `int` instead of `int64_t` in an operator's schema string. `SymInt` "
          "corresponds to c10::SymInt in C++ while `int` in schema corresponds to the int64_t type "
          "in C++.",
          token);
    report(
        "unknown type specifier. Common valid schema types include Tensor, SymInt, int, float, "
        "bool, Scalar; for a full list, please see "
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func ",
        token);
  }

  /// What a result shares with arguments: (a), (a!), (a -> *), (a|b).
  void alias() {
    if (!accept("(")) return;
    alias_set();
    accept("!");
    if (accept("arrow")) alias_set();
    expect(")");
  }
  void alias_set() {
    if (accept("*")) return;
    do {
      expect("ident");
    } while (accept("|"));
  }

  void default_value(const SchemaType& type) {
    if (type.is_optional) return constant();
    if (type.is_list) return list_value(type);
    switch (type.kind) {
      case Kind::kNone: expect("None"); break;
      case Kind::kString: expect("string_literal"); break;
      case Kind::kOther: report("unexpected type, file a bug report", token_);
      default: constant();
    }
  }
  void list_value(const SchemaType& type) {
    if (type.kind != Kind::kNumber)
      report("lists are only supported for float, int and complex types", token_);
    if (type.is_sized && !is("[")) return constant();
    expect("[");
    if (!is("]")) items([this] { constant(); });
    expect("]");
  }
  void constant() {
    if (accept("True") || accept("False") || accept("None") || accept("string_literal")) return;
    if (is("ident")) {
      const bool is_known = is_one_of(
          expect("ident"), {"float", "complex", "long", "strided", "Mean", "contiguous_format"});
      if (!is_known) report("invalid numeric default value", token_);
      return;
    }
    accept("-");
    expect("number");
  }

  const std::string& text_;
  SchemaLexer lexer_;
  SchemaToken token_, following_;
  bool has_default_ = false, is_keyword_only_ = false, is_variadic_ = false;
};

}  // namespace

OperatorDeclaration parse_declaration(const std::string& text) {
  return SchemaParser(text).parse();
}

}  // namespace hearth
