package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func confined(t *testing.T) *Runner {
	t.Helper()
	r := newRunner(t)
	if r.host.abi == 0 {
		t.Skip("this kernel has no Landlock")
	}
	return r
}

// try runs each command in the task's shell, and in a grandchild of it, and wants all to succeed or
// all to fail.
func try(t *testing.T, r *Runner, s Spec, succeed bool, commands ...string) {
	t.Helper()
	for _, c := range commands {
		for _, script := range []string{c, `sh -c 'sh -c "$C"; exit $?'; exit $?`} {
			s.Argv = []string{"/bin/sh", "-c", script}
			s.Env = append(s.Env, "C="+c)
			res, _ := run(t, r, s)
			if ok := res.Code() == 0; ok != succeed {
				t.Errorf("%q (as %q): code %d\n%s", c, script, res.Code(), output(t, s, Stderr))
			}
		}
	}
}

func TestTaskCannotReachTheDeniedFolder(t *testing.T) {
	r := confined(t)
	s := spec(t, r, "")
	if err := os.WriteFile(filepath.Join(s.Deny, "secret"), []byte("s"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.Deny, "folder"), 0o777); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(s.Deny, "other-attempt")
	if err := r.Prepare(other); err != nil {
		t.Fatal(err)
	}
	s.Env = []string{"D=" + s.Deny, "O=" + Work(other)}
	try(t, r, s, false,
		`cat "$D/secret"`, `ls "$D"`, `ls "$D/folder"`, `echo x >"$D/new"`, `echo x >>"$D/secret"`, `rm "$D/secret"`,
		`mv "$D/secret" .`, `ln "$D/secret" mine`, `mkdir "$D/folder/new"`, `: >"$O/x"`, `: >../stdout`, `: >../new`, `echo x; rm ../stdout`,
		`ln -s "$D/secret" link; cat link`, `cat "/proc/`+strconv.Itoa(os.Getpid())+`/root$D/secret"`,
		`cat /proc/`+strconv.Itoa(os.Getpid())+`/environ`)
	if b, err := os.ReadFile(filepath.Join(s.Deny, "secret")); err != nil || string(b) != "s" {
		t.Errorf("the secret is now %q, %v", b, err)
	}
}

func TestTaskCanWork(t *testing.T) {
	r := confined(t)
	s := spec(t, r, "")
	beside := filepath.Join(filepath.Dir(s.Deny), "beside") // found although it is new
	if err := os.WriteFile(beside, []byte("b"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Env = []string{"BESIDE=" + beside}
	try(t, r, s, true,
		`cat /etc/hostname`, `echo x >f && cat f && rm f`, `mkdir -p d/e && mv d d2 && rm -r d2`,
		`f=$(mktemp) && echo x >"$f" && mv "$f" g`, `echo x >/dev/null`, `head -c 1 /dev/urandom`, `cat /proc/self/status`,
		`ls /usr/bin >/dev/null`, `cat "$BESIDE"`, `ls . "$HOME"`, `cp /bin/true t && ./t`, `echo x >/dev/stderr`,
		`: >/dev/shm/skep-$$ && rm /dev/shm/skep-$$`)
	try(t, r, s, false, `echo x >/etc/skep-test`, `echo x >"$BESIDE.new" && test ! -w /tmp`)
}

func TestTaskCannotSignalTheNode(t *testing.T) {
	r := confined(t)
	if r.host.abi < 6 {
		t.Skip("Landlock before version 6 does not confine signals")
	}
	victim := exec.Command("sleep", "1000") // as a stand-in for the node, of the same user
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer victim.Wait()
	defer victim.Process.Kill()
	s := spec(t, r, "")
	s.Env = []string{"V=" + strconv.Itoa(victim.Process.Pid), "N=" + strconv.Itoa(os.Getpid())}
	try(t, r, s, false, `kill -KILL $V`, `kill -0 $N`)
	try(t, r, s, true, `sleep 1000 & kill $!`)
	if unix.Kill(victim.Process.Pid, 0) != nil || gone(victim.Process.Pid) {
		t.Error("the victim is dead")
	}
}

func TestRootTaskLosesDangerousCapabilities(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	r := newRunner(t)
	_, out := run(t, r, spec(t, r, `sed -n 's/^CapEff:\t//p' /proc/self/status`))
	caps, err := strconv.ParseUint(strings.TrimSpace(out), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range dangerous {
		if caps&(1<<c) != 0 {
			t.Errorf("capability %d is there: %x", c, caps)
		}
	}
	if caps&(1<<unix.CAP_DAC_OVERRIDE) == 0 {
		t.Errorf("root cannot be root in its own folder: %x", caps)
	}
}

func TestNodeIsNotRestricted(t *testing.T) {
	r := confined(t)
	s := spec(t, r, `true`)
	for range 20 {
		run(t, r, s)
		if err := os.WriteFile(filepath.Join(s.Deny, "secret"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tasks, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "no thread with no_new_privs is left", func() bool {
		for _, f := range tasks {
			if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), "NoNewPrivs:\t1") {
				return os.Getenv("CI_NO_NEW_PRIVS") != ""
			}
		}
		return true
	})
}

func TestTasksOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	if _, err := New(Options{User: "no such user"}); err == nil || !strings.Contains(err.Error(), `"no such user" is neither`) {
		t.Errorf("a user that is not there: %v", err)
	}
	r, err := New(Options{User: "65534"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := os.MkdirTemp("/tmp", "skep-user") // t.TempDir lets nobody else pass
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(data)
	dir := filepath.Join(data, "attempt")
	if err := r.Prepare(dir); err != nil {
		t.Fatal(err)
	}
	s := Spec{Argv: []string{"/bin/sh", "-c", `id -u; echo x >f && cat f && echo $HOME`}, Dir: dir, Deny: data}
	if _, err := r.Start(s); err == nil || !strings.Contains(err.Error(), data) {
		t.Errorf("a folder in the way is not named: %v", err)
	}
	if err := os.Chmod(data, 0o711); err != nil {
		t.Fatal(err)
	}
	if res, out := run(t, r, s); res.Code() != 0 || out != "65534\nx\n"+Work(dir)+"\n" {
		t.Errorf("code %d, %q, %s", res.Code(), out, output(t, s, Stderr))
	}
	if ok, why := r.Confined(); !ok || !strings.Contains(why, "nobody") {
		t.Errorf("%v, %q", ok, why)
	}
}

func TestWithoutLandlock(t *testing.T) {
	r := newRunner(t)
	r.host.abi = 0
	if ok, why := r.Confined(); ok || !strings.Contains(why, "no Landlock") {
		t.Errorf("%v, %q", ok, why)
	}
	if res, _ := run(t, r, spec(t, r, `exit 3`)); res.Code() != 3 {
		t.Errorf("code %d", res.Code())
	}
}

func TestPolicySees(t *testing.T) {
	abi := landlockABI()
	if abi == 0 {
		t.Skip("this kernel has no Landlock")
	}
	if _, err := newPolicy(abi, "/no/such/folder"); err == nil {
		t.Error("a denied folder that is not there was taken")
	}
	link := filepath.Join(t.TempDir(), "link")
	real := t.TempDir()
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	p, err := newPolicy(abi, link)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if p.ways[0].except != filepath.Base(real) {
		t.Errorf("a link is denied as %q", p.ways[0].except)
	}
}

func TestPolicySeesWhatComesInTheSameTick(t *testing.T) {
	deny := filepath.Join(t.TempDir(), "home", "data")
	if err := os.MkdirAll(deny, 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := newPolicy(1, deny)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	l := &p.ways[0]
	var st unix.Stat_t
	p.refresh(l)
	if err := os.Mkdir(filepath.Join(l.dir, "late"), 0o700); err != nil {
		t.Fatal(err)
	}
	unix.Stat(l.dir, &st)
	l.changed, l.cost = st.Mtim, 0 // as if the folder's time had not moved on
	p.refresh(l)
	if len(l.grants) != 1 {
		t.Errorf("%d grants: want one for the entry that came right after the folder was read", len(l.grants))
	}
	l.read = l.read.Add(time.Hour)
	if l.stale(l.changed) {
		t.Error("a folder that has rested is read again")
	}
}
