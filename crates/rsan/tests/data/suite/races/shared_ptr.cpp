// The last owner of a shared_ptr destroys the object.
// expect: nothing
#include <memory>
#include <thread>
struct Object {
    int value = 1;
    ~Object() { value = 0; }
};

int main() {
    for (int i = 0; i < 50; i++) {
        auto object = std::make_shared<Object>();
        std::thread other([copy = object]() mutable {
            if (copy->value != 1)
                std::terminate();
            copy.reset();
        });
        object.reset();
        other.join();
    }
}
