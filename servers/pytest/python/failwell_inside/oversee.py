"""The process between the worker and one run: whatever the run leaves behind becomes its child, and is ended."""

import json
import os
import select
import signal

from .channel import receive
from .preload import prepare_config
from .run import leave, run

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


def oversee(control_socket, run_socket, libc):
    """Makes the run, waits for its control, sees it to its end, and says how it went."""
    os.setsid()
    libc.prctl(SUBREAPER, 1, 0, 0, 0)
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    os.set_blocking(woken, False)
    runner = os.fork()
    if runner == 0:
        control_socket.close()
        os.close(woken)
        os.close(waker)
        libc.prctl(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        be_the_run(run_socket)  # does not return
    run_socket.close()
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    _, descriptors = receive(control_socket)
    if not descriptors:  # the worker is gone, and no request came
        os.kill(runner, signal.SIGKILL)
        os._exit(0)
    control = descriptors[0]
    status = watch(control, woken, runner)
    end_all()
    try:
        os.write(control, json.dumps(exit_report(status)).encode("utf-8") + b"\n")
    finally:
        os._exit(0)


def be_the_run(run_socket):
    """As far as a session goes without its errand; then the errand."""
    os.setsid()
    try:
        prepare_config()
    except Exception:
        pass  # the session makes its own
    request, descriptors = receive(run_socket)
    run_socket.close()
    if request is None:
        os._exit(0)
    errand = json.loads(request.decode("utf-8"))
    out, err, events = descriptors
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.close(out)
    os.close(err)
    os.set_inheritable(1, True)
    os.set_inheritable(2, True)
    os.chdir(errand["settings"]["root"])  # the folder may be another by the same name
    leave(run(errand["settings"], errand["arguments"], events))


def watch(control, woken, runner):
    """The run's status, once it has one."""
    while True:
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == runner:
                    return status
                if pid == 0:
                    break
        except ChildProcessError:
            return signal.SIGKILL
        ready = select.select([control, woken], [], [], 1.0)[0]
        if woken in ready:
            os.read(woken, 512)
        if control in ready:
            status = obey(os.read(control, 64), runner)
            if status is not None:
                return status


def exit_report(status):
    if not os.WIFSIGNALED(status):
        return {"code": os.WEXITSTATUS(status)}
    try:
        return {"signal": signal.Signals(os.WTERMSIG(status)).name}
    except ValueError:
        return {"signal": "SIGRT"}


def obey(orders, runner):
    """Numbers are signals for the run; silence means that no caller waits for it any more."""
    if not orders:
        os.kill(runner, signal.SIGKILL)
        return os.waitpid(runner, 0)[1]
    for order in orders.split():
        os.kill(runner, int(order))
    return None


def end_all():
    """Ends every child; their children become ours, until there are none."""
    me = str(os.getpid())
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                end_child(entry, me)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def end_child(number, parent):
    try:
        with open("/proc/%s/stat" % number, "rb") as file:
            if file.read().rpartition(b")")[2].split()[1].decode() == parent:
                os.kill(int(number), signal.SIGKILL)
    except (OSError, IndexError):
        pass
