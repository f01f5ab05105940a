// A thread stores to x and waits for 1 in y; another copies x to y, twice. With a load in place of the wait it
// is store buffering: the load misses the first copy, of 0, and the second copy misses the store to x. The wait
// ends with 1 only, and who stores 1 to y has read the store to x.

max_value 1;
global x, y;

fn setter {
    x.store(1);
    wait(y, 1);
}

fn copier {
    local a;
    a = x.load();
    y.store(a);
    a = x.load();
    y.store(a);
}
