// Uses a library that is not instrumented, from several threads, with callbacks; and functions of the C library that
// call back.
#include "../programs/turn.h"
#include <string.h>

void plain_listen(void (*function)(const char *, void *), void *argument);
void plain_put(const char *text);
char *plain_take(void);
struct plain_block;
struct plain_block *plain_new(void);
char *plain_data(struct plain_block *block);
void plain_drop(struct plain_block *block);

static atomic_int heard, taken;
static struct plain_block *block;

static void on_text(const char *text, void *argument) {
    if (strcmp(text, "hello") || argument != &heard) abort();
    atomic_fetch_add_explicit(&heard, 1, memory_order_relaxed);
}

static int by_value(const void *one, const void *two) { return *(const int *)one - *(const int *)two; }

static void *work(void *_) {
    int numbers[64], key = 40;
    for (int round = 0; round < 50; round++) {
        plain_put("hello");
        char *text = plain_take();
        if (text) {
            if (strcmp(text, "hello")) abort();
            text[0] = 'j';
            free(text);
            atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
        }
        for (int i = 0; i < 64; i++) numbers[i] = i * 37 % 64;
        qsort(numbers, 64, sizeof(int), by_value);
        int *found = bsearch(&key, numbers, 64, sizeof(int), by_value);
        if (!found || *found != 40) abort();
    }
    return 0;
}

static void *first_owner(void *_) {
    wait_for_turn(0);
    plain_data(block)[0] = 1;
    plain_drop(block);
    end_of_turn();
    return 0;
}

static void *second_owner(void *_) {
    wait_for_turn(1);
    plain_drop(block);
    return 0;
}

int main(void) {
    plain_listen(on_text, &heard);
    RUN(work, work, work);
    block = plain_new();
    RUN(first_owner, second_owner);
    return heard == 150 && taken > 0 ? 0 : 1;
}
