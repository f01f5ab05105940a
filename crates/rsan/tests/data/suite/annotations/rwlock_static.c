// An annotated lock that lives as long as the program is used before its constructor and after its destructor.
// expect: nothing
void AnnotateRWLockAcquired(const char *file, int line, void *lock, long writes);
void AnnotateRWLockReleased(const char *file, int line, void *lock, long writes);
void AnnotateRWLockCreateStatic(const char *file, int line, void *lock);
void AnnotateRWLockDestroy(const char *file, int line, void *lock);

static int lock;

int main(void) {
    AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, 1);
    AnnotateRWLockCreateStatic(__FILE__, __LINE__, &lock);
    AnnotateRWLockReleased(__FILE__, __LINE__, &lock, 1);
    AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, 1);
    AnnotateRWLockDestroy(__FILE__, __LINE__, &lock);
    AnnotateRWLockReleased(__FILE__, __LINE__, &lock, 1);
    return 0;
}
