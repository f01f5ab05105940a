/* A lock that one thread takes in a private function, and another one, who can be interrupted, in code that is seen. */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);

static _Atomic unsigned word;
static atomic_int inside;

static void lock(void)
{
    while (atomic_exchange(&word, 1) != 0)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

static void unlock(void)
{
    atomic_store(&word, 0);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *seen(void *argument)
{
    lock();
    atomic_fetch_add(&inside, 1);
    atomic_fetch_sub(&inside, 1);
    unlock();
    return argument;
}

static void *private(void *argument)
{
    __tsan_ignore_thread_begin();
    lock();
    unlock();
    __tsan_ignore_thread_end();
    return argument;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, seen, NULL);
    pthread_create(&threads[1], NULL, private, NULL);
    pthread_create(&threads[2], NULL, seen, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return (int)word;
}
