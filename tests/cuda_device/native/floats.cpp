// Arithmetic on float32 and float64. Approximate instructions are computed as exactly as the host can.
#include <cfenv>
#include <cmath>
#include <limits>

#include "lane_operations.h"
#include "ptx_text.h"
#include "translator.h"

namespace emulated {

namespace {

struct Add { template <class T> static T of(T a, T b) { return a + b; } };
struct Subtract { template <class T> static T of(T a, T b) { return a - b; } };
struct Multiply { template <class T> static T of(T a, T b) { return a * b; } };
struct Divide { template <class T> static T of(T a, T b) { return a / b; } };
struct FusedMultiplyAdd { template <class T> static T of(T a, T b, T c) { return std::fma(a, b, c); } };
// Of a number and a NaN the number; -0 is smaller than 0.
struct Minimum {
    template <class T>
    static T of(T a, T b) {
        if (a == b) return std::signbit(a) ? a : b;
        return a < b || b != b ? a : b;
    }
};
struct Maximum {
    template <class T>
    static T of(T a, T b) {
        if (a == b) return std::signbit(a) ? b : a;
        return a > b || b != b ? a : b;
    }
};
struct CopySign { template <class T> static T of(T sign, T number) { return std::copysign(number, sign); } };
struct Negate { template <class T> static T of(T a) { return -a; } };
struct Absolute { template <class T> static T of(T a) { return std::fabs(a); } };
struct Reciprocal { template <class T> static T of(T a) { return T(1) / a; } };
struct Root { template <class T> static T of(T a) { return std::sqrt(a); } };
struct ReciprocalRoot { template <class T> static T of(T a) { return T(1) / std::sqrt(a); } };
struct PowerOfTwo { template <class T> static T of(T a) { return std::exp2(a); } };
struct Logarithm { template <class T> static T of(T a) { return std::log2(a); } };
struct Sine { template <class T> static T of(T a) { return std::sin(a); } };
struct Cosine { template <class T> static T of(T a) { return std::cos(a); } };
struct HyperbolicTangent { template <class T> static T of(T a) { return std::tanh(a); } };

// .ftz: subnormal numbers count as zero, before and after.
template <class T>
T flushed(T a) { return std::fabs(a) < std::numeric_limits<T>::min() ? std::copysign(T(0), a) : a; }

template <class Operation>
struct Flushing {
    template <class T>
    static T of(T a) { return flushed(Operation::of(flushed(a))); }
    template <class T>
    static T of(T a, T b) { return flushed(Operation::of(flushed(a), flushed(b))); }
    template <class T>
    static T of(T a, T b, T c) { return flushed(Operation::of(flushed(a), flushed(b), flushed(c))); }
};

template <class Operation>
Execute unary_of(const Statement& read) {
    const bool flushes = read.has("ftz");
    return for_float_type(read.type(), [=]<class T>() -> Execute {
        return flushes ? unary<T, T, Flushing<Operation>> : unary<T, T, Operation>;
    });
}

template <class Operation>
Execute binary_of(const Statement& read) {
    const bool flushes = read.has("ftz");
    return for_float_type(read.type(), [=]<class T>() -> Execute {
        return flushes ? binary<T, T, Flushing<Operation>> : binary<T, T, Operation>;
    });
}

Execute fused(const Statement& read) {
    const bool flushes = read.has("ftz");
    return for_float_type(read.type(), [=]<class T>() -> Execute {
        return flushes ? ternary<T, T, T, Flushing<FusedMultiplyAdd>> : ternary<T, T, T, FusedMultiplyAdd>;
    });
}

Execute named(const Statement& read) {
    const std::string& name = read.opcode;
    if (name == "add") return binary_of<Add>(read);
    if (name == "sub") return binary_of<Subtract>(read);
    if (name == "mul") return binary_of<Multiply>(read);
    if (name == "div") return binary_of<Divide>(read);
    if (name == "fma" || name == "mad") return fused(read);
    if (name == "min") return binary_of<Minimum>(read);
    if (name == "max") return binary_of<Maximum>(read);
    if (name == "copysign") return binary_of<CopySign>(read);
    if (name == "neg") return unary_of<Negate>(read);
    if (name == "abs") return unary_of<Absolute>(read);
    if (name == "rcp") return unary_of<Reciprocal>(read);
    if (name == "sqrt") return unary_of<Root>(read);
    if (name == "rsqrt") return unary_of<ReciprocalRoot>(read);
    if (name == "ex2") return unary_of<PowerOfTwo>(read);
    if (name == "lg2") return unary_of<Logarithm>(read);
    if (name == "sin") return unary_of<Sine>(read);
    if (name == "cos") return unary_of<Cosine>(read);
    if (name == "tanh") return unary_of<HyperbolicTangent>(read);
    return nullptr;
}

}  // namespace

bool translate_floats(const Statement& read, Translator& translator, Instruction& made) {
    if (read.type() != "f32" && read.type() != "f64") return false;
    if (read.has("sat") || read.has("NaN") || read.has("xorsign")) return true;  // refused
    const u32 bytes = bytes_of_type(read.type());
    made.execute = named(read);
    made.destination = translator.operand(read.operands[0], bytes);
    made.a = translator.operand(read.operands[1], bytes);
    if (read.operands.size() > 2) made.b = translator.operand(read.operands[2], bytes);
    if (read.operands.size() > 3) made.c = translator.operand(read.operands[3], bytes);
    made.rounding = read.has("rz") ? FE_TOWARDZERO : read.has("rm") ? FE_DOWNWARD : read.has("rp") ? FE_UPWARD : 0;
    return true;
}

}  // namespace emulated
