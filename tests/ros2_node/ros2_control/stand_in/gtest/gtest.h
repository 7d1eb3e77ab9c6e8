// The part of GoogleTest that the tests of a written package use, with a main function.
#pragma once
#include <cstdio>

namespace testing {
inline int failures = 0, count = 0;
class Test {};
template <class... All>
struct Types {
  template <template <class> class Each>
  static void run() {
    (run_one<Each<All>>(), ...);
  }
  template <class One>
  static void run_one() {
    ++count;
    One().body();
  }
};
using Run = void (*)();
inline Run tests[100];
inline int test_count = 0;
inline bool add(Run run) {
  tests[test_count++] = run;
  return true;
}
inline bool expect(bool holds, const char *file, int line) {
  if (!holds) std::printf("%s:%d\n", file, line), ++failures;
  return holds;
}
}  // namespace testing

#define EXPECT_TRUE(x) testing::expect(static_cast<bool>(x), __FILE__, __LINE__)
#define EXPECT_EQ(a, b) EXPECT_TRUE((a) == (b))
#define EXPECT_LE(a, b) EXPECT_TRUE((a) <= (b))
#define ASSERT_TRUE(x) \
  if (!EXPECT_TRUE(x)) return
#define TYPED_TEST_SUITE(Suite, All) using Suite##Types = All
#define TYPED_TEST(Suite, Name)                                                               \
  template <class T>                                                                          \
  struct Suite##Name : Suite<T> {                                                             \
    void body();                                                                              \
  };                                                                                          \
  [[maybe_unused]] static const bool is_added##Suite##Name =                                  \
      testing::add([] { Suite##Types::template run<Suite##Name>(); });                        \
  template <class T>                                                                          \
  void Suite##Name<T>::body()

int main() {
  for (int k = 0; k < testing::test_count; ++k) testing::tests[k]();
  std::printf("%d tests, %d failures\n", testing::count, testing::failures);
  return testing::failures;
}
