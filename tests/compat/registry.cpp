#include <c10/util/Registry.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/support/throws.h"

namespace {

struct Shape {
  explicit Shape(int size) : size_(size) {}
  virtual ~Shape() = default;
  virtual int area() const = 0;
  int size_;
};
struct Square : Shape {
  using Shape::Shape;
  int area() const override { return size_ * size_; }
};
struct Line : Shape {
  using Shape::Shape;
  int area() const override { return 0; }
};

C10_DECLARE_REGISTRY(ShapeRegistry, Shape, int);
C10_DEFINE_REGISTRY(ShapeRegistry, Shape, int)
C10_REGISTER_CLASS(ShapeRegistry, Square, Square)
C10_REGISTER_CREATOR(ShapeRegistry, Big,
                     [](int size) { return std::unique_ptr<Shape>(new Square(10 * size)); })

C10_DECLARE_TYPED_REGISTRY(Numbered, int, Shape, std::shared_ptr, int);
C10_DEFINE_TYPED_REGISTRY_WITHOUT_WARNING(Numbered, int, Shape, std::shared_ptr, int)
C10_REGISTER_TYPED_CLASS_WITH_PRIORITY(Numbered, 1, c10::REGISTRY_PREFERRED, Square)
C10_REGISTER_TYPED_CLASS(Numbered, 1, Line)

}  // namespace

TEST(Registry, CreatesObjectsByName) {
  EXPECT_EQ(ShapeRegistry()->Create("Square", 3)->area(), 9);
  EXPECT_EQ(ShapeRegistry()->Create("Big", 3)->area(), 900);
  EXPECT_EQ(ShapeRegistry()->Create("Circle", 3), nullptr);
  EXPECT_TRUE(ShapeRegistry()->Has("Big"));
  EXPECT_EQ(ShapeRegistry()->Keys().size(), 2U);
  EXPECT_NE(std::string(ShapeRegistry()->HelpMessage("Square")).find("Square"), std::string::npos);
}

TEST(Registry, PrefersHigherPriorities) {
  EXPECT_EQ(Numbered()->Create(1, 3)->area(), 9);
  Numbered()->SetTerminate(false);
  EXPECT_ERROR(
      Numbered()->Register(
          1, [](int size) { return std::make_shared<Line>(size); }, c10::REGISTRY_PREFERRED),
      "Key already registered with the same priority: [key type printing not supported]");
}
