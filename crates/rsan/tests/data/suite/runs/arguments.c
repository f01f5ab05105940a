// Arguments reach the program, also those that look like options.
// expect: nothing
// arguments: --runs 7
#include <string.h>

int main(int argc, char **argv) {
    return argc == 3 && !strcmp(argv[1], "--runs") && !strcmp(argv[2], "7") ? 0 : 1;
}
