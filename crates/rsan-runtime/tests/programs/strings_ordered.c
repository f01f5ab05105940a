// findings: none
// The same functions, on memory that a mutex orders, and beside memory that they do not touch.
#define _GNU_SOURCE
#include "turn.h"
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char line[128], beside[64] = "abc";

static void *work(void *_) {
    char own[64];
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&mutex);
        strcpy(line, "one");
        strcat(line, " two");
        strncat(line, " three four", 6);
        if (strlen(line) != 13 || strcmp(line, "one two three") || !strstr(line, "two")) abort();
        if (strrchr(line, 'e') != line + 12 || memchr(line, 't', 5) != line + 4) abort();
        stpcpy(own, strchrnul(line, ' '));
        char *copy = strndup(line, 3);
        if (strncmp(copy, "one", 3) || strnlen(copy, 64) != 3) abort();
        free(copy);
        mempcpy(line + 64, own, 8);
        pthread_mutex_unlock(&mutex);
        // The other thread writes behind what is read here.
        if (strcmp(beside, "abc") || memcmp(beside, "abcd", 4) == 0) abort();
    }
    return 0;
}

static void *writer(void *_) {
    for (int i = 8; i < 64; i++) beside[i] = 'x';
    return 0;
}

int main(void) {
    RUN(work, work, writer);
    return 0;
}
