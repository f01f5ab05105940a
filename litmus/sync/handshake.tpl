// Request and acknowledge flags (four-phase handshake of circuit design): each side only ever waits
// for the other, endless; plain data travels both ways.

max_value 1;
global request, answer;
na data;

fn client {
    local d;
    while (1) {
        data.nastore(1);
        request.store(1, rel);
        wait(answer, 1, acq);
        d = data.naload();
        assert(d == 0);
        request.store(0, rel);
        wait(answer, 0, acq);
    }
}

fn server {
    local d;
    while (1) {
        wait(request, 1, acq);
        d = data.naload();
        assert(d == 1);
        data.nastore(0);
        answer.store(1, rel);
        wait(request, 0, acq);
        answer.store(0, rel);
    }
}
