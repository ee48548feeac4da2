"""One command as a person runs it: its time and the memory it takes."""
import os
import re
import subprocess
import threading
import time
from collections import namedtuple

Timed = namedtuple("Timed", "processor wall megabytes")
LOOK_EVERY = 0.005  # seconds


def timed(*command):
    """Seconds of processor and on the wall, and the most memory; raises RuntimeError with what the command says."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    memory = Memory(process.pid)
    message = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode != 0:
        raise RuntimeError(message.strip())
    return Timed(usage.ru_utime + usage.ru_stime, wall, memory.most())


class Memory:
    """The high-water mark of a process's memory, looked at until it ends. (What wait4 says of that is at least what this
    process had when it started the other.)"""

    def __init__(self, pid):
        self.path, self.kilobytes = f"/proc/{pid}/status", 0
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        while self.look():
            time.sleep(LOOK_EVERY)

    def look(self):
        """False once it has ended."""
        try:
            with open(self.path, encoding="utf-8") as file:
                found = re.search(r"^VmHWM:\s+(\d+)", file.read(), flags=re.MULTILINE)
        except OSError:
            return False
        if found:
            self.kilobytes = int(found[1])
        return found is not None

    def most(self):
        self.thread.join()
        return self.kilobytes / 1024
