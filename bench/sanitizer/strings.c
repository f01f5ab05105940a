// Words of a text: split, lower case, counted in a table of each thread. Arguments: threads, words of each.
#include "bench.h"
#include <ctype.h>

enum { BUCKETS = 512, LONGEST = 12 };

struct word {
    char text[LONGEST + 1];
    unsigned count;
};

struct table {
    struct word words[BUCKETS];
};

static unsigned long sums[MAX_THREADS];
static long count;

static char *make_text(int thread) {
    char *text = malloc(count * (LONGEST + 1) + 1), *end = text;
    check(text != 0, "memory");
    uint32_t random = thread + 1;
    for (long i = 0; i < count; i++) {
        uint32_t word = next_random(&random) % 200;
        int length = 2 + word % (LONGEST - 1);
        for (int c = 0; c < length; c++) {
            char letter = 'a' + (word * 7 + c * 3) % 26;
            *end++ = next_random(&random) % 4 ? letter : toupper(letter);
        }
        *end++ = ' ';
    }
    *end = 0;
    return text;
}

static void count_word(struct table *table, const char *text) {
    unsigned hash = 0;
    for (const char *c = text; *c; c++) {
        hash = hash * 31 + (unsigned char)*c;
    }
    for (unsigned i = hash % BUCKETS;; i = (i + 1) % BUCKETS) {
        struct word *word = &table->words[i];
        if (!word->count) {
            strcpy(word->text, text);
        }
        if (strcmp(word->text, text) == 0) {
            word->count++;
            return;
        }
    }
}

static void body(int thread) {
    char *text = make_text(thread), *rest = 0;
    struct table *table = calloc(1, sizeof *table);
    check(table != 0, "memory");
    for (char *c = text; *c; c++) {
        *c = tolower((unsigned char)*c);
    }
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(0, " ", &rest)) {
        count_word(table, word);
    }
    for (int i = 0; i < BUCKETS; i++) {
        sums[thread] += table->words[i].count * strlen(table->words[i].text);
    }
    free(table);
    free(text);
}

int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 1, MAX_THREADS);
    count = argument(argc, argv, 2, 1, 10000000);
    run_threads(threads, body);
    unsigned long sum = 0;
    for (int i = 0; i < threads; i++) {
        sum += sums[i];
    }
    return result(sum);
}
