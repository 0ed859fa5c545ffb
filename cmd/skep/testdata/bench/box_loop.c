// box_loop runs `true` again and again, each time in the namespaces and mounts that a box of Skep has, and in nothing
// else: no filter of system calls, no Landlock, no limits, no output. What a node needs beyond it is its own.
//
// usage: box_loop TIMES ROOT WORK       ROOT an empty folder, WORK a folder of attempts
//        box_loop TIMES                 without boxes: fork, exec, wait
//
// prints the microseconds a task: wall, CPU time, system time
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char stack[1 << 16] __attribute__((aligned(16)));
static int users; // not root: user namespaces, as boxes then have
static int uid, gid;

static void check(int failed, const char *what) {
	if (failed) {
		perror(what);
		_exit(1);
	}
}

static void put(const char *file, const char *format, int a, int b) {
	char text[64];
	int n = snprintf(text, sizeof text, format, a, b), fd = open(file, O_WRONLY);
	check(fd < 0 || write(fd, text, n) != n, file);
	close(fd);
}

static void map(void) {
	put("/proc/self/setgroups", "deny", 0, 0);
	put("/proc/self/uid_map", "%d %d 1\n", uid, uid);
	put("/proc/self/gid_map", "%d %d 1\n", gid, gid);
}

static int run(void) {
	static char *argv[] = {"true", 0}, *env[] = {"PATH=/usr/bin:/bin", 0};
	int status = 0;
	pid_t p = vfork();
	if (p == 0) {
		execve("/bin/true", argv, env);
		_exit(127);
	}
	check(p < 0 || waitpid(p, &status, 0) < 0, "run");
	return status != 0;
}

static int stub(void *none) {
	const int flags = MS_NOSUID | MS_NODEV;
	if (users)
		map();
	check(mount("/dev/shm/a/work", "/task/work", 0, MS_BIND, 0), "work");
	check(mount("/dev/shm/a/tmp", "/task/tmp", 0, MS_BIND, 0), "tmp");
	check(mount("proc", "/proc", "proc", flags | MS_NOEXEC | MS_RDONLY, 0), "proc");
	check(mount("tmpfs", "/dev/shm", "tmpfs", flags, "mode=1777,size=50%,nr_inodes=65536"), "shm");
	check(mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"), "pts");
	_exit(run());
}

// show binds a file or folder into the tree, which is made in the current folder; one that is not there is left out.
static void show(const char *source, const char *target) {
	struct stat st;
	if (stat(source, &st))
		return;
	if (S_ISDIR(st.st_mode))
		mkdir(target, 0755);
	else
		close(open(target, O_CREAT | O_WRONLY, 0644));
	check(mount(source, target, 0, MS_BIND | MS_REC, 0), target);
}

static void link_or_show(const char *path) {
	char to[256];
	ssize_t n = readlink(path, to, sizeof to - 1);
	if (n <= 0) {
		show(path, path + 1);
		return;
	}
	to[n] = 0;
	check(symlink(to, path + 1), path);
}

static void tree(const char *root, const char *work) {
	static const char *made[] = {"dev", "dev/pts", "proc", "task", "task/work", "task/tmp", "sys", "sys/devices", "old"};
	static const char *linked[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
	static const char *devices[] = {"null", "zero", "full", "random", "urandom", "tty"};
	check(mount(0, "/", 0, MS_REC | MS_PRIVATE, 0), "private");
	check(mount("tmpfs", root, "tmpfs", 0, 0), root);
	check(chdir(root), root);
	for (size_t i = 0; i < sizeof made / sizeof *made; i++)
		mkdir(made[i], 0755);
	show("/usr", "usr");
	show("/opt", "opt");
	show("/sys/devices/system", "sys/devices/system");
	for (size_t i = 0; i < sizeof linked / sizeof *linked; i++)
		link_or_show(linked[i]);
	show(work, "dev/shm");
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
		char at[32], name[32];
		snprintf(at, sizeof at, "/dev/%s", devices[i]);
		snprintf(name, sizeof name, "dev/%s", devices[i]);
		show(at, name);
	}
	check(mount("proc", "proc", "proc", 0, 0), "proc");
	check(syscall(SYS_pivot_root, ".", "old"), "pivot_root");
	check(chdir("/") || umount2("/old", MNT_DETACH), "old");
	check(mkdir("/dev/shm/a", 0755) || mkdir("/dev/shm/a/work", 0755) || mkdir("/dev/shm/a/tmp", 0755), "attempt");
}

static double micro(struct timeval t) { return t.tv_sec * 1e6 + t.tv_usec; }

static void loop(int times, int boxes) {
	struct timespec from, to;
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < times; i++) {
		int status = 0, flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | (users ? CLONE_NEWUSER : 0) | SIGCHLD;
		if (!boxes) {
			status = run();
		} else {
			pid_t p = clone(stub, stack + sizeof stack, flags, 0);
			check(p < 0 || waitpid(p, &status, 0) < 0, "clone");
		}
		check(status != 0, "true");
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	struct rusage own, children;
	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	double sys = micro(own.ru_stime) + micro(children.ru_stime);
	double all = sys + micro(own.ru_utime) + micro(children.ru_utime);
	double wall = (to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) / 1e3;
	printf("%.2f %.2f %.2f\n", wall / times, all / times, sys / times);
}

int main(int argc, char **argv) {
	int times = argc > 1 ? atoi(argv[1]) : 0, status = 0;
	if (argc < 4) {
		loop(times, 0);
		return 0;
	}
	uid = getuid(), gid = getgid(), users = uid != 0;
	check(unshare(CLONE_NEWNS | CLONE_NEWPID | (users ? CLONE_NEWUSER : 0)), "unshare");
	if (users)
		map();
	pid_t first = fork(); // process 1
	if (first == 0) {
		tree(argv[2], argv[3]);
		loop(times, 1);
		return 0;
	}
	waitpid(first, &status, 0);
	return status != 0;
}
