/* Inverse dynamics for a web page: the page writes into q, v and a, calls rnea and reads tau. */
#include "panda.h"

static double q[panda_nq], v[panda_nv], a[panda_nv], tau[panda_nv];

__attribute__((export_name("q"))) double *address_of_q(void) { return q; }
__attribute__((export_name("v"))) double *address_of_v(void) { return v; }
__attribute__((export_name("a"))) double *address_of_a(void) { return a; }
__attribute__((export_name("tau"))) double *address_of_tau(void) { return tau; }
__attribute__((export_name("rnea"))) void compute(void) { panda_rnea(q, v, a, tau); }
