//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skep/grid"
)

// shownFolder makes a folder that can be exposed, with a data folder in it that everybody may read.
func shownFolder(t *testing.T) (dir, data string) {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	if dir, err = os.MkdirTemp(cache, "skep-test-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	data = filepath.Join(dir, "deep", "data")
	for _, d := range []string{filepath.Join(data, "box"), filepath.Join(data, "work")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{filepath.Join(dir, "deep", "beside"), filepath.Join(data, "secret")} {
		if err := os.WriteFile(name, []byte("of "+filepath.Base(name)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, dir+"-link"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir + "-link") })
	return dir, data
}

// A data folder that lies in what tasks are shown is an empty one to them, by whatever path, and can be named through a
// link. Without the cover the probe sees it, so that the level is none.
func TestDataFoldersInWhatIsShownAreHidden(t *testing.T) {
	dir, data := shownFolder(t)
	link := dir + "-link"
	for name, change := range map[string]func(*Options){
		"the folder itself": func(o *Options) { o.Hidden = []string{data} },
		"by a link":         func(o *Options) { o.Hidden = []string{filepath.Join(link, "deep", "data")} },
		"what it is in":     func(o *Options) { o.Hidden = []string{data, filepath.Join(dir, "deep", "data"), data} },
		"of this node": func(o *Options) {
			o.Hidden, o.Work, o.Dir = []string{data}, filepath.Join(data, "work"), filepath.Join(data, "box")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, func(o *Options) {
				o.Expose = []Expose{{Path: dir}, {Path: link}}
				change(o)
			})
			if s.Level() < grid.IsolationBasic {
				t.Errorf("level %v: %s", s.Level(), Explain(s.Findings()))
			}
			script := "for d in " + dir + " " + link +
				"; do cat $d/deep/beside; ls -A $d/deep/data; cat $d/deep/data/secret; chmod 700 $d/deep/data; done " +
				"2>/dev/null; exit 0"
			if out, _ := begin(t, s, script, nil).end(); out != "of beside\nof beside\n" {
				t.Errorf("a task sees %q", out)
			}
			if s.Shows(filepath.Join(data, "secret")) || !s.Shows(filepath.Join(dir, "deep", "beside")) {
				t.Error("Shows says otherwise")
			}
		})
	}
	s := open(t, func(o *Options) { o.Expose = []Expose{{Path: dir}} })
	s.opts.Hidden = []string{data} // as if the cover had not been made
	if level, finds := s.probe(nil); level != grid.IsolationNone || !strings.Contains(Explain(finds), "it sees "+data) {
		t.Errorf("level %v of a node whose data folder is seen: %s", level, Explain(finds))
	}
}

// Where tasks may write they could rename what a data folder is in, and what is in a data folder is never shown.
func TestHiddenFoldersAreNotExposed(t *testing.T) {
	dir, data := shownFolder(t)
	for _, c := range []struct {
		expose Expose
		hidden string
		want   string
	}{
		{Expose{Path: dir, Writable: true}, data, "which tasks must not see and could rename there"},
		{Expose{Path: dir + "-link", Writable: true}, data, "which tasks must not see and could rename there"},
		{Expose{Path: filepath.Join(data, "work")}, data, "it is in " + data},
		{Expose{Path: data}, data, "it is in " + data},
		{Expose{Path: dir}, filepath.Join(dir, "no"), "hide " + filepath.Join(dir, "no") + ": "},
		{Expose{Path: dir}, filepath.Join(data, "secret"), "it is a file: want a folder"},
	} {
		o := Options{Expose: []Expose{c.expose}, Hidden: []string{c.hidden}}
		if err := o.check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("expose %v, hide %s: %v: want %q", c.expose, c.hidden, err, c.want)
		}
	}
}

func TestCoversAreTheOuterOnes(t *testing.T) {
	dir, data := shownFolder(t)
	tr := newTree([]Expose{{Path: dir}})
	beside := data + "-2" // in the order of text between data and what is in it
	if err := os.Mkdir(beside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := tr.hide([]string{filepath.Join(data, "box"), data, beside, filepath.Join(data, "work"),
		t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	if want := []string{data, beside}; !slices.Equal(tr.covers, want) {
		t.Errorf("%v: want %v", tr.covers, want)
	}
}

// What is exposed in /etc is there beside the copy; /etc itself is refused in words.
func TestExposeInEtc(t *testing.T) {
	folders, _ := filepath.Glob("/etc/*/*")
	at := slices.IndexFunc(folders, func(path string) bool {
		info, err := os.Lstat(path)
		return err == nil && info.IsDir() && info.Mode().Perm()&0o005 == 0o005
	})
	if at < 0 {
		t.Skip("no folder in a folder of /etc")
	}
	s := open(t, func(o *Options) { o.Expose = []Expose{{Path: folders[at]}, {Path: "/etc/passwd"}} })
	if !s.Boxes() || s.Level() < grid.IsolationBasic {
		t.Error(Explain(s.Findings()))
	}
	out,
		_ := begin(t, s, `grep -c " `+folders[at]+` \| /etc/passwd " /proc/self/mountinfo; test -s /etc/group && echo copied`,
		nil).end()
	if out != "2\ncopied\n" {
		t.Errorf("%q", out)
	}
	if _, err := ParseExpose("/etc"); err == nil || !strings.Contains(err.Error(), "tasks have a copy of it") {
		t.Errorf("%v", err)
	}
}
