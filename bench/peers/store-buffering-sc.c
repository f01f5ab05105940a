// The same with sequentially consistent accesses: one of them sees the other.
#define ORDER SEQ_CST
#include "store-buffering.c"
