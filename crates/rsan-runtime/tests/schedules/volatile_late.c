// A volatile read finds what is written after the compiler has announced it, and before it is made.
#include <pthread.h>

void __tsan_volatile_read4(void *address);

static int ready, data, announced, given;

// Assembly is not instrumented: how the threads wait for each other, and what the volatile read finds.
static int hidden_load(int *from) {
    int value;
    __asm__ volatile("movl %1, %0" : "=r"(value) : "m"(*from) : "memory");
    return value;
}

static void hidden_store(int *to, int value) {
    __asm__ volatile("movl %1, %0" : "=m"(*to) : "r"(value) : "memory");
}

static void *give(void *unused) {
    while (!hidden_load(&announced))
        ;
    data = 1;
    *(volatile int *)&ready = 1;
    hidden_store(&given, 1);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, give, NULL);
    __tsan_volatile_read4(&ready);
    hidden_store(&announced, 1);
    while (!hidden_load(&given))
        ;
    int seen = hidden_load(&ready) ? data : 1;
    pthread_join(thread, NULL);
    return seen != 1;
}
