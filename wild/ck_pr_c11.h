/*
 * Concurrency Kit's primitives on the atomics of C11, so that a sanitizer sees them: its own port for x86-64 is
 * inline assembly. Use: cc -include ck_pr_c11.h -DCK_USE_CC_BUILTINS=1, configured with --memory-model=rmo.
 *
 * Loads, stores and read-modify-writes are relaxed, as on the library's weakest ports (ppc64, aarch64). Fences that
 * order an earlier write before a later read are seq_cst; all others are acq_rel, never weaker than on those ports.
 */
#ifndef RSAN_WILD_CK_PR_C11_H
#define RSAN_WILD_CK_PR_C11_H

/* The library's own port for gcc stays out. */
#define CK_PR_GCC_H
#define CK_F_PR

#include <stdbool.h>
#include <stdint.h>

#include "gcc/ck_f_pr.h"

#define PORT static inline __attribute__((always_inline, unused))
#define RELAXED __ATOMIC_RELAXED

PORT void ck_pr_barrier(void) { __asm__ __volatile__("" ::: "memory"); }
PORT void ck_pr_stall(void) { __asm__ __volatile__("pause" ::: "memory"); }

#define PORT_FENCE(name, order) \
	PORT void ck_pr_fence_strict_##name(void) { __atomic_thread_fence(order); }

PORT_FENCE(atomic, __ATOMIC_ACQ_REL)
PORT_FENCE(atomic_atomic, __ATOMIC_ACQ_REL)
PORT_FENCE(atomic_load, __ATOMIC_SEQ_CST)
PORT_FENCE(atomic_store, __ATOMIC_ACQ_REL)
PORT_FENCE(store_atomic, __ATOMIC_SEQ_CST)
PORT_FENCE(load_atomic, __ATOMIC_ACQ_REL)
PORT_FENCE(load, __ATOMIC_ACQ_REL)
PORT_FENCE(load_load, __ATOMIC_ACQ_REL)
PORT_FENCE(load_store, __ATOMIC_ACQ_REL)
PORT_FENCE(store, __ATOMIC_ACQ_REL)
PORT_FENCE(store_store, __ATOMIC_ACQ_REL)
PORT_FENCE(store_load, __ATOMIC_SEQ_CST)
PORT_FENCE(memory, __ATOMIC_SEQ_CST)
PORT_FENCE(acquire, __ATOMIC_ACQ_REL)
PORT_FENCE(release, __ATOMIC_ACQ_REL)
PORT_FENCE(acqrel, __ATOMIC_ACQ_REL)
PORT_FENCE(lock, __ATOMIC_ACQ_REL)
PORT_FENCE(unlock, __ATOMIC_ACQ_REL)

#define CK_F_PR_FAS_PTR
#define CK_F_PR_FAS_CHAR
#define CK_F_PR_FAS_INT
#define CK_F_PR_FAS_UINT
#define CK_F_PR_FAS_64
#define CK_F_PR_FAS_32
#define CK_F_PR_FAS_16
#define CK_F_PR_FAS_8

/* Pointer, value and name of a type; `as` is what the memory is accessed as. */
#define PORT_ACCESS(name, place, type, as)                                                          \
	PORT type ck_pr_md_load_##name(const place *at)                                              \
	{                                                                                            \
		return (type)__atomic_load_n((const as *)at, RELAXED);                               \
	}                                                                                            \
	PORT bool ck_pr_cas_##name(place *at, type old, type fresh)                                  \
	{                                                                                            \
		as had = (as)old;                                                                    \
		return __atomic_compare_exchange_n((as *)at, &had, (as)fresh, 0, RELAXED, RELAXED);  \
	}                                                                                            \
	PORT type ck_pr_fas_##name(place *at, type fresh)                                            \
	{                                                                                            \
		return (type)__atomic_exchange_n((as *)at, (as)fresh, RELAXED);                      \
	}                                                                                            \
	PORT type ck_pr_faa_##name(place *at, type value)                                            \
	{                                                                                            \
		return (type)__atomic_fetch_add((as *)at, (as)value, RELAXED);                       \
	}                                                                                            \
	PORT void ck_pr_inc_##name(place *at) { __atomic_fetch_add((as *)at, 1, RELAXED); }          \
	PORT void ck_pr_dec_##name(place *at) { __atomic_fetch_sub((as *)at, 1, RELAXED); }          \
	PORT_BINARY(add, name, place, type, as)                                                      \
	PORT_BINARY(sub, name, place, type, as)                                                      \
	PORT_BINARY(and, name, place, type, as)                                                      \
	PORT_BINARY(or, name, place, type, as)                                                       \
	PORT_BINARY(xor, name, place, type, as)

#define PORT_BINARY(operation, name, place, type, as)                                               \
	PORT void ck_pr_##operation##_##name(place *at, type value)                                  \
	{                                                                                            \
		__atomic_fetch_##operation((as *)at, (as)value, RELAXED);                            \
	}

/* A compare-and-swap that also tells what was there. */
#define PORT_CAS_VALUE(name, place, type, as, result)                                               \
	PORT bool ck_pr_cas_##name##_value(place *at, type old, type fresh, result *found)           \
	{                                                                                            \
		as had = (as)old;                                                                    \
		bool done =                                                                          \
		    __atomic_compare_exchange_n((as *)at, &had, (as)fresh, 0, RELAXED, RELAXED);     \
		*(type *)found = (type)had;                                                          \
		return done;                                                                         \
	}

#define PORT_TYPE(name, type)                                                                       \
	PORT_ACCESS(name, type, type, type)                                                          \
	PORT_CAS_VALUE(name, type, type, type, type)                                                 \
	PORT void ck_pr_md_store_##name(type *at, type value) { __atomic_store_n(at, value, RELAXED); }

PORT_TYPE(char, char)
PORT_TYPE(int, int)
PORT_TYPE(uint, unsigned int)
PORT_TYPE(64, uint64_t)
PORT_TYPE(32, uint32_t)
PORT_TYPE(16, uint16_t)
PORT_TYPE(8, uint8_t)

PORT_ACCESS(ptr, void, void *, uintptr_t)
PORT_CAS_VALUE(ptr, void, void *, uintptr_t, void)
PORT void ck_pr_md_store_ptr(void *at, const void *value)
{
	__atomic_store_n((uintptr_t *)at, (uintptr_t)value, RELAXED);
}

PORT double ck_pr_md_load_double(const double *at)
{
	double value;
	__atomic_load(at, &value, RELAXED);
	return value;
}
PORT void ck_pr_md_store_double(double *at, double value) { __atomic_store(at, &value, RELAXED); }

#undef PORT_TYPE
#undef PORT_CAS_VALUE
#undef PORT_ACCESS
#undef PORT_BINARY
#undef PORT_FENCE

#endif
