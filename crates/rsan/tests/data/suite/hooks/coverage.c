// The functions of the instrumentation for coverage are there, and collect nothing.
// expect: nothing
void __sanitizer_cov_dump(void);
void __sanitizer_cov_reset(void);
void __sanitizer_cov_trace_pc_guard(unsigned *);

int main(int count, char **arguments) {
    unsigned guard = 0;
    (void)arguments;
    __sanitizer_cov_trace_pc_guard(&guard);
    __sanitizer_cov_reset();
    __sanitizer_cov_dump();
    return count > 5 ? 3 : 0;
}
