// A library that is not instrumented, with an order of its own that nobody sees.
#include <stdlib.h>
#include <string.h>

static int held;
static char mailbox[64];
static int full;
static void (*listener)(const char *, void *);
static void *listening;

static void lock(void) {
    while (__atomic_exchange_n(&held, 1, __ATOMIC_ACQUIRE)) {}
}

static void unlock(void) { __atomic_store_n(&held, 0, __ATOMIC_RELEASE); }

void plain_listen(void (*function)(const char *, void *), void *argument) {
    listener = function;
    listening = argument;
}

// Copies the text in, and calls back.
void plain_put(const char *text) {
    lock();
    memcpy(mailbox, text, strlen(text) + 1);
    full = 1;
    if (listener) listener(mailbox, listening);
    unlock();
}

// Gives out a copy that the caller frees, or nothing.
char *plain_take(void) {
    lock();
    char *copy = full ? strdup(mailbox) : 0;
    full = 0;
    unlock();
    return copy;
}

// A reference count of the library's own, around a block that the program writes to.
struct plain_block { int count; char data[60]; };

struct plain_block *plain_new(void) {
    struct plain_block *block = calloc(1, sizeof *block);
    block->count = 2;
    return block;
}

char *plain_data(struct plain_block *block) { return block->data; }

void plain_drop(struct plain_block *block) {
    if (__atomic_sub_fetch(&block->count, 1, __ATOMIC_ACQ_REL) == 0) free(block);
}
