// A destructor runs while another thread calls a virtual function.
// expect: data-race
// flags: -O0
#include <new>
#include <pthread.h>
struct Base {
    int value = 0;
    virtual void call() {}
    virtual ~Base() { value = 1; } // <- data-race
};

struct Derived : Base {
    void call() override {}
    ~Derived() override { value = 2; }
};

static void *call(void *object) {
    static_cast<Base *>(object)->call(); // <- data-race
    return nullptr;
}

int main() {
    alignas(Derived) static char memory[sizeof(Derived)];
    Base *object = new (memory) Derived;
    pthread_t thread;
    pthread_create(&thread, nullptr, call, object);
    object->~Base();
    pthread_join(thread, nullptr);
}
