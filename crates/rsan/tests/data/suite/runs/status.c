// A program that fails without a finding has status 4.
// expect: nothing
// status: 4
// says: the program failed in 1 of 1 run: exit status 3
int main(void) {
    return 3;
}
