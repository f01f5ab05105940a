//! What compilers call for `-fsanitize-coverage`, and who drives a fuzzer. Nothing is collected here: a program that wants to
//! know has functions of its own, which come first.

use crate::entry::entries;

extern "C" fn nothing() {}

entries! {
    __sanitizer_cov_dump => nothing;
    __sanitizer_cov_reset => nothing;
    __sanitizer_dump_coverage => nothing;
    __sanitizer_dump_trace_pc_guard_coverage => nothing;
    __sanitizer_cov_trace_pc => nothing;
    __sanitizer_cov_trace_pc_indir => nothing;
    __sanitizer_cov_trace_pc_guard => nothing;
    __sanitizer_cov_trace_pc_guard_init => nothing;
    __sanitizer_cov_8bit_counters_init => nothing;
    __sanitizer_cov_bool_flag_init => nothing;
    __sanitizer_cov_pcs_init => nothing;
    __sanitizer_cov_trace_cmp => nothing;
    __sanitizer_cov_trace_cmp1 => nothing;
    __sanitizer_cov_trace_cmp2 => nothing;
    __sanitizer_cov_trace_cmp4 => nothing;
    __sanitizer_cov_trace_cmp8 => nothing;
    __sanitizer_cov_trace_cmpf => nothing;
    __sanitizer_cov_trace_cmpd => nothing;
    __sanitizer_cov_trace_const_cmp1 => nothing;
    __sanitizer_cov_trace_const_cmp2 => nothing;
    __sanitizer_cov_trace_const_cmp4 => nothing;
    __sanitizer_cov_trace_const_cmp8 => nothing;
    __sanitizer_cov_trace_switch => nothing;
    __sanitizer_cov_trace_div4 => nothing;
    __sanitizer_cov_trace_div8 => nothing;
    __sanitizer_cov_trace_gep => nothing;
    __sanitizer_cov_load1 => nothing;
    __sanitizer_cov_load2 => nothing;
    __sanitizer_cov_load4 => nothing;
    __sanitizer_cov_load8 => nothing;
    __sanitizer_cov_load16 => nothing;
    __sanitizer_cov_store1 => nothing;
    __sanitizer_cov_store2 => nothing;
    __sanitizer_cov_store4 => nothing;
    __sanitizer_cov_store8 => nothing;
    __sanitizer_cov_store16 => nothing;
    __sanitizer_weak_hook_memcmp => nothing;
    __sanitizer_weak_hook_strncmp => nothing;
    __sanitizer_weak_hook_strncasecmp => nothing;
    __sanitizer_weak_hook_strcmp => nothing;
    __sanitizer_weak_hook_strcasecmp => nothing;
    __sanitizer_weak_hook_strstr => nothing;
    __sanitizer_weak_hook_strcasestr => nothing;
    __sanitizer_weak_hook_memmem => nothing;
}
