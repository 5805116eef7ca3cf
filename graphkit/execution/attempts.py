"""Attempts to get out of a sandbox, as code that is run in it: each tries all that it knows for one aim.

An attempt prints ``got through: WHAT`` as soon as something succeeds, and ``tried everything`` at its end. What it
says is half of the proof only; :mod:`graphkit.execution.witness` looks from outside. Where nothing stops it, it does no
harm: it touches only what the witness laid out for it, and takes a few times what a test may take.
"""

from __future__ import annotations

from dataclasses import dataclass

#: What an attempt says of each thing that succeeds, and at its end.
THROUGH, FINISHED = "got through: ", "tried everything"

#: Why an attempt fails without a wall as well.
_LIMITED = "limits hold without a wall as well"
_KEPT_BACK = "graphkit hands on neither descriptors nor its environment, with a wall or without"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way out that is tried.

    Attributes
    ----------
    what
        What it tries, as a sentence.
    code
        A body in Python that may use :data:`PRELUDE`; ``given`` is what the witness laid out.
    ends
        How it may end besides by itself.
    held
        Why it gets nowhere even without a wall; None where it does.
    seconds
        That it may take.
    """

    name: str
    what: str
    code: str
    ends: frozenset[str] = frozenset({"exited"})
    held: str | None = None
    seconds: float = 10.0

    @property
    def source(self) -> str:
        """The whole source, with a function ``attempt``."""
        body = "".join(f"    {line}\n" for line in self.code.strip().splitlines())
        return f"{PRELUDE}\ndef attempt(given):\n    CALLS.update(given['calls'])\n{body}    say('{FINISHED}')\n"


PRELUDE = f'''
import ctypes, errno, fcntl, mmap, os, random, resource, select, signal, socket, struct, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
CALLS = {{}}

def say(text):
    os.write(1, (str(text) + "\\n").encode("utf-8", "backslashreplace"))

def tried(what, act, *args):
    """Try something: it succeeds unless it raises, or returns None or False."""
    try:
        found = act(*args)
    except BaseException:
        return None
    if found is None or found is False:
        return None
    # What came of it is for the witness, who looks for its secrets there, and shown to nobody.
    say("{THROUGH}" + what + ("\\t" + repr(found)[:200] if isinstance(found, (str, bytes, list)) else ""))
    return found

def done(act, *args, **named):
    """Do something that returns nothing where it succeeds."""
    act(*args, **named)
    return True

def checked(number):
    if number == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return True

def call(name, *args):
    """Make a call of the system by its number."""
    number = libc.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in (CALLS[name], *args)])
    return checked(number) and number + 1

def read(path):
    with open(path, "rb") as file:
        return file.read(4096)

def write(path, mode="wb"):
    with open(path, mode) as file:
        return file.write(b"x")
'''

ATTEMPTS = (
    Attempt(
        "read a file",
        "Reads a file of the host: by its path, links, .., /proc and a handle.",
        """
path = given["secret"]
tried("by its path", read, path)
tried("relative", read, os.path.relpath(path))
tried("from ..", read, "../" * 40 + path.lstrip("/"))
tried("of graphkit's root", read, f"/proc/{given['pid']}/root{path}")
tried("of graphkit's folder", os.listdir, f"/proc/{given['pid']}/cwd")
tried("of the parent's root", read, f"/proc/{os.getppid()}/root{path}")
for root in ("/proc/self/root", "/proc/1/root", "/proc/thread-self/root", "/proc/self/cwd" + "/.." * 40):
    tried("by " + root, read, root + path)
def linked(link):
    link(path, "linked")
    try:
        return read("linked")
    finally:
        os.unlink("linked")
tried("by a symbolic link", linked, os.symlink)
tried("by a hard link", linked, os.link)
def moved():
    os.rename(path, "moved")
    os.rename("moved", path)
    return True
tried("by moving it here", moved)
tried("by O_PATH", lambda: read(f"/proc/self/fd/{os.open(path, os.O_PATH)}"))
tried("by a mapping", lambda: mmap.mmap(os.open(path, os.O_RDONLY), 0, prot=mmap.PROT_READ)[:])
tried("by openat2", lambda: os.read(call("openat2", -100, path.encode(), ctypes.create_string_buffer(24), 24) - 1, 99))
def by_handle():
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
    mount = ctypes.c_int()
    call("name_to_handle_at", -100, path.encode(), ctypes.byref(handle), ctypes.byref(mount), 0)
    return os.read(call("open_by_handle_at", os.open("/", os.O_RDONLY), ctypes.byref(handle), os.O_RDONLY) - 1, 99)
tried("by a handle", by_handle)
for name in ("/etc/passwd", "/etc/shadow", "/etc/hostname", "/root/.bashrc", "/proc/version", "/proc/mounts"):
    tried(name, lambda: read(name) and None if name.startswith("/proc") and not given["walled"] else read(name))
""",
    ),
    Attempt(
        "list folders",
        "Lists folders of the host.",
        """
folder = os.path.dirname(given["secret"])
tried("its own", os.listdir, folder)
for path in ("/etc", "/home", "/root", "/var", "/tmp", "/proc", "/sys", "/dev", "/run", "..", "/proc/self/cwd/.."):
    def listed():
        found = os.listdir(path)
        # In a file system of its own, what is above the scratch folder is the wall's.
        return None if set(found) <= set(given["of_the_wall"]) else found
    tried(path, listed)
tried("by a descriptor", lambda: os.listdir(os.open(folder, os.O_RDONLY | os.O_DIRECTORY)))
tried("by watching", lambda: checked(libc.inotify_add_watch(libc.inotify_init(), folder.encode(), 0xFFF)))
""",
    ),
    Attempt(
        "write outside",
        "Writes, makes, moves and links files outside of the scratch folder, and changes what is known of one.",
        """
outside, victim, token = given["outside"], given["victim"], given["token"]
tried("a new file", write, outside + "/new")
tried("beside the scratch folder", write, f"../{token}")
tried("over a file", write, victim)
tried("at the end of a file", write, victim, "ab")
tried("by the parent's root", write, f"/proc/{os.getppid()}/root{outside}/root")
tried("a folder", lambda: done(os.mkdir, outside + "/folder"))
tried("a symbolic link", lambda: done(os.symlink, "/etc", outside + "/link"))
tried("a pipe", lambda: done(os.mkfifo, outside + "/pipe"))
tried("a device", lambda: done(os.mknod, outside + "/node", 0o600 | 0o020000, os.makedev(1, 3)))
def kept(act):
    with open("mine", "w") as file:
        file.write("x")
    act("mine", outside + "/mine")
    return True
tried("by moving a file there", kept, os.rename)
tried("by a link to a file here", kept, os.link)
tried("by renaming a file there", lambda: done(os.rename, victim, victim + "2"))
tried("by renaming it back", lambda: done(os.rename, victim + "2", victim))
tried("without a name", lambda: os.open(outside, os.O_TMPFILE | os.O_RDWR, 0o600))
tried("chmod", lambda: done(os.chmod, victim, 0o777))
tried("chmod of a folder", lambda: done(os.chmod, outside, 0o777))
tried("chown", lambda: done(os.chown, victim, os.getuid(), os.getgid()))
tried("utime", lambda: done(os.utime, victim, (1, 1)))
tried("setxattr", lambda: done(os.setxattr, victim, "user.graphkit", b"x"))
tried("truncate", lambda: done(os.truncate, victim, 0))
def through_a_link():
    os.symlink(victim, "out")
    return write("out")
tried("through a link", through_a_link)
flags = ctypes.byref(ctypes.c_long(0x40))
tried("flags of a file", lambda: checked(libc.ioctl(os.open(victim, 0), ctypes.c_ulong(0x40086602), flags)))
tried("unlink", lambda: done(os.unlink, victim))
tried("a file of the interpreter", lambda: os.open(os.__file__, os.O_WRONLY) + 1)
""",
    ),
    Attempt(
        "network by TCP",
        "Reaches a TCP port of this machine, or opens one.",
        """
address = ("127.0.0.1", given["tcp"])
tried("connect", lambda: socket.create_connection(address, 2).send(b"x"))
tried("connect by IPv6", lambda: socket.create_connection(("::1", given["tcp"]), 2).send(b"x"))
def fast():
    with socket.socket() as one:
        return one.sendto(b"x", 0x20000000, address)
tried("by the first packet", fast)
def served():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        return True
tried("listen", served)
tried("SCTP", lambda: socket.socket(socket.AF_INET, socket.SOCK_SEQPACKET, 132))
tried("multipath", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262))
tried("a socket, by number", lambda: call("socket", 2, 1, 0))
""",
    ),
    Attempt(
        "network by UDP",
        "Sends to a UDP port of this machine.",
        """
address = ("127.0.0.1", given["udp"])
def sent():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        return one.sendto(b"x", address)
tried("sendto", sent)
def connected():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.connect(address)
        return one.send(b"x")
tried("connect", connected)
def packed():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        return one.sendmsg([b"x"], [], 0, address)
tried("sendmsg", packed)
""",
    ),
    Attempt(
        "network by Unix sockets",
        "Reaches a Unix socket by its path, its abstract name, and from a pair that gets another address.",
        """
streams = (given["unix"], "\\0" + given["abstract"])
datagrams = (given["unix_datagram"], "\\0" + given["abstract_datagram"])
for address in streams:
    def connected():
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(address)
            return one.send(b"x")
    tried("connect to " + repr(address[:1]), connected)
for address in datagrams:
    def sent():
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
            return one.sendto(b"x", address)
    tried("sendto " + repr(address[:1]), sent)
    def turned(act):
        one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            return act(one)
        finally:
            one.close(), other.close()
    tried("a pair, by sendto", turned, lambda one: one.sendto(b"x", address))
    tried("a pair, by connect", turned, lambda one: one.connect(address) or one.send(b"x"))
    tried("a pair, by sendmsg", turned, lambda one: one.sendmsg([b"x"], [], 0, address))
    tried("a pair, by bind", turned, lambda one: done(one.bind, "here"))
one, other = socket.socketpair()
tried("a descriptor by a message", lambda: socket.send_fds(one, [b"x"], [0]))
tried("addresses of the machine", lambda: done(fcntl.ioctl, one, 0x8927, struct.pack("256s", b"lo")))
""",
    ),
    Attempt(
        "names of hosts",
        "Asks for the address of a name: by the library, and by a packet to port 53.",
        """
tried("getaddrinfo", lambda: repr(socket.getaddrinfo("localhost", 80)))
tried("gethostbyname", lambda: socket.gethostbyname("localhost"))
query = b"\\x12\\x34\\x01\\0\\0\\x01\\0\\0\\0\\0\\0\\0\\x07example\\x07invalid\\0\\0\\x01\\0\\x01"
def asked():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        return one.sendto(query, ("127.0.0.1", 53))
tried("a packet", asked)
""",
    ),
    Attempt(
        "other sockets",
        "Opens raw, packet, netlink and other sockets of the kernel.",
        """
kinds = [("netlink", 16, 3, 0), ("packet", 17, 3, 768), ("raw", 2, 3, 1), ("ping", 2, 2, 1), ("vsock", 40, 1, 0)]
kinds += [("crypto", 38, 5, 0), ("xdp", 44, 3, 0), ("bluetooth", 31, 3, 1), ("key", 15, 3, 2), ("can", 29, 3, 1)]
kinds += [("tipc", 30, 5, 0)]
for name, *kind in kinds:
    tried(name, lambda: socket.socket(*kind))
for name, family, kind, protocol in kinds:
    tried("a pair of " + name, lambda: socket.socketpair(family, kind, protocol))
""",
    ),
    Attempt(
        "io_uring",
        "Sets up io_uring, whose work no filter of system calls sees.",
        """
tried("io_uring_setup", call, "io_uring_setup", 4, ctypes.create_string_buffer(120))
""",
    ),
    Attempt(
        "fork bomb",
        "Starts 50 processes that end at once, by every call that does.",
        """
import subprocess
def forked(fork):
    for _ in range(50):
        child = fork()
        if child == 0:
            os._exit(0)
        if child < 0:
            raise OSError
        os.waitpid(child, 0)
    return True
tried("fork", forked, os.fork)
tried("fork of the library", forked, libc.fork)
tried("fork, by number", forked, lambda: call("fork") - 1)
tried("clone, by number", forked, lambda: call("clone", signal.SIGCHLD, 0, 0, 0, 0) - 1)
def third():
    return call("clone3", ctypes.create_string_buffer(struct.pack("8Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)), 64) - 1
tried("clone3, by number", forked, third)
tried("clone with bits above", forked, lambda: call("clone", signal.SIGCHLD | 1 << 40, 0, 0, 0, 0) - 1)
program = sys.executable or given["python"]
tried("posix_spawn", lambda: os.waitpid(os.posix_spawn(program, [program, "-c", ""], {}), 0) and True)
tried("posix_spawnp", lambda: os.waitpid(os.posix_spawnp("true", ["true"], {"PATH": "/bin"}), 0) and True)
tried("subprocess", lambda: subprocess.run([program, "-S", "-c", ""]) and True)
tried("a shell", lambda: os.system("true") == 0)
tried("popen", lambda: os.popen("echo x").read() or None)
tried("a terminal's process", lambda: __import__("pty").fork()[0] or os._exit(0))
def multiprocessed():
    import multiprocessing
    one = multiprocessing.get_context("fork").Process(target=int)
    one.start()
    one.join()
    return True
tried("multiprocessing", multiprocessed)
""",
    ),
    Attempt(
        "threads without end",
        "Starts 3000 threads with small stacks, that sleep.",
        """
threading.stack_size(32768)
try:
    for number in range(3000):
        threading.Thread(target=time.sleep, args=(given["seconds"],), daemon=True).start()
        if number > 2 * given["limits"]["threads"]:
            time.sleep(0.0005)
    say("got through: 3000 threads")
except RuntimeError:
    pass
os.write(1, b"tried everything\\n")
os._exit(0)
""",
        ends=frozenset({"threads", "exited"}),
        held=_LIMITED,
        seconds=20,
    ),
    Attempt(
        "memory bomb",
        "Takes four times the memory that a test may have: of its own, shared, in files of memory, in segments.",
        """
most, size = given["limits"]["memory"], 16 << 20
def taken(take):
    held, total = [], 0
    try:
        while total < 4 * most:
            held.append(take())
            total += size
    except (MemoryError, OSError, ValueError):
        pass
    return True if total > most else None
def touched(flags):
    one = mmap.mmap(-1, size, flags=flags)
    for place in range(0, size, 4096):
        one[place] = 1
    return one
tried("bytearray", taken, lambda: bytearray(b"x") * size)
tried("private", taken, lambda: touched(mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
tried("shared", taken, lambda: touched(mmap.MAP_SHARED | mmap.MAP_ANONYMOUS))
def file_of_memory():
    one = os.memfd_create("x")
    for _ in range(0, size, 1 << 20):
        os.write(one, bytes(1 << 20))
    return one
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
tried("files of memory", taken, file_of_memory)
def piped():
    ends = os.pipe()
    fcntl.fcntl(ends[1], 1031, size)
    os.set_blocking(ends[1], False)
    os.write(ends[1], bytes(size))
    return ends
tried("pipes", taken, piped)
""",
        ends=frozenset({"exited", "signal"}),
        held=_LIMITED,
        seconds=60,
    ),
    *(
        Attempt(
            f"disk filling: {name}",
            f"Writes three times what the scratch folder may hold: {name}.",
            f"""
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
most, part = given["limits"]["disk"], bytes(given["limits"]["file_size"] // 2)
total, held, number = 0, [], 0
{code.strip()}
try:
    while total < 3 * most and number < 60_000:
        total += more(number)
        number += 1
    say("got through: " + str(max(total, number)))
    time.sleep(1000)
except OSError:
    pass
time.sleep(given["look"])
""",
            ends=frozenset({"exited", "disk", "signal"}),
            held=None if name.startswith("blocks") else _LIMITED,
            seconds=20,
        )
        for name, code in (
            (
                "one file",
                """
file = os.open("file", os.O_RDWR | os.O_CREAT)
def more(number):
    return os.write(file, part)
""",
            ),
            (
                "many files",
                """
def more(number):
    with open(str(number), "wb", 0) as file:
        return file.write(part)
""",
            ),
            (
                "many folders",
                """
def more(number):
    os.mkdir(str(number))
    return 1
""",
            ),
            (
                "deep folders",
                """
def more(number):
    os.mkdir("d")
    os.chdir("d")
    return 1
""",
            ),
            (
                "files without a name",
                """
def more(number):
    held.append(os.open("file", os.O_RDWR | os.O_CREAT))
    os.unlink("file")
    return os.write(held[-1], part) + os.write(held[-1], part)
""",
            ),
            (
                "files that only a mapping holds",
                """
libc.mmap.restype = ctypes.c_void_p
def more(number):
    file = os.open("file", os.O_RDWR | os.O_CREAT)
    os.unlink("file")
    size = os.write(file, part)
    if libc.mmap(None, ctypes.c_size_t(4096), 1, 1, file, ctypes.c_long(0)) in (None, 2**64 - 1):
        raise OSError
    os.close(file)
    return size
""",
            ),
            (
                "files without a name, after the first thread has ended",
                """
def more(number):
    raise OSError
def fill():
    for _ in range(3 * most // (2 * len(part)) + 1):
        held.append(os.open("file", os.O_RDWR | os.O_CREAT))
        os.unlink("file")
        for _ in range(2):
            try:
                os.write(held[-1], part)
            except OSError:
                ctypes.string_at(0)
        time.sleep(0.01)
    time.sleep(1000)
threading.Thread(target=fill).start()
call("exit", 0)
""",
            ),
            (
                "blocks that are reserved",  # where nothing refuses that, the watch comes too late
                """
def more(number):
    file = os.open(str(number), os.O_RDWR | os.O_CREAT)
    checked(libc.fallocate(file, 1, ctypes.c_long(0), ctypes.c_long(most)))
    os.close(file)
    return most
""",
            ),
            (
                "with both pipes closed",
                """
os.dup2(0, 2), os.dup2(0, 4)
said = os.dup(1)
os.dup2(0, 1)
os.close(said)
def more(number):
    time.sleep(0.001)
    try:
        with open(str(number), "wb", 0) as file:
            return file.write(part)
    except OSError:
        ctypes.string_at(0)  # nobody would hear anything else
""",
            ),
        )
    ),
    *(
        Attempt(f"endless loop: {name}", f"Never ends: {name}.", code, frozenset({"timeout"}), _LIMITED, 1.0)
        for name, code in (
            ("busy", "while True: pass"),
            ("asleep", "time.sleep(1000)"),
            (
                "deaf to signals",
                """
for number in range(1, 65):
    tried_to = [signal.signal] if number not in (9, 19, 32, 33) else []
    for act in tried_to:
        act(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True: pass
""",
            ),
            ("with both pipes closed", "os.dup2(0, 1), os.dup2(0, 2), os.dup2(0, 4)\nwhile True: pass"),
            (
                "in a session of its own",
                """
for act in (os.setsid, os.setpgrp, lambda: os.setpgid(0, os.getppid())):
    try:
        act()
    except OSError:
        pass
while True: time.sleep(1)
""",
            ),
            (
                "in threads, after the first has ended",
                """
for _ in range(3):
    threading.Thread(target=time.sleep, args=(999,)).start()
call("exit", 0)
""",
            ),
            ("without a parent's death", "libc.prctl(1, 0, 0, 0, 0)\nwhile True: time.sleep(1)"),
            (
                "stopped",
                """
event = ctypes.create_string_buffer(struct.pack("QiI", 0, signal.SIGSTOP, 0), 64)
timer = ctypes.c_int()
libc.timer_create(1, event, ctypes.byref(timer))
libc.timer_settime(timer, 0, struct.pack("4q", 0, 0, 0, 1000), None)
while True: time.sleep(1)
""",
            ),
        )
    ),
    Attempt(
        "endless printing",
        "Prints without end, on both streams.",
        "while True:\n    os.write(1, b'x' * 65536)\n    os.write(2, b'y' * 65536)",
        ends=frozenset({"printed"}),
        held=_LIMITED,
    ),
    Attempt(
        "signals",
        "Kills and signals its parent, graphkit and another process: by calls, by descriptors, by terminals.",
        """
mild = signal.SIGURG
def owned(pid, deadly):
    ends = os.pipe()
    try:
        fcntl.fcntl(ends[0], fcntl.F_SETOWN, pid)
        fcntl.fcntl(ends[0], 10, int(deadly))
        fcntl.fcntl(ends[0], fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        os.write(ends[1], b"x")
        return True
    finally:
        os.close(ends[0]), os.close(ends[1])
others = [os.getppid(), given["pid"], given["bystander"], 1, 2]
for pid in others:
    deadly = signal.SIGTERM if pid == given["bystander"] else mild
    tried(f"F_SETOWN of {pid}", lambda: owned(pid, deadly))
    tried(f"kill {pid}", lambda: done(os.kill, pid, deadly))
    tried(f"killpg {pid}", lambda: done(os.killpg, pid, 0))
    tried(f"tgkill {pid}", lambda: call("tgkill", pid, pid, deadly))
    tried(f"tkill {pid}", lambda: call("tkill", pid, deadly))
    about = ctypes.create_string_buffer(struct.pack("3i", deadly, 0, -1), 128)
    tried(f"rt_sigqueueinfo {pid}", lambda: call("rt_sigqueueinfo", pid, deadly, about))
    tried(f"pidfd_open {pid}", lambda: signal.pidfd_send_signal(os.pidfd_open(pid), mild) or True)
    tried(f"setpgid {pid}", lambda: done(os.setpgid, 0, pid))
tried("kill 0", lambda: done(os.kill, 0, 0))
tried("kill -1", lambda: done(os.kill, -1, 0))
pair = socket.socketpair()
tried("SIOCSPGRP", lambda: done(fcntl.ioctl, pair[0], 0x8902, struct.pack("i", given["bystander"])))
def turned(number):
    return checked(libc.ioctl(pair[0].fileno(), ctypes.c_ulong(number), ctypes.byref(ctypes.c_int(given["bystander"]))))
tried("SIOCSPGRP with bits above", turned, 0x100008902)
""",
    ),
    Attempt(
        "other processes' limits",
        "Changes limits, priority, processors and scheduling of another process, and its own limits upwards.",
        """
for pid in (os.getppid(), given["pid"], given["bystander"]):
    tried(f"prlimit of {pid}", lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE))
    tried(f"setting prlimit of {pid}", lambda: resource.prlimit(given["bystander"], resource.RLIMIT_NOFILE, (50, 60)))
    tried(f"priority of {pid}", lambda: done(os.setpriority, os.PRIO_PROCESS, given["bystander"], 7))
    tried(f"processors of {pid}", lambda: done(os.sched_setaffinity, given["bystander"], {0}))
    tried(f"scheduling of {pid}", lambda: done(os.sched_setscheduler, given["bystander"], 3, os.sched_param(0)))
for kind in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_CPU):
    soft, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        tried(f"own limit {kind}", lambda: done(resource.setrlimit, kind, (hard + 1, hard + 1)))
""",
    ),
    Attempt(
        "other processes' memory",
        "Traces another process, or reads and writes its memory.",
        """
pid, place = given["pid"], given["place"]
def traced(request, one):
    checked(libc.ptrace(ctypes.c_long(request), ctypes.c_long(one), ctypes.c_long(0), ctypes.c_long(0)))
    os.waitpid(one, 0)
    libc.ptrace(ctypes.c_long(17), ctypes.c_long(one), ctypes.c_long(0), ctypes.c_long(0))
    return True
tried("ptrace", traced, 16, given["bystander"])
for one in (0, 1, 2, os.getppid(), pid):
    class Span(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
    held = ctypes.create_string_buffer(64)
    def by_call():
        mine, theirs = Span(ctypes.addressof(held), 32), Span(place, 32)
        checked(libc.process_vm_readv(one, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0))
        return held.value
    tried(f"process_vm_readv {one}", by_call)
    def by_file():
        with open(f"/proc/{one}/mem", "rb", 0) as file:
            file.seek(place)
            return file.read(32)
    tried(f"memory of {one}", by_file)
    for name in ("environ", "cmdline", "maps", "stack"):
        if one:
            tried(f"{name} of {one}", lambda: read(f"/proc/{one}/{name}") or None)
def taken():
    return call("pidfd_getfd", call("pidfd_open", pid, 0) - 1, given["descriptor"], 0)
tried("pidfd_getfd", taken)
tried("kcmp", call, "kcmp", os.getpid(), pid, 0, 0, 0)
event = ctypes.create_string_buffer(struct.pack("II", 1, 112), 112)
tried("perf_event_open", call, "perf_event_open", event, pid, -1, -1, 0)
""",
    ),
    Attempt(
        "secrets in the environment",
        "Reads the environment of graphkit, of its parent, and what it was itself started with.",
        """
tried("os.environ", lambda: repr(dict(os.environ)) if os.environ else None)
for name in ("self", "thread-self", "1", "2", os.getppid(), given["pid"], given["bystander"]):
    tried(f"of {name}", lambda: read(f"/proc/{name}/environ").decode() or None)
pointer = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
tried("in memory", lambda: pointer[0])
""",
    ),
    Attempt(
        "inherited descriptors",
        "Reads and writes each descriptor from 0 to 1023 that it wasn't given.",
        """
allowed = {0, 1, 2, 3, 4}
for number in range(5, 1024):
    tried(f"descriptor {number}", lambda: os.fstat(number) and str(os.fstat(number)))
tried("descriptor 0 holds something", lambda: os.read(0, 64) or None)
for number in (0, 3):
    tried(f"descriptor {number} is a folder", lambda: os.listdir(number))
""",
        held=_KEPT_BACK,
    ),
    Attempt(
        "shared memory and queues",
        "Reaches shared memory, semaphores and queues of others, and leaves some behind.",
        """
key = given["key"]
stat = ctypes.create_string_buffer(512)
libc.shmat.restype = ctypes.c_void_p
def attached():
    place = libc.shmat(given["segment"], None, 0o10000)
    return None if place in (None, 2**64 - 1) else ctypes.string_at(place, 32)
tried("a segment", attached)
tried("what is known of a segment", lambda: checked(libc.shmctl(given["segment"], 2, stat)))
tried("a list of segments", lambda: checked(libc.shmctl(0, 14, stat)))
def received():
    checked(libc.msgrcv(given["queue"], stat, ctypes.c_size_t(64), ctypes.c_long(0), 0o4000))
    return stat.raw[8:40]
tried("a message", received)
message = struct.pack("q8s", 1, b"x")
tried("a message sent", lambda: checked(libc.msgsnd(given["queue"], message, ctypes.c_size_t(8), 0o4000)))
tried("a semaphore", lambda: checked(libc.semctl(given["semaphore"], 0, 16, 5)))
step = struct.pack("Hhh", 0, 1, 0o4000)
tried("a semaphore operated", lambda: checked(libc.semop(given["semaphore"], step, ctypes.c_size_t(1))))
tried("removing a segment", lambda: checked(libc.shmctl(given["segment"], 0, None)))
tried("removing a queue", lambda: checked(libc.msgctl(given["queue"], 0, None)))
tried("removing a semaphore", lambda: checked(libc.semctl(given["semaphore"], 0, 0)))
tried("leaving a segment", lambda: checked(libc.shmget(key, ctypes.c_size_t(4096), 0o1600)))
tried("leaving a queue", lambda: checked(libc.msgget(key, 0o1600)))
tried("leaving semaphores", lambda: checked(libc.semget(key, 1, 0o1600)))
name = given["token"].encode()
tried("a queue with a name", lambda: call("mq_open", name, os.O_CREAT | os.O_RDWR, 0o600, None))
tried("removing it", lambda: call("mq_unlink", name))
""",
    ),
    Attempt(
        "keys of the kernel",
        "Leaves a key in a keyring, and asks for one.",
        """
tried("add_key", call, "add_key", b"user", given["token"].encode(), b"x", 1, -4)
tried("keyctl", call, "keyctl", 0, -4, 0, 0, 0)
""",
    ),
    Attempt(
        "mounts and namespaces",
        "Mounts, and makes, enters and leaves namespaces and roots.",
        """
kinds = {"user": 0x10000000, "mount": 0x20000, "network": 0x40000000, "processes": 0x20000000, "IPC": 0x8000000}
for name, flag in kinds.items():
    tried(f"unshare {name}", lambda: call("unshare", flag))
def entered():
    return checked(libc.setns(os.open(f"/proc/{given['pid']}/ns/net", os.O_RDONLY), 0))
tried("setns", entered)
tried("setns by a process", lambda: checked(libc.setns(os.pidfd_open(given["bystander"]), 0x20000)))
os.mkdir("here")
def mounted():
    checked(libc.mount(b"none", b"here", b"tmpfs", ctypes.c_ulong(0), None))
    return checked(libc.umount2(b"here", 2))
tried("mount", mounted)
tried("fsopen", call, "fsopen", b"tmpfs", 0)
tried("open_tree", call, "open_tree", -100, b"/", 1)
tried("umount", lambda: checked(libc.umount2(b"/scratch", 2)))
tried("swap", lambda: checked(libc.swapoff(b"here")))
if given["walled"]:
    tried("name of the host", lambda: checked(libc.sethostname(b"x", ctypes.c_size_t(1))))
asked = ctypes.create_string_buffer(struct.pack("IIQQQ", 32, 0, 2**64 - 1, 0, 0))
tried("a list of mounts", call, "listmount", asked, ctypes.create_string_buffer(800), 100, 0)
tried("chroot", lambda: done(os.chroot, "here"))
tried("pivot_root", call, "pivot_root", b".", b".")
tried("personality", lambda: checked(libc.personality(ctypes.c_ulong(0x0040000))))
""",
    ),
    Attempt(
        "another program",
        "Becomes another program.",
        """
program = given["python"]
said = 'print("got through: another program")'
for act in (
    lambda: os.execve(program, [program, "-S", "-c", said], {}),
    lambda: os.execve("/bin/sh", ["sh", "-c", "echo got through: a shell"], {}),
    lambda: os.execve(os.open(program, os.O_RDONLY), [program, "-S", "-c", said], {}),
    lambda: call("execveat", -100, program.encode(), (ctypes.c_char_p * 2)(program.encode(), None), None, 0),
):
    try:
        act()
    except OSError:
        pass
""",
    ),
    Attempt(
        "privileges",
        "Holds or gains capabilities, or another user's number.",
        """
def held():
    sets = (ctypes.c_uint32 * 6)()
    checked(libc.capget((ctypes.c_uint32 * 2)(0x20080522, 0), sets))
    return str(list(sets)) if any(sets) else None
tried("capabilities", held)
every = (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 3)
tried("all of them", lambda: checked(libc.capset((ctypes.c_uint32 * 2)(0x20080522, 0), every)))
other = 12345
tried("setuid", lambda: done(os.setresuid, other, other, other))
tried("setgid", lambda: done(os.setresgid, other, other, other))
tried("setgroups", lambda: done(os.setgroups, [other]))
tried("new privileges", lambda: libc.prctl(39, 0, 0, 0, 0) == 0)
tried("user 0", lambda: done(os.setuid, 0) if os.getuid() else None)
""",
    ),
    Attempt(
        "terminals",
        "Types into a terminal, or writes to one.",
        """
terminal = given["terminal"]
def typed(number):
    one = os.open(terminal, os.O_RDWR | os.O_NOCTTY)
    return checked(libc.ioctl(one, ctypes.c_ulong(number), b"x"))
tried("TIOCSTI", typed, 0x5412)
tried("TIOCSTI with bits above", typed, 0x100005412)
tried("writing", lambda: os.write(os.open(terminal, os.O_WRONLY | os.O_NOCTTY), b"x"))
tried("/dev/tty", lambda: os.open("/dev/tty", os.O_RDWR) + 1)
tried("/dev/ptmx", lambda: os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY) + 1)
for number in (0, 1, 2, 3, 4):
    tried(f"TIOCSTI on {number}", lambda: checked(libc.ioctl(number, ctypes.c_ulong(0x5412), b"x")))
    tried(f"stealing {number}", lambda: checked(libc.ioctl(number, ctypes.c_ulong(0x540E), 1)))
""",
    ),
    Attempt(
        "calls of another kind",
        "Makes a system call by the numbers of 32-bit programs, which no filter of the others would see.",
        """
import platform
if platform.machine() == "x86_64":
    # mov eax, 20 (getpid); int 0x80; ret: and then the same by the x32 number of getpid, 0x40000000 + 39.
    for name, text in (("32 bits", "b814000000cd80c3"), ("x32", "b8270000400f05c3")):
        try:
            page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        except OSError:
            break
        page.write(bytes.fromhex(text))
        place = ctypes.addressof(ctypes.c_char.from_buffer(page))
        threading.Thread(target=lambda: tried(name, lambda: ctypes.CFUNCTYPE(ctypes.c_int)(place)() > 0)).start()
        time.sleep(0.2)
""",
        ends=frozenset({"exited", "signal", "timeout"}),
        seconds=3,
    ),
    Attempt(
        "a forged reply",
        "Writes what looks like a reply of the sandbox into every descriptor.",
        """
frame = b"\\0\\0\\0\\x02{}" + b"\\0\\0\\0\\x03+{}"
for number in range(1024):
    for _ in range(3):
        try:
            os.write(number, frame)
        except OSError:
            break
""",
        ends=frozenset({"exited", "stopped"}),
        held="nothing but the test's own result is within its reach, with a wall or without",
    ),
    Attempt(
        "too large a result",
        "Gives a result far beyond what a result may hold, and nothing that can be read.",
        """
for _ in range(8):
    os.write(4, b'[' * given["limits"]["result"])
""",
        ends=frozenset({"exited", "stopped"}),
        held=_LIMITED,
    ),
    Attempt(
        "the next test",
        "Leaves something for the test that follows: files, names, timers, the random state, a full folder.",
        """
import builtins, gc, json, time
for number in range(40):
    for name in (f".{number}", f".{number}.{os.getppid()}"):
        os.makedirs(name + "/x/y")
os.makedirs("d/e/f")
os.makedirs("d/g/" + "h/" * 400)
os.symlink("..", "d/up")
os.symlink("/", "root")
os.mkdir("closed", 0)
open("d/-rf *\\n\\udcff", "w").close()
os.link("d/-rf *\\n\\udcff", "other")
random.seed(7)
os.umask(0o777)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.setitimer(signal.ITIMER_REAL, 0.5, 0.1)
os.environ["LEFT"] = "1"
builtins.print = json.dumps = time.monotonic = os._exit = None
sys.modules["__main__"]._run = sys.modules["__main__"]._empty = None
gc.freeze = None
fcntl.flock(os.open(".", os.O_RDONLY), fcntl.LOCK_EX)
os.chdir("d")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    for number in range(5):
        os.write(os.open(str(number), os.O_RDWR | os.O_CREAT, 0o600), bytes(given["limits"]["file_size"]))
except OSError:
    pass
os.write(1, b"tried everything\\n")
os.kill(os.getpid(), 9) if not given["walled"] else ctypes.string_at(0)
""",
        ends=frozenset({"signal", "disk"}),
        held="what one test leaves is cleared away with a wall or without",
    ),
)
