package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"skep/internal/screen"
	"skep/node/api/v1"
)

// atTerminal starts a command at a terminal of 24 lines and 80 columns, whose lines it may draw again.
func (m *member) atTerminal(t *testing.T, args ...string) *screen.Terminal {
	t.Helper()
	return m.startAt(screen.Open(t, screen.Options{}), args...)
}

// startAt starts a command at a terminal.
func (m *member) startAt(x *screen.Terminal, args ...string) *screen.Terminal {
	x.Start(exec.Command(m.skep, append([]string{"--data-dir", m.dir}, args...)...))
	return x
}

// leaves waits for the end of a command at a terminal, and compares its code and what is left on the screen.
func leaves(t *testing.T, x *screen.Terminal, code int, text string) {
	t.Helper()
	if got := exitCode(x.End()); got != code {
		t.Errorf("it ended with %d: want %d", got, code)
	}
	x.Await(fmt.Sprintf("at its end %q", text), func(got string) bool { return got == text })
}

// exitCode is the exit code of a process, or -1 if a signal ended it.
func exitCode(s syscall.WaitStatus) int {
	if s.Signaled() {
		return -1
	}
	return s.ExitStatus()
}

// gatedScript says its progress in three steps, and goes on when the file of each is there.
const gatedScript = `for i in 1 2 3; do
	echo "progress $i 4 step $i" >"$SKEP_PROGRESS"
	until [ -e '%[1]s'/$i ]; do sleep 0.05; done
done
echo printed; exit 3`

func touch(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// The bar of a task follows what the task says, goes when it prints, and leaves nothing on the screen.
func TestProgressOfATaskOnATerminal(t *testing.T) {
	t.Parallel()
	dir, expose := sharedFolder(t)
	m := startMember(t, "skep", "", expose...)
	x := m.atTerminal(t, "run", "--", "sh", "-c", fmt.Sprintf(gatedScript, dir))
	x.LastLine("job ", "[", "] 1 of 4", "step 1")
	touch(t, dir+"/1")
	x.LastLine("==", "] 2 of 4", "step 2")
	w := m.atTerminal(t, "job", "wait", "last")
	w.LastLine("] 2 of 4", "step 2")
	touch(t, dir+"/2")
	x.LastLine("] 3 of 4", "step 3")
	touch(t, dir+"/3")
	leaves(t, x, 3, "printed")
	leaves(t, w, 3, "")
}

// The bar of several tasks says how many run, wait, and have failed.
func TestProgressOfManyTasksOnATerminal(t *testing.T) {
	t.Parallel()
	dir, expose := sharedFolder(t)
	m := startMember(t, "skep", "", append(expose, "--cpus", "2")...)
	x := m.atTerminal(t, "run", "--count", "6", "--", "sh", "-c",
		fmt.Sprintf("until [ -e '%s'/$SKEP_INDEX ]; do sleep 0.05; done; [ $SKEP_INDEX != 1 ]", dir))
	x.LastLine("] 0 of 6, 2 running, 4 waiting")
	touch(t, dir+"/0")
	touch(t, dir+"/1")
	x.LastLine("] 2 of 6, 2 running, 2 waiting, 1 failed")
	x.Signal(syscall.SIGINT)
	leaves(t, x, 130, "skep: cancelling the job; interrupt again to leave at once\n"+
		"skep: task 2: cancelled\nskep: and 3 more tasks were cancelled")
}

// An upload shows its bytes. The file is so large that the interrupt comes before its end, on however slow a machine.
func TestProgressOfAnUploadOnATerminal(t *testing.T) {
	t.Parallel()
	m := startMember(t, "skep", "")
	big := t.TempDir() + "/big"
	if err := os.WriteFile(big, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 60<<30); err != nil {
		t.Fatal(err)
	}
	x := m.atTerminal(t, "run", "--input", big+"=big", "--", "true")
	x.LastLine("upload [", "iB of 60 GiB")
	x.Signal(syscall.SIGINT)
	leaves(t, x, 130, "skep: interrupted before the job was submitted")
}

// stalled is the API of a node that has a job with a file of 1 GiB, of which it sends a quarter and no more.
func stalled() http.Handler {
	const size = 1 << 30
	h := http.NewServeMux()
	say := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(v) }
	}
	h.HandleFunc("/v1/jobs/{id}", say(v1.Job{ID: "aaaa", Count: 1}))
	h.HandleFunc("/v1/jobs/{id}/tasks", say(v1.TaskPage{Job: "aaaa", Tasks: []v1.Task{
		{Result: &v1.Result{Outputs: []v1.File{{Path: "big", Blob: strings.Repeat("0", 64), Size: size}}}}}}))
	h.HandleFunc("/v1/jobs/{id}/blobs/{blob}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, _ = w.Write(make([]byte, size/4))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	return h
}

// The bar of files that are fetched shows their bytes, and goes when a signal ends the program.
func TestProgressOfAGetOnATerminal(t *testing.T) {
	t.Parallel()
	m := &member{skep: "skep", dir: fakeAPI(t, stalled()).dataDir}
	x := m.atTerminal(t, "job", "get", "last", "-o", t.TempDir())
	x.LastLine("[", "256 MiB of 1.0 GiB")
	x.Signal(syscall.SIGINT)
	leaves(t, x, -1, "")
	if s := x.End(); s.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v: want as SIGINT does", s)
	}
}
