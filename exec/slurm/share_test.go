package slurm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// openAt opens an engine that starts nothing: its cluster is not there.
func openAt(t *testing.T, dir, data string) (*Engine, error) {
	t.Helper()
	e, err := Open(Options{Dir: dir, Data: data, Node: "test", Step: []string{"step"}}, new(Cluster))
	if err == nil {
		t.Cleanup(e.Close)
	}
	return e, err
}

// A folder that is not the one in which the node had its orders is refused, and nothing is made there: what is not
// found in it may run all the same.
func TestShareIsAnother(t *testing.T) {
	used, data := t.TempDir(), t.TempDir()
	for range 2 {
		if _, err := openAt(t, used, data); err != nil {
			t.Fatal(err)
		}
	}
	empty, other, beneath := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "mount")
	if _, err := openAt(t, other, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"empty": empty, "of another node": other, "not there": beneath} {
		_, err := openAt(t, dir, data)
		if err == nil || !strings.Contains(err.Error(), "slurm_dir is not mounted or was changed") {
			t.Errorf("%s: %v: want that it is not mounted or was changed", name, err)
		}
	}
	if list, err := os.ReadDir(empty); err != nil || len(list) > 0 {
		t.Errorf("%v, %v: want that nothing is made in a folder that is refused", list, err)
	}
	if _, err := os.Stat(beneath); err == nil {
		t.Error("a folder that is not there is made")
	}
	// what the error tells the operator to do
	if err := os.Remove(filepath.Join(data, "slurm-test.id")); err != nil {
		t.Fatal(err)
	}
	if _, err := openAt(t, empty, data); err != nil {
		t.Error(err)
	}
}

// The node is killed between the two files of the ID: the folder is taken, with the ID that it has.
func TestShareIsHalfMade(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	own := filepath.Join(data, "slurm-test.id")
	if _, err := openAt(t, dir, data); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := openAt(t, dir, data); err != nil {
			t.Fatal(err)
		}
	}
	if after, err := os.ReadFile(own); err != nil || string(after) != string(before) {
		t.Errorf("ID %s, %v: want %s", after, err, before)
	}
}

// A data folder that was given another identity, as a copied one is, has used no folder yet.
func TestShareOfAnotherIdentity(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	for _, node := range []string{"a", "b", "a"} {
		e, err := Open(Options{Dir: dir, Data: data, Node: node, Step: []string{"step"}}, new(Cluster))
		if err != nil {
			t.Fatalf("node %s: %v", node, err)
		}
		e.Close()
	}
}
