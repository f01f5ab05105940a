// The queue of Cilk-5, without fences.

#define FENCE() (void)0
#include "cilk.h"
