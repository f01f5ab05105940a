// An annotated lock is taken for writing that is taken already.
// expect: lock-misuse
void AnnotateRWLockAcquired(const char *file, int line, void *lock, long writes);
void AnnotateRWLockReleased(const char *file, int line, void *lock, long writes);

static int lock;

int main(void) {
    AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, 1); // <- lock-misuse
    AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, 1); // <- lock-misuse
    return 0;
}
