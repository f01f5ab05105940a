// What functions of libc leave in errno is what the program sees.
// expect: nothing
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
    struct stat status;
    char bytes[4], *end;
    if (fopen("/nonexistent/file", "r") || errno != ENOENT) return 1;
    if (stat("/nonexistent", &status) == 0 || errno != ENOENT) return 2;
    if (read(-1, bytes, 4) >= 0 || errno != EBADF) return 3;
    if (close(-1) == 0 || errno != EBADF) return 4;
    if (accept(0, 0, 0) >= 0 || errno != ENOTSOCK) return 5;
    errno = 0;
    strtol("99999999999999999999", &end, 10);
    if (errno != ERANGE || *end) return 6;
    errno = E2BIG;
    printf("%d\n", 1);
    return errno == E2BIG ? 0 : 7;
}
