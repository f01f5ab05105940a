// An annotated lock is used right: several readers, then a writer.
// expect: nothing
void AnnotateRWLockAcquired(const char *file, int line, void *lock, long writes);
void AnnotateRWLockReleased(const char *file, int line, void *lock, long writes);

static int lock;

int main(void) {
    AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, 0);
    AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, 0);
    AnnotateRWLockReleased(__FILE__, __LINE__, &lock, 0);
    AnnotateRWLockReleased(__FILE__, __LINE__, &lock, 0);
    AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, 1);
    AnnotateRWLockReleased(__FILE__, __LINE__, &lock, 1);
    return 0;
}
