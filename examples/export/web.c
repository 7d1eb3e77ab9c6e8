/* Inverse dynamics for a web page: the page writes into q, v and a, calls rnea and reads tau. */
#include "panda.h"

#define PAGE(name) __attribute__((export_name(name)))

static double q[panda_nq], v[panda_nv], a[panda_nv], tau[panda_nv];

PAGE("q") double *address_of_q(void) { return q; }
PAGE("v") double *address_of_v(void) { return v; }
PAGE("a") double *address_of_a(void) { return a; }
PAGE("tau") double *address_of_tau(void) { return tau; }
PAGE("lower") const double *address_of_lower(void) { return panda_lower; }
PAGE("upper") const double *address_of_upper(void) { return panda_upper; }
PAGE("effort_limit") const double *address_of_effort_limit(void) { return panda_effort_limit; }
PAGE("rnea") void compute(void) { panda_rnea(q, v, a, tau); }
