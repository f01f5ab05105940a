// A coroutine that goes on in another thread. The awaiter lives in the coroutine's frame: once the thread is started,
// the coroutine may run, and what await_suspend still does to the awaiter races with it.
#include <coroutine>
#include <cstdio>
#include <thread>

struct Task {
    struct promise_type {
        Task get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};

struct ElsewhereAwaiter {
    std::thread &worker;
    int hops = 0;

    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> coroutine) {
#ifdef FIXED
        hops = 1;
        worker = std::thread([coroutine] { coroutine.resume(); });
#else
        worker = std::thread([coroutine] { coroutine.resume(); });
        hops = 1;
#endif
    }
    int await_resume() { return hops; }
};

Task work(std::thread &worker) {
    int hops = co_await ElsewhereAwaiter{worker};
    std::printf("after %d hop\n", hops);
}

int main() {
    std::thread worker;
    Task task = work(worker);
    worker.join();
    task.handle.destroy();
}
