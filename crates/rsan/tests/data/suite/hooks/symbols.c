// The program asks for names of code and variables.
// expect: nothing
#include <stddef.h>
#include <string.h>

void __sanitizer_symbolize_pc(void *, const char *, char *, size_t);
void __sanitizer_symbolize_global(void *, const char *, char *, size_t);
int __sanitizer_get_module_and_offset_for_pc(void *, char *, size_t, void **);
void __sanitizer_print_stack_trace(void);

int some_variable[4];

int main(void) {
    char text[200], module[500];
    void *offset = 0;
    __sanitizer_print_stack_trace();
    __sanitizer_symbolize_pc((void *)main, "<%f>", text, sizeof text);
    if (strcmp(text, "<main>") != 0) {
        return 1;
    }
    __sanitizer_symbolize_global(&some_variable[2], "%g", text, sizeof text);
    if (strcmp(text, "some_variable") != 0) {
        return 2;
    }
    if (!__sanitizer_get_module_and_offset_for_pc((void *)main, module, sizeof module, &offset)) {
        return 3;
    }
    return offset && strstr(module, "symbols") ? 0 : 4;
}
