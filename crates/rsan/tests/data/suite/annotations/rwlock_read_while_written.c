// An annotated lock is taken for reading that is taken for writing.
// expect: lock-misuse
void AnnotateRWLockAcquired(const char *file, int line, void *lock, long writes);
void AnnotateRWLockReleased(const char *file, int line, void *lock, long writes);

static int lock;

int main(void) {
    AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, 1);
    AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, 0); // <- lock-misuse
    return 0;
}
