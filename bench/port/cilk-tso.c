// The queue of Cilk-5, with the fences that x86 needs.

#define FENCE() atomic_thread_fence(memory_order_seq_cst)
#include "cilk.h"
