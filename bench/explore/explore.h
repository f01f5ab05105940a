// What the programs of `cargo xtask bench explore` share: an order that is too weak, or, with -DFIXED, the one that is needed.
#ifndef EXPLORE_H
#define EXPLORE_H

// Data that only races tell of is not static: the compiler would leave it out.

#include "../peers/peers.h"
#include <sched.h>
#include <stdbool.h>

#ifdef FIXED
#define NEEDS(order, weaker) order
#else
#define NEEDS(order, weaker) weaker
#endif

#endif
