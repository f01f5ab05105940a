// Commands that a program runs are left alone.
// expect: nothing
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    if (system("true") != 0) return 1;
    FILE *pipe = popen("echo 42", "r");
    int number = 0;
    int count = fscanf(pipe, "%d", &number);
    return pclose(pipe) == 0 && count == 1 && number == 42 ? 0 : 1;
}
