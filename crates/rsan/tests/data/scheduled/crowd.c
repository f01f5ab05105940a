// Many threads access the same memory and then set their flags; the last thread goes on when it has seen all flags. It reads
// one of them, the third argument, by a relaxed load, so the access before it is not ordered. With -1 there is none.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { RELAXED = memory_order_relaxed, ACQUIRE = memory_order_acquire, RELEASE = memory_order_release, MOST = 9 };

static int word, threads, weak;
static _Alignas(8) unsigned char bytes[8], copied[24];
static volatile size_t size = sizeof copied;
static unsigned char *block;
static atomic_int atomic, flags[MOST];

#define USE(value) __asm__ volatile("" : : "r"(value))

static void read_word(int i) { (void)i; USE(word); }
static void write_word(int i) { word = i; }

// More bytes of one granule than it has cells.
static void write_byte(int i) { bytes[i % 8] = 1; }
static void read_bytes(int i) { (void)i; USE(*(long *)bytes); }

// Accesses of several sizes that overlap.
static void read_part(int i) {
  if (i % 2)
    USE(bytes[i % 8]);
  else
    USE(*(short *)&bytes[i % 8]);
}
static void write_bytes(int i) { *(long *)bytes = i; }

static void copy(int i) {
  static unsigned char own[MOST][sizeof copied];
  memcpy(own[i], copied, size);
}
static void set(int i) { memset(copied, i, size); }

static void load(int i) { (void)i; USE(atomic_load_explicit(&atomic, RELAXED)); }
static void store(int i) { atomic_store_explicit(&atomic, i, RELAXED); }
static void write_atomic(int i) { *(int *)&atomic = i; }

// Writes that are read no more are dropped from the log.
static void store_often(int i) {
  for (int round = 0; round < 100; round++)
    store(round);
  write_atomic(i);
}

static void read_far(int i) { (void)i; USE(block[2000]); }
static void free_block(int i) { (void)i; free(block); }

static const struct program {
  const char *name;
  void (*access)(int), (*last)(int);
} all[] = {{"words", read_word, write_word}, {"joined", read_word, write_word}, {"bytes", write_byte, read_bytes}, {"parts", read_part, write_bytes}, {"copies", copy, set}, {"loads", load, write_atomic}, {"stores", store, store_often}, {"freed", read_far, free_block}}, *program;

static void *one(void *argument) {
  int i = (int)(size_t)argument;
  program->access(i);
  atomic_store_explicit(&flags[i], 1, RELEASE);
  return NULL;
}

static void *last(void *unused) {
  for (int i = 0; i < threads; i++)
    if (!atomic_load_explicit(&flags[i], i == weak ? RELAXED : ACQUIRE))
      return unused;
  program->last(threads);
  return unused;
}

int main(int argc, char **argv) {
  for (size_t i = 0; argc == 4 && i < sizeof all / sizeof *all; i++)
    if (strcmp(all[i].name, argv[1]) == 0)
      program = &all[i];
  if (!program)
    return 2;
  threads = atoi(argv[2]), weak = atoi(argv[3]);
  block = malloc(4096);
  pthread_t ids[MOST], of_last;
  for (int i = 0; i < threads; i++)
    pthread_create(&ids[i], NULL, one, (void *)(size_t)i);
  if (strcmp(program->name, "joined") == 0) {
    // The order of the others comes from their ends.
    for (int i = 0; i < threads; i++)
      if (i != weak)
        pthread_join(ids[i], NULL);
    if (weak < 0 || atomic_load_explicit(&flags[weak], RELAXED))
      program->last(threads);
    if (weak >= 0)
      pthread_join(ids[weak], NULL);
    return 0;
  }
  pthread_create(&of_last, NULL, last, NULL);
  pthread_join(of_last, NULL);
  for (int i = 0; i < threads; i++)
    pthread_join(ids[i], NULL);
  return 0;
}
