// The queue of Cilk-5, without fences: right under SC only.

#define FENCE() (void)0
#include "cilk.h"
