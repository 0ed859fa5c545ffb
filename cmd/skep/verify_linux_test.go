package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each node that keeps a signed job checks by itself who has signed how its tasks ended, also when the job's node is
// gone. A node that does not keep it says which do, and of a job that is not signed nothing is proved.
func TestVerifySignatures(t *testing.T) {
	t.Parallel()
	ms := []*member{startMember(t, "skep", "", "--name", "a", "--label", "at=a")}
	ms = append(ms, startMember(t, "skep", ms[0].join, "--name", "b", "--label", "at=b"),
		startMember(t, "skep", ms[0].join, "--name", "c", "--label", "at=c", "--sign", "never", "--members", "1"))
	awaitMembers(t, ms)
	a, b, c := ms[0], ms[1], ms[2]
	verify := func(m *member, id string, args ...string) (string, int) {
		t.Helper()
		cmd := exec.Command("skep", append([]string{"--data-dir", m.dir, "job", "describe", "--verify", id}, args...)...)
		text, _ := cmd.CombinedOutput()
		return string(text), cmd.ProcessState.ExitCode()
	}
	expect := func(m *member, id string, want int, parts ...string) { // in time: a keeper may hear of an end later
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			text, code := verify(m, id)
			missing := slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return strings.Contains(text, p) })
			if code == want && len(missing) == 0 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: exit code %d without %q, want %d", text, code, missing, want)
			}
		}
	}
	id := strings.TrimSpace(a.run(t, "", "run", "--detach", "--count", "3", "--label", "at=b", "--", "sh", "-c",
		`test $SKEP_INDEX != 2 || sleep 600; exit $SKEP_INDEX`))
	for _, m := range []*member{a, b} { // b answers for itself, while a owns the job
		expect(m, id, 0, "2 signed by the workers that ran them, 1 have not ended", "has signed the job", "exited 1",
			"checked by  "+m.args[slices.Index(m.args, "--name")+1])
	}
	a.run(t, "", "job", "cancel", id)
	for _, m := range []*member{a, b} {
		expect(m, id, 0, "2 signed by the workers that ran them, 1 by owners", "its worker b (", "its owner a (")
	}
	if text, code := verify(b, id, "--task", "1", "--output", "json"); code != 0 || strings.Count(text, `"index"`) != 1 ||
		!strings.Contains(text, `"exit_code": 1`) {
		t.Errorf("one task: %d, %s", code, text)
	}

	unsigned := strings.TrimSpace(c.run(t, "", "run", "--detach", "--", "true"))
	c.run(t, "", "job", "wait", unsigned)
	expect(c, unsigned, 1, "is not signed")
	expect(a, unsigned, 1, "node a (", "does not keep it", "c (")
	whole := strings.TrimSpace(a.run(t, "", "run", "--detach", "--", "true"))
	a.run(t, "", "job", "wait", whole)
	a.kill()
	expect(b, id, 0, "2 signed by the workers that ran them, 1 by owners")
	b.stop()
	b.start(t)
	expect(b, whole, 0, "1 signed by the workers that ran them", "checked by")
}
