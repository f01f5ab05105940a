// A process that makes another one, which leaves its group and stays.
#include <unistd.h>

int main(void) {
    int ends[2];
    char byte = 0;
    if (pipe(ends) != 0) return 2;
    if (fork() == 0) {
        setsid();
        if (write(ends[1], &byte, 1) != 1) return 2;
        for (;;) pause();
    }
    return read(ends[0], &byte, 1) == 1 ? 0 : 2;
}
