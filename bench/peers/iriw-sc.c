// The same with sequentially consistent accesses: the readers agree.
#define WRITE SEQ_CST
#define READ SEQ_CST
#include "iriw.c"
