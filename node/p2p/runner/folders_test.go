package runner

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/grid"
)

// Who asks for a folder gets it as the operator exposes it, and is refused otherwise: another node may have it.
func TestAccountOfFolders(t *testing.T) {
	if _, err := user.Lookup("nobody"); err != nil || os.Geteuid() != 0 {
		t.Skip("only root can run tasks as another user")
	}
	node := grid.NodeID{7}
	alice, bob := grid.Submitter{Node: node, User: "alice"}, grid.Submitter{Node: grid.NodeID{8}, User: "bob"}
	expose := func(texts ...string) (b *Boxes) {
		b = &Boxes{}
		for _, text := range texts {
			e, err := sandbox.ParseExpose(text)
			if err != nil {
				t.Fatal(err)
			}
			b.Expose = append(b.Expose, e)
		}
		return b
	}
	b := expose("/data", "/scratch:rw", "/x:rw:as=nobody:for=alice@"+node.String()+":for=bob", "/x/ro:as=nobody:for=alice",
		"/y:rw:as=1234/5678:for=*@"+node.String(), "/x:rw:as=77/88:for=eve")
	tests := []struct {
		folders grid.Folders
		by      grid.Submitter
		root    bool
		want    string // the account, or why not
	}{
		{grid.Folders{}, alice, true, ""},
		{grid.Folders{Work: "/scratch/a"}, alice, false, ""},
		{grid.Folders{Work: "/scratch/a"}, alice, true, "as nobody's"},
		{grid.Folders{Work: "/scratcher"}, alice, false, "exposes no folder"},
		{grid.Folders{Work: "/data"}, alice, false, "for reading only"},
		{grid.Folders{Home: "/data/x"}, alice, true, ""},
		{grid.Folders{Work: "/x/y"}, alice, true, "=nobody"},
		{grid.Folders{Work: "/x"}, bob, true, "=nobody"},
		{grid.Folders{Work: "/x"}, grid.Submitter{Node: grid.NodeID{8}, User: "alice"}, true, `not for "alice"`},
		{grid.Folders{Work: "/x"}, grid.Submitter{Node: grid.NodeID{8}, User: "alice@" + node.String()}, true, "not for"},
		{grid.Folders{Work: "/x"}, grid.Submitter{}, true, `not for ""`},
		{grid.Folders{Work: "/x"}, grid.Submitter{Node: node, User: "eve"}, true, "=77/88"},
		{grid.Folders{Work: "/y"}, grid.Submitter{Node: node, User: "anybody"}, true, "=1234/5678"},
		{grid.Folders{Work: "/y"}, bob, true, "not for"},
		{grid.Folders{Work: "/x/ro"}, alice, true, "for reading only"},
		{grid.Folders{Work: "/x", Home: "/data"}, alice, true, "=nobody"},
		{grid.Folders{Work: "/x", Home: "/x/ro"}, alice, true, "=nobody"},
		{grid.Folders{Work: "/x", Home: "/y"}, alice, true, "exposes it as 1234/5678, and the work folder as nobody"},
	}
	for _, c := range tests {
		folders := c.folders
		as, err := b.account(&grid.JobSpec{TaskData: grid.TaskData{Folders: &folders}, Submitter: c.by}, c.root)
		if c.folders == (grid.Folders{}) {
			as, err = b.account(&grid.JobSpec{Submitter: c.by}, c.root)
		}
		var no *process.ExecError
		switch {
		case strings.HasPrefix(c.want, "="):
			if err != nil || as.Name != c.want[1:] || as.UID == 0 {
				t.Errorf("%+v by %q: %+v, %v: want account %s", c.folders, c.by.User, as, err, c.want[1:])
			}
		case c.want == "":
			if err != nil || as != (process.Account{}) {
				t.Errorf("%+v by %q: %+v, %v: want the node's own account", c.folders, c.by.User, as, err)
			}
		case !errors.As(err, &no) || no.Cause != process.CannotExecute || !strings.Contains(err.Error(), c.want):
			t.Errorf("%+v by %q: %v: want %q", c.folders, c.by.User, err, c.want)
		}
	}
}

func TestLabelsOfFolders(t *testing.T) {
	dir := t.TempDir()
	b := &Boxes{Expose: []sandbox.Expose{{Path: "/dev/null", Writable: true}, {Path: dir + "/none"}}}
	for i, name := range []string{"ro", "rw", "a b", "home"} {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		b.Expose = append(b.Expose, sandbox.Expose{Path: path, Writable: i > 0})
	}
	b.Expose[len(b.Expose)-1].As = "x"
	for root, want := range map[bool]string{
		false: "skep.ro:D/ro skep.rw:D/rw skep.rw:D/home", true: "skep.ro:D/ro skep.ro:D/rw skep.rw:D/home",
	} {
		labels, problems, err := b.Labels(root)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range labels {
			got = append(got, strings.Replace(l.Key, dir, "D", 1))
		}
		warned := map[bool]int{false: 1, true: 2}[root]
		if strings.Join(got, " ") != want || len(problems) != warned {
			t.Errorf("root %v: %v, %v: want %s and %d warnings", root, got, problems, want, warned)
		}
	}
}

// A folder beyond those that a node tells others of is refused at the start: no task could ask for it.
func TestMostFoldersOfLabels(t *testing.T) {
	dir := t.TempDir()
	b := new(Boxes)
	for i := range 17 {
		path := filepath.Join(dir, strconv.Itoa(i))
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if b.Expose = append(b.Expose, sandbox.Expose{Path: path}); i == 15 {
			if labels, _, err := b.Labels(false); err != nil || len(labels) != 16 {
				t.Errorf("16 folders: %d labels, %v", len(labels), err)
			}
		}
	}
	if _, _, err := b.Labels(false); err == nil || !strings.Contains(err.Error(), "/16: ") ||
		!strings.Contains(err.Error(), "want at most 16") {
		t.Errorf("17 folders: %v: want an error with the folder and the bound", err)
	}
}
