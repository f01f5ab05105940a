// The queue of Cilk-5, with its two fences.

#define FENCE() atomic_thread_fence(memory_order_seq_cst)
#include "cilk.h"
