"""Names of robots, links and arrays as C, C++ and Python identifiers."""

from __future__ import annotations

import keyword
import re
import unicodedata

WORDS = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit
export extern false float for friend goto if inline int long mutable namespace new noexcept not
not_eq nullptr operator or or_eq private protected public register reinterpret_cast restrict
return short signed sizeof static static_assert static_cast struct switch template this
thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
wchar_t while xor xor_eq"""
TAKEN = ("std", "main", "linux", "unix", "NULL", "NAN", "INFINITY")
"""Names that compilers and their headers define: macros, and the standard library's namespace."""
KEYWORDS = frozenset([*re.split(r"\s+", WORDS), *keyword.kwlist, *TAKEN])
"""Words that C, C++ or Python reserve, so that they cannot be names."""

MATHEMATICS = """acos acosh asin asinh atan atan2 atanh canonicalize cbrt ceil copysign cos cosh
drem erf erfc exp exp10 exp2 expm1 fabs fdim finite floor fma fmax fmaximum fmaximum_mag
fmaximum_mag_num fmaximum_num fmaxmag fmin fminimum fminimum_mag fminimum_mag_num fminimum_num
fminmag fmod frexp fromfp fromfpx gamma getpayload hypot ilogb isinf isnan j0 j1 jn ldexp lgamma
llogb llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nextdown
nexttoward nextup pow remainder remquo rint round roundeven scalb scalbln scalbn setpayload
setpayloadsig significand sin sincos sinh sqrt tan tanh tgamma totalorder totalordermag trunc
ufromfp ufromfpx y0 y1 yn"""
"""Functions of math.h, each of which also exists for other types, such as `gammaf`."""
LIBRARY = """a64l abort abs aligned_alloc alloca arc4random arc4random_buf arc4random_uniform
at_quick_exit atexit atof atoi atol atoll basename bcmp bcopy bsearch bzero calloc
canonicalize_file_name clearenv daddl ddivl dfmal div dmull drand48 drand48_data drand48_r dsqrtl
dsubl ecvt ecvt_r erand48 erand48_r exit explicit_bzero fadd faddl fcvt fcvt_r fd_mask fd_set fdiv
fdivl ffma ffmal ffs ffsl ffsll fmul fmull free fsqrt fsqrtl fsub fsubl gcvt getenv getloadavg
getpt getsubopt grantpt index initstate initstate_r iscanonical iseqsig issignaling issubnormal
iszero itimerspec jrand48 jrand48_r l64a labs lcong48 lcong48_r ldiv llabs lldiv lrand48 lrand48_r
malloc math_errhandling mblen mbstowcs mbtowc memccpy memchr memcmp memcpy memfrob memmem memmove
mempcpy memrchr memset mkdtemp mkostemp mkostemp64 mkostemps mkostemps64 mkstemp mkstemp64
mkstemps mkstemps64 mktemp mrand48 mrand48_r nrand48 nrand48_r on_exit posix_memalign posix_openpt
pselect ptsname ptsname_r putenv qecvt qecvt_r qfcvt qfcvt_r qgcvt qsort qsort_r quick_exit rand
rand_r random random_data random_r rawmemchr realloc reallocarray realpath rindex rpmatch
secure_getenv seed48 seed48_r select setenv setstate setstate_r sigabbrev_np sigdescr_np signgam
srand srand48 srand48_r srandom srandom_r stpcpy stpncpy strcasecmp strcasecmp_l strcasestr strcat
strchr strchrnul strcmp strcoll strcoll_l strcpy strcspn strdup strerror strerror_l strerror_r
strerrordesc_np strerrorname_np strfromd strfromf strfroml strlcat strlcpy strlen strncasecmp
strncasecmp_l strncat strncmp strncpy strndup strnlen strpbrk strrchr strsep strsignal strspn
strstr strtod strtof strtok strtok_r strtol strtold strtoll strtoq strtoul strtoull strtouq
strverscmp strxfrm strxfrm_l system timespec timeval u_char u_int u_long u_short uint ulong
unlockpt unsetenv ushort valloc wcstombs wctomb zeta"""
"""Other functions and types of the C headers that an exported header includes."""
TYPES = """blkcnt blkcnt64 blksize caddr clock clockid comparison_fn daddr dev div double float
fsblkcnt fsblkcnt64 fsfilcnt fsfilcnt64 fsid gid id ino ino64 char16 char32 int8 int16 int32 int64
key ldiv lldiv locale loff max_align mode nlink nullptr off off64 pid ptrdiff pthread quad
register sigset size ssize suseconds time timer u_int8 u_int16 u_int32 u_int64 u_quad uid useconds
wchar"""
"""Types of these headers, without their ending `_t`."""
GLOBAL = re.compile(
    rf"(?:{'|'.join(MATHEMATICS.split())})(?:f|l|f32|f64|f128|f32x|f64x)?(?:_r)?"
    rf"|{'|'.join(LIBRARY.split())}|[fd]?(?:32|64)x?(?:add|div|fma|mul|sqrt|sub)\w*"
    r"|(?:strto|strfrom)f\d+x?(?:_l)?|strto\w+_l"
    rf"|(?:{'|'.join(TYPES.split())}|pthread_\w+)_t"
)
"""Names of C's global functions and types, which no C++ namespace can have."""


def identifier(text: str) -> str:
    """A name as a C and Python identifier: letters without accents, an underscore for other
    characters."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^0-9A-Za-z]+", "_", plain).strip("_") or "x"
    if plain[0].isdigit():
        plain = f"n{plain}"
    return f"{plain}_" if plain in KEYWORDS else plain


def namespace_name(text: str) -> str:
    """A name as a C++ namespace: an identifier that is no function or type of the C library."""
    plain = identifier(text)
    return f"{plain}_" if GLOBAL.fullmatch(plain) else plain
