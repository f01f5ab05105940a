// A buffer that its last user frees. Giving up a reference releases, but the last user does not acquire: it may free
// the buffer before the other one has written to it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef FIXED
enum { GIVE_UP = memory_order_acq_rel };
#else
enum { GIVE_UP = memory_order_release };
#endif

struct buffer {
    atomic_int users;
    char text[2][32];
};

static void give_up(struct buffer *buffer) {
    if (atomic_fetch_sub_explicit(&buffer->users, 1, GIVE_UP) == 1)
        free(buffer);
}

static void *write_first(void *arg) {
    struct buffer *buffer = arg;
    buffer->text[0][0] = 'a';
    give_up(buffer);
    return NULL;
}

static void *write_second(void *arg) {
    struct buffer *buffer = arg;
    buffer->text[1][0] = 'b';
    give_up(buffer);
    return NULL;
}

int main(void) {
    struct buffer *buffer = malloc(sizeof *buffer);
    atomic_init(&buffer->users, 2);
    pthread_t first, second;
    pthread_create(&first, NULL, write_first, buffer);
    pthread_create(&second, NULL, write_second, buffer);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
