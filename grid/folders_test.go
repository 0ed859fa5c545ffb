package grid

import (
	"strings"
	"testing"
)

// A node that exposes a folder, or one that it is in, can run a task there; for a home it is enough to read it.
func TestExposedFoldersMeetNeeds(t *testing.T) {
	s := &JobSpec{}
	s.AddFolders(Folders{Work: "/scratch/ada/fit", Home: "/home/ada"})
	if len(s.Needs.Labels) != 2 || s.Folders == nil {
		t.Fatalf("needs %v", s.Needs.Labels)
	}
	home, work := &s.Needs.Labels[0], &s.Needs.Labels[1]
	for _, c := range []struct {
		label      string
		home, work bool
	}{
		{"skep.rw:/scratch", false, true},
		{"skep.rw:/scratch/ada/fit", false, true},
		{"skep.ro:/scratch", false, false},
		{"skep.rw:/scratch/ad", false, false},
		{"skep.rw:/scratch/ada/fit/deeper", false, false},
		{"skep.ro:/home", true, false},
		{"skep.rw:/home/ada", true, false},
		{"skep.workdir", false, false},
	} {
		ad := &Ad{Labels: []Label{{c.label, FeatureValue}}}
		if ad.Exposes(home) != c.home || ad.Exposes(work) != c.work {
			t.Errorf("%s: home %v, work %v: want %v, %v", c.label, ad.Exposes(home), ad.Exposes(work), c.home, c.work)
		}
	}
}

func TestFoldersCheck(t *testing.T) {
	for folder, want := range map[string]string{
		"x":                                "want the absolute path",
		"/":                                "want the absolute path",
		"/a/../b":                          "want the absolute path",
		"/" + strings.Repeat("x", MaxPath): "want the absolute path",
		"/" + strings.Repeat("x", 60):      "no label can name a folder",
		"/a b":                             "no label can name a folder",
		"/a/" + strings.Repeat("x", 60):    "",
		"/a b/c":                           "no label can name a folder",
	} {
		s := &JobSpec{Engine: EngineProcess, Command: []string{"x"}, Count: 1, Needs: Needs{Resources: Resources{CPU: 1000}}}
		s.AddFolders(Folders{Work: folder})
		err := s.Check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.20q: %v: want %q", folder, err, want)
		}
	}
	s := &JobSpec{Engine: EngineProcess, Command: []string{"x"}, Count: 1, Needs: Needs{Resources: Resources{CPU: 1000}}}
	s.AddFolders(Folders{Home: "/a"})
	s.Needs.Labels = nil
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "want needs.labels.skep.home /a with them") {
		t.Error("nodes that know nothing of folders would run it: ", err)
	}
}
