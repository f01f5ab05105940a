// What the interface of ThreadSanitizer says of mutexes: clang is often installed without the header that has all of it.
void __tsan_mutex_create(void *mutex, unsigned flags);
void __tsan_mutex_destroy(void *mutex, unsigned flags);
void __tsan_mutex_pre_lock(void *mutex, unsigned flags);
void __tsan_mutex_post_lock(void *mutex, unsigned flags, int recursion);

static const unsigned __tsan_mutex_linker_init = 1 << 0;
static const unsigned __tsan_mutex_not_static = 1 << 8;
