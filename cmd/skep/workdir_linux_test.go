package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"skep/grid"
)

// exposedAs makes a folder for the tasks that ask for it, and returns how a node exposes it: a node of root runs them
// as another user, whose the folder is.
func exposedAs(t *testing.T, by string) (dir, setting string, owner uint32) {
	t.Helper()
	dir, _ = sharedFolder(t)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		return dir, dir + ":rw", uint32(os.Geteuid())
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("this machine has no user nobody")
	}
	id, _ := strconv.Atoi(u.Uid)
	group, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, id, group); err != nil {
		t.Fatal(err)
	}
	return dir, dir + ":rw:as=nobody:for=" + by, uint32(id)
}

// A task starts in a folder of its node's machine, which the node exposes for that; the files that it makes there are
// the folder's owner's. A folder that no node exposes is refused with the reason.
func TestWorkFolderOfTheMachine(t *testing.T) {
	t.Parallel()
	if isolation() != grid.IsolationStrict && os.Geteuid() == 0 {
		t.Skip("needs boxes and control groups to run tasks as an account")
	}
	dir, setting, owner := exposedAs(t, "*")
	a := startMember(t, "skep", "", "--name", "a")
	startMember(t, "skep", a.join, "--name", "b", "--expose", setting)
	out := a.run(t, "", "run", "--workdir", dir, "--", "sh", "-c",
		`pwd; echo "$PWD"; test "$HOME" = "$SKEP_WORK" && echo home
		echo $SKEP_NODE_NAME; echo x > made; ls -A "$SKEP_WORK"`)
	if want := dir + "\n" + dir + "\nhome\nb\n"; out != want {
		t.Errorf("%q: want %q", out, want)
	}
	info, err := os.Stat(filepath.Join(dir, "made"))
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != owner {
		t.Errorf("the file is %+v, %v: want one of user %d", info, err, owner)
	}

	// what it takes along, brings back and is at home in
	input := filepath.Join(t.TempDir(), "taken.sh")
	script := "#!/bin/sh\necho taken; pwd; echo y > $SKEP_WORK/out.txt\n"
	if err := os.WriteFile(input, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(dir, "sub")
	if err := errors.Join(os.Mkdir(sub, 0o777), os.Chmod(sub, 0o777)); err != nil {
		t.Fatal(err)
	}
	out = a.run(t, "", "run", "--workdir", sub, "--input", input, "--", "./taken.sh")
	if want := "taken\n" + sub + "\n"; out != want {
		t.Errorf("%q: want %q", out, want)
	}
	out = a.run(t, "", "run", "--home", dir, "--", "sh", "-c", `echo $HOME; pwd; ls ~`)
	home, rest, _ := strings.Cut(out, "\n")
	if home != dir || strings.HasPrefix(rest, dir) || !strings.HasSuffix(rest, "made\nsub\n") {
		t.Errorf("with a home: %q", out)
	}
	job := filepath.Join(t.TempDir(), "job.yaml")
	text := fmt.Sprintf("command: [sh, -c, 'echo $MODE; pwd']\nworkdir: %s\nenv: {MODE: }\n", dir)
	if err := os.WriteFile(job, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	failsWith(t, a, 1, "env \"MODE\": is not set here", "job", "submit", job)

	failsWith(t, a, grid.ExitCannotExecute, "workdir "+dir+"/none: no such file or directory", "run", "--workdir",
		dir+"/none", "--", "./there.sh")
	failsWith(t, a, grid.ExitUnplaceable, "not exposed to work in: want skep up --expose /nowhere/x:rw there",
		"run", "--workdir", "/nowhere/x", "--", "true")
}

// Who may run tasks as the account of a folder the operator says, by user and node.
func TestWorkFolderIsForNamedSubmitters(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 || isolation() != grid.IsolationStrict {
		t.Skip("needs a node of root, with boxes and control groups")
	}
	dir, setting, owner := exposedAs(t, "somebody")
	a := startMember(t, "skep", "", "--expose", setting)
	failsWith(t, a, grid.ExitCannotExecute, "as nobody, and not for \"root\"", "run", "--workdir", dir, "--", "true")
	if out := a.run(t, "", "run", "--", "id", "-u"); strings.TrimSpace(out) == fmt.Sprint(owner) {
		t.Error("a task that did not ask for the folder runs as its owner")
	}
	dir, setting, _ = exposedAs(t, "root")
	b := startMember(t, "skep", "", "--expose", setting)
	if out := b.run(t, "", "run", "--workdir", dir, "--", "id", "-un"); out != "nobody\n" {
		t.Errorf("runs as %q", out)
	}
}

// failsWith runs a client of a node, which must end with a code and say why.
func failsWith(t *testing.T, m *member, code int, why string, args ...string) {
	t.Helper()
	cmd := exec.Command(m.skep, append([]string{"--data-dir", m.dir}, args...)...)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(string(out), why) {
		t.Errorf("skep %v: code %d, want %d and %q:\n%s", args, got, code, why, out)
	}
}
