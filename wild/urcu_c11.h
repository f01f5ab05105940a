/*
 * The primitives of liburcu on the atomics of C11, so that a sanitizer sees them: its own port for x86-64 is inline
 * assembly and volatile accesses. Use: cc -include urcu_c11.h.
 *
 * Shared loads and stores are relaxed. Operations that return a value are full barriers, as the library documents;
 * those that do not are relaxed. What depends on a load is ordered after it, which in C11 takes an acquire fence. There
 * is no membarrier system call, so that readers of the flavours that use it have real fences.
 */
#ifndef RSAN_WILD_URCU_C11_H
#define RSAN_WILD_URCU_C11_H

#include <sys/syscall.h>
#undef __NR_membarrier

/* The library's own ports stay out. */
#define _URCU_ARCH_X86_H
#define _URCU_ARCH_UATOMIC_X86_H
#define _URCU_SYSTEM_H

#define CAA_CACHE_LINE_SIZE 128
#define caa_cpu_relax() __asm__ __volatile__("pause" ::: "memory")

#define cmm_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define cmm_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define cmm_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define cmm_read_barrier_depends() __atomic_thread_fence(__ATOMIC_ACQUIRE)

#include <urcu/arch/generic.h>

#define _CMM_LOAD_SHARED(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define CMM_LOAD_SHARED(place) _CMM_LOAD_SHARED(place)
#define _CMM_STORE_SHARED(place, value)                                                             \
	__extension__({                                                                              \
		__typeof__(place) stored_ = (value);                                                 \
		__atomic_store_n(&(place), stored_, __ATOMIC_RELAXED);                               \
		stored_;                                                                             \
	})
#define CMM_STORE_SHARED(place, value) _CMM_STORE_SHARED(place, value)

#define UATOMIC_HAS_ATOMIC_BYTE
#define UATOMIC_HAS_ATOMIC_SHORT

#define uatomic_read(place) CMM_LOAD_SHARED(*(place))
#define uatomic_set(place, value) ((void)CMM_STORE_SHARED(*(place), (value)))

/* An operation between two full barriers. */
#define PORT_FULL(operation)                                                                        \
	__extension__({                                                                              \
		__atomic_thread_fence(__ATOMIC_SEQ_CST);                                             \
		__auto_type result_ = (operation);                                                   \
		__atomic_thread_fence(__ATOMIC_SEQ_CST);                                             \
		result_;                                                                             \
	})

#define uatomic_xchg(place, value) PORT_FULL(__atomic_exchange_n((place), (value), __ATOMIC_SEQ_CST))
#define uatomic_cmpxchg(place, old, fresh)                                                          \
	PORT_FULL(__extension__({                                                                    \
		__typeof__(*(place)) had_ = (__typeof__(*(place)))(old);                             \
		__atomic_compare_exchange_n((place), &had_, (fresh), 0, __ATOMIC_SEQ_CST,            \
					    __ATOMIC_SEQ_CST);                                       \
		had_;                                                                                \
	}))
#define uatomic_add_return(place, value)                                                            \
	PORT_FULL(__atomic_add_fetch((place), (value), __ATOMIC_SEQ_CST))
#define uatomic_sub_return(place, value)                                                            \
	PORT_FULL(__atomic_sub_fetch((place), (value), __ATOMIC_SEQ_CST))

#define uatomic_add(place, value) ((void)__atomic_fetch_add((place), (value), __ATOMIC_RELAXED))
#define uatomic_sub(place, value) ((void)__atomic_fetch_sub((place), (value), __ATOMIC_RELAXED))
#define uatomic_inc(place) uatomic_add((place), 1)
#define uatomic_dec(place) uatomic_sub((place), 1)
#define uatomic_and(place, value) ((void)__atomic_fetch_and((place), (value), __ATOMIC_RELAXED))
#define uatomic_or(place, value) ((void)__atomic_fetch_or((place), (value), __ATOMIC_RELAXED))

#define cmm_smp_mb__before_uatomic_add() cmm_smp_mb()
#define cmm_smp_mb__after_uatomic_add() cmm_smp_mb()
#define cmm_smp_mb__before_uatomic_sub() cmm_smp_mb()
#define cmm_smp_mb__after_uatomic_sub() cmm_smp_mb()
#define cmm_smp_mb__before_uatomic_inc() cmm_smp_mb()
#define cmm_smp_mb__after_uatomic_inc() cmm_smp_mb()
#define cmm_smp_mb__before_uatomic_dec() cmm_smp_mb()
#define cmm_smp_mb__after_uatomic_dec() cmm_smp_mb()
#define cmm_smp_mb__before_uatomic_and() cmm_smp_mb()
#define cmm_smp_mb__after_uatomic_and() cmm_smp_mb()
#define cmm_smp_mb__before_uatomic_or() cmm_smp_mb()
#define cmm_smp_mb__after_uatomic_or() cmm_smp_mb()

#endif
