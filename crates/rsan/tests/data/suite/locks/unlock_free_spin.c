// A spin lock is given back that nobody has.
// expect: lock-misuse
#include <pthread.h>

static pthread_spinlock_t spin;

int main(void) {
    pthread_spin_init(&spin, 0);
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    pthread_spin_unlock(&spin); // <- lock-misuse
    pthread_spin_destroy(&spin);
    return 0;
}
