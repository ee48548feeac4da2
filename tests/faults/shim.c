/* Disks that fail when a test wants them to: preloaded, this stands before the calls that change
 * files below HQMM_FAULT_FOLDER (an absolute path) and counts them.
 *
 *   HQMM_FAULT_LOG=file        a line per call: its name, and the file's
 *   HQMM_FAULT_MODE=kill       the process is killed before call number HQMM_FAULT_AT (from 1)
 *   HQMM_FAULT_MODE=fail       that call fails with HQMM_FAULT_ERRNO
 *   HQMM_FAULT_MODE=full       from that call on nothing can be made or written
 *   HQMM_FAULT_MODE=sync       from that call on no file reaches the disk
 *   HQMM_FAULT_MODE=short      every write takes half of what it is given
 *   HQMM_FAULT_MODE=interrupt  every other write is interrupted by a signal
 *   HQMM_FAULT_MODE=delay      every call takes HQMM_FAULT_AT microseconds longer
 *
 * The kernel is called directly: nothing here passes through itself again. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long calls;
static atomic_long writes;

static const char* setting(const char* name) {
  const char* value = getenv(name);
  return value != NULL ? value : "";
}

static int mode_is(const char* mode) { return strcmp(setting("HQMM_FAULT_MODE"), mode) == 0; }

static int watched(const char* path) {
  const char* folder = setting("HQMM_FAULT_FOLDER");
  const size_t length = strlen(folder);
  return length > 0 && strncmp(path, folder, length) == 0;
}

static void record(const char* name, const char* path) {
  const char* log = getenv("HQMM_FAULT_LOG");
  if (log == NULL) return;
  char line[4200];
  const int length = snprintf(line, sizeof line, "%s %s\n", name, path);
  const long fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (syscall(SYS_write, fd, line, (size_t)length) != length) abort();
  syscall(SYS_close, fd);
}

/* Counts a call. True when it is to fail: errno is set then. */
static int fails(const char* name, const char* path) {
  if (!watched(path)) return 0;
  record(name, path);
  const long at = atol(setting("HQMM_FAULT_AT"));
  if (mode_is("delay")) usleep((useconds_t)at);
  const long call = ++calls;
  const int makes =
      strcmp(name, "create") == 0 || strcmp(name, "write") == 0 || strcmp(name, "folder") == 0;
  errno = atoi(setting("HQMM_FAULT_ERRNO"));
  if (call >= at && mode_is("full")) return makes;
  if (call >= at && mode_is("sync")) return strcmp(name, "sync") == 0;
  if (call != at) return 0;
  if (mode_is("kill")) raise(SIGKILL);
  return mode_is("fail");
}

/* The file that a descriptor is of; empty for what has no name. */
static void name_of(int fd, char* path, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, size - 1);
  path[length > 0 ? length : 0] = '\0';
}

static int fails_on(const char* name, int fd) {
  char path[4096];
  name_of(fd, path, sizeof path);
  struct stat status;
  const int folder = fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
  return fails(folder ? "sync-folder" : name, path);
}

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
    if (fails("create", path)) return -1;
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t write(int fd, const void* bytes, size_t size) {
  char path[4096];
  name_of(fd, path, sizeof path);
  if (fails("write", path)) return -1;
  if (watched(path) && mode_is("interrupt") && writes++ % 2 == 0) {
    errno = EINTR;
    return -1;
  }
  if (watched(path) && mode_is("short") && size > 1) size /= 2;
  return syscall(SYS_write, fd, bytes, size);
}

/* What a process has written survives its end without this: it only costs time. */
int fsync(int fd) { return fails_on("sync", fd) ? -1 : 0; }

int ftruncate(int fd, off_t size) {
  return fails_on("truncate", fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int rename(const char* from, const char* to) {
  return fails("rename", to) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int mkdir(const char* path, mode_t mode) {
  return fails("folder", path) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int unlink(const char* path) {
  return fails("remove", path) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int remove(const char* path) {
  if (fails("remove", path)) return -1;
  const long done = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  return (int)(done != 0 && errno == EISDIR ? syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR)
                                            : done);
}
