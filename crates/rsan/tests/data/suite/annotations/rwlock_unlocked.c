// An annotated lock is given back that nobody has.
// expect: lock-misuse
void AnnotateRWLockAcquired(const char *file, int line, void *lock, long writes);
void AnnotateRWLockReleased(const char *file, int line, void *lock, long writes);

static int lock;

int main(void) {
    AnnotateRWLockReleased(__FILE__, __LINE__, &lock, 1); // <- lock-misuse
    return 0;
}
