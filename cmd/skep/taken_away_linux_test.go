package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A cleaner that removes what a task has in its work folder, or what it has printed, makes its attempt lost: it
// runs again elsewhere, and the result is whole. With retries: 0 it ends as lost, and never with half of what it
// made.
func TestWorkFolderIsTakenAway(t *testing.T) {
	t.Parallel()
	dir, expose := sharedFolder(t)
	ms := startGrid(t, "skep", 2, expose...)
	job := "command: [sh, -c, 'cat in; touch " + dir + "/$1-$SKEP_NODE; while [ ! -e " + dir +
		"/gate-$1 ]; do sleep 0.05; done; echo made > out', sh, NAME]\ninputs: [in]\noutputs: [out]\nretries: "
	work := t.TempDir()
	for name, text := range map[string]string{"in": "brought\n",
		"again.yaml": strings.Replace(job, "NAME", "again", 1) + "1\n",
		"once.yaml":  strings.Replace(job, "NAME", "once", 1) + "0\n"} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"again", "once"} {
		id := strings.TrimSpace(ms[0].run(t, "", "job", "submit", filepath.Join(work, name+".yaml")))
		var begun []string
		until(t, "it runs", func() bool {
			begun, _ = filepath.Glob(filepath.Join(dir, name+"-*"))
			return len(begun) > 0
		})
		for _, m := range ms { // of one of them it is the work folder
			left, _ := filepath.Glob(filepath.Join(m.dir, "work", "*"))
			for _, path := range left {
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "gate-"+name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		c := ms[0].begin(t, "job", "wait", id)
		code := c.end(t)
		if name == "once" {
			if said := ms[0].run(t, "", "job", "describe", id); code != 125 || !strings.Contains(said, "lost: ") ||
				!strings.Contains(said, "taken away") {
				t.Errorf("with retries: 0 it ended with %d: want it lost, and why\n%s", code, said)
			}
			continue
		}
		got := filepath.Join(work, "got")
		ms[0].run(t, "", "job", "get", id, "-o", got)
		made, err := os.ReadFile(filepath.Join(got, "out"))
		if log := ms[0].run(t, "", "job", "logs", id); code != 0 || string(made) != "made\n" || log != "brought\n" {
			t.Errorf("it ended with %d, printed %q and made %q, %v\n%s", code, log, made, err,
				ms[0].run(t, "", "job", "explain", id))
		}
		if begun, _ = filepath.Glob(filepath.Join(dir, name+"-*")); len(begun) != 2 {
			t.Errorf("it began on %v: want both nodes", begun)
		}
	}
}

// A node whose folder of all attempts is taken away cannot run anything any more: it ends and says why, and its
// task runs elsewhere.
func TestAllWorkFoldersAreTakenAway(t *testing.T) {
	t.Parallel()
	if isolation() == 0 {
		t.Skip("without boxes the folder is made again")
	}
	ms := startGrid(t, "skep", 2)
	a, b := ms[0], ms[1]
	b.run(t, "", "run", "--", "true")
	if err := os.RemoveAll(filepath.Join(a.dir, "work")); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- a.cmd.Wait() }()
	for going := true; going; {
		if out := b.run(t, "", "run", "--count", "8", "--", "echo", "well"); strings.Count(out, "well") != 8 {
			t.Errorf("they print %q", out)
		}
		select {
		case <-ended:
			going = false
		default:
		}
	}
	code, said := a.cmd.ProcessState.ExitCode(), a.log.String()
	if code != 125 || !strings.Contains(said, "the folder of all attempts, ") {
		t.Errorf("it ended with %d and said\n%s", code, said)
	}
}
