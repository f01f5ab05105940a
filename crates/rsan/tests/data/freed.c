#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *next;
    volatile int value;
};

static struct node *head;

static void *drop(void *unused) {
    free(head);
    return unused;
}

int main(void) {
    pthread_t other;
    head = malloc(sizeof *head);
    head->value = 1;
    if (pthread_create(&other, 0, drop, 0)) return 2;
    pthread_join(other, 0);
    head->value = 2;
    free(head);
    return 0;
}
