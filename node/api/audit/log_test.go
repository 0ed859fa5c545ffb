package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var begin = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

func act(i int) *Act {
	return &Act{Time: begin.Add(time.Duration(i) * time.Second), Node: "node", User: "ada", Verb: "cancel", Of: "job",
		Object: fmt.Sprint("job", i), Outcome: Allowed}
}

func open(t *testing.T, dir string) *Log {
	t.Helper()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func appendAll(t *testing.T, l *Log, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := l.Append(act(i), i%2 == 0); err != nil {
			t.Fatal(err)
		}
	}
}

func readAll(t *testing.T, dir string, since time.Time) (all []Act, bad int) {
	t.Helper()
	bad, err := Read(dir, since, func(a *Act) error {
		all = append(all, *a)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, bad
}

// What was appended is read in order, while the log is open and after another start, from a time on.
func TestActsAreReadInOrder(t *testing.T) {
	dir := t.TempDir()
	if all, bad := readAll(t, dir, time.Time{}); len(all) != 0 || bad != 0 {
		t.Errorf("of a folder without a log %v is read", all)
	}
	l := open(t, dir)
	appendAll(t, l, 0, 3)
	l.Close()
	if err := l.Append(act(9), false); err == nil {
		t.Error("a line is appended to a closed log")
	}
	appendAll(t, open(t, dir), 3, 5)
	all, bad := readAll(t, dir, time.Time{})
	if len(all) != 5 || bad != 0 || !reflect.DeepEqual(all[3], *act(3)) {
		t.Errorf("%+v, %d bad", all, bad)
	}
	if all, _ := readAll(t, dir, act(2).Time); len(all) != 3 || all[0].Object != "job2" {
		t.Errorf("since the third %+v is read", all)
	}
}

// However many lines there are, the files are bounded, and hold the newest.
func TestFilesAreBounded(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	l.most = 2000
	appendAll(t, l, 0, 200)
	files, err := os.ReadDir(filepath.Join(dir, Folder))
	if err != nil || len(files) != Files {
		t.Fatalf("%d files, %v: want %d", len(files), err, Files)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Size() > l.most || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %+v, %v: want at most %d bytes, for the node's user alone", f.Name(), info, err, l.most)
		}
	}
	all, _ := readAll(t, dir, time.Time{})
	for i := range all {
		if want := fmt.Sprint("job", 200-len(all)+i); all[i].Object != want {
			t.Fatalf("line %d is of %s, want %s", i, all[i].Object, want)
		}
	}
	if len(all) < 30 {
		t.Errorf("%d lines are left", len(all))
	}
	long := act(1)
	long.User = strings.Repeat("x", maxLine)
	if err := l.Append(long, false); err == nil {
		t.Error("a line without bound is appended")
	}
}

// A line that a crash has cut short is passed over, and spoils none that follows.
func TestCutLineIsPassedOver(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	appendAll(t, l, 0, 2)
	l.Close()
	path := name(filepath.Join(dir, Folder), 0)
	info, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, info.Size()-9)
	}
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, open(t, dir), 2, 4)
	all, bad := readAll(t, dir, time.Time{})
	if len(all) != 3 || bad != 1 || all[1].Object != "job2" {
		t.Errorf("%+v is read, and %d lines are none", all, bad)
	}
}

// A node and a user may have any names: what they do is kept.
func TestNamesOfAnyLetters(t *testing.T) {
	dir := t.TempDir()
	a := act(1)
	a.Name, a.User, a.Node = strings.Repeat("<", 128), strings.Repeat(`"`, 64), strings.Repeat("x", 64)
	if err := open(t, dir).Append(a, false); err != nil {
		t.Fatal(err)
	}
	if all, _ := readAll(t, dir, time.Time{}); len(all) != 1 || !reflect.DeepEqual(&all[0], a) {
		t.Errorf("%+v", all)
	}
}

// Where no other file can be begun the old one goes on, up to twice its bytes, and nothing of what is there is lost.
func TestNoFurtherFile(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	l.most = 2000
	if err := os.Mkdir(filepath.Join(dir, Folder, "acts.next.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for l.Append(act(kept), false) == nil {
		kept++
	}
	if info, err := l.file.Stat(); err != nil || info.Size() < 3*l.most/2 || info.Size() > 2*l.most {
		t.Errorf("%v, %v: want nearly twice %d bytes", info.Size(), err, l.most)
	}
	if all, bad := readAll(t, dir, time.Time{}); len(all) != kept || bad != 0 {
		t.Errorf("%d of %d acts are read", len(all), kept)
	}
	if err := os.Remove(filepath.Join(dir, Folder, "acts.next.jsonl")); err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, kept, kept+3)
	if all, _ := readAll(t, dir, time.Time{}); len(all) != kept+3 {
		t.Errorf("%d of %d acts are read", len(all), kept+3)
	}
}
