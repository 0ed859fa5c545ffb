package outputs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"*.csv", "x.csv", true}, {"*.csv", "d/x.csv", false}, {"d/*", "d/x", true},
		{"**/*.csv", "x.csv", true}, {"**/*.csv", "a/b/x.csv", true}, {"a/**/c", "a/c", true}, {"a/**/c", "a/b/b/c", true},
		{"a/**/c", "a/b/d", false}, {"a/**", "a/b/c", true}, {"out", "out/deep/x", true}, {"out", "other/x", false},
		{"a/**/b/**/c", "a/b/x/b/c", true}, {"a/b", "a", false}, {"**", "x/y", true},
	} {
		if got := match(strings.Split(tt.pattern, "/"), strings.Split(tt.name, "/")); got != tt.want {
			t.Errorf("match(%q, %q) = %v: want %v", tt.pattern, tt.name, got, tt.want)
		}
	}
	long := strings.Split(strings.Repeat("**/a/", 200)+"b", "/")
	start := time.Now()
	match(long, strings.Split(strings.Repeat("a/", 500)+"c", "/"))
	if d := time.Since(start); d > time.Second {
		t.Errorf("a nasty pattern took %v", d)
	}
}

// A folder that is nested deep costs no more than is bounded, and what is not looked at is said.
func TestDeepFolders(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	deep := strings.Repeat("d/", maxDepth)
	if err := os.MkdirAll(filepath.Join(dir, deep, "d/d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x", deep + "x", deep + "d/x", deep + "d/d/x"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names, err := Match(root, []string{"**"})
	if got, want := fmt.Sprint(names), fmt.Sprint([]string{deep + "x", "x"}); got != want {
		t.Errorf("%v: want %v", got, want)
	}
	if err == nil || !strings.Contains(err.Error(), "more than 128 deep") {
		t.Errorf("error %v: want that there is more", err)
	}
}
