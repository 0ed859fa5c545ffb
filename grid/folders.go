package grid

import (
	"path"
	"slices"
	"strings"
)

// Folders are folders of the node's machine that a task has in place of its own work folder; "" = its own. The node
// exposes them, or a folder that they are in.
type Folders struct {
	Work string // where it starts
	Home string // its $HOME
}

// The needs of a job with such folders, whose values are the folders that a node may expose for it, and the keys of the
// labels of nodes that expose folders: the folder follows. The needs are no labels of any node, so nodes of a version
// that does not know them get no such task, and as owners of a job that they took over place none.
const (
	WorkdirNeed    = "skep.workdir"
	HomeNeed       = "skep.home"
	writablePrefix = "skep.rw:"
	readablePrefix = "skep.ro:"
)

// maxExposed bounds the bytes of a folder that a label can name.
const maxExposed = MaxLabel - len(writablePrefix)

// ExposedLabel returns the label of a node that exposes a folder; false if no label can name it.
func ExposedLabel(folder string, writable bool) (Label, bool) {
	key := readablePrefix + folder
	if writable {
		key = writablePrefix + folder
	}
	return Label{key, FeatureValue}, len(folder) <= maxExposed && !strings.ContainsAny(folder, "=, ") && Printable(folder)
}

// IsFolderLabel reports whether the key of a label begins as that of an exposed folder.
func IsFolderLabel(key string) bool {
	return strings.HasPrefix(key, writablePrefix) || strings.HasPrefix(key, readablePrefix)
}

// IsFolderNeed reports whether a need is one of a folder.
func IsFolderNeed(key string) bool { return key == WorkdirNeed || key == HomeNeed }

// Exposes reports whether a node exposes one of the folders that a folder need names.
func (a *Ad) Exposes(n *LabelNeed) bool {
	return slices.ContainsFunc(n.Values, func(folder string) bool {
		for i := range a.Labels {
			prefix, at, found := strings.Cut(a.Labels[i].Key, ":")
			if found && at == folder && (prefix+":" == writablePrefix || n.Key == HomeNeed && prefix+":" == readablePrefix) {
				return true
			}
		}
		return false
	})
}

// needs returns what a node must have for the folders.
func (f *Folders) needs() (needs []LabelNeed) {
	for _, x := range [...]LabelNeed{{Key: HomeNeed, Values: above(f.Home)}, {Key: WorkdirNeed, Values: above(f.Work)}} {
		if len(x.Values) > 0 {
			needs = append(needs, x)
		}
	}
	return needs
}

// above returns a folder and those that it is in, as far as labels can name them, the nearest to the root first.
func above(folder string) (all []string) {
	for at := folder; len(at) > 1; at = path.Dir(at) {
		if _, can := ExposedLabel(at, true); can {
			all = append(all, at)
		}
	}
	slices.Reverse(all)
	return all[:min(len(all), MaxValues)]
}

// AddFolders sets the job's folders, and adds what it needs of nodes for them.
func (s *JobSpec) AddFolders(f Folders) {
	if f == (Folders{}) {
		return
	}
	s.Folders = &f
	s.Needs.Labels = append(s.Needs.Labels, f.needs()...)
}

func (s *JobSpec) checkFolders(p *problems) {
	if s.Folders == nil {
		return
	}
	for _, x := range [...]struct{ field, folder string }{{"workdir", s.Folders.Work}, {"home", s.Folders.Home}} {
		switch folder := x.folder; {
		case folder == "":
		case !path.IsAbs(folder) || path.Clean(folder) != folder || folder == "/" || len(folder) > MaxPath ||
			!Printable(folder):
			p.addf("%s %.80q: want the absolute path of a folder, of printable text, without . and .. in it, and not /",
				x.field, folder)
		case strings.Contains(folder, "${"):
			p.addf("%s %.80q: values of tasks are not put into it: want a folder of all", x.field, folder)
		case len(above(folder)) == 0:
			p.addf("%s %.80q: no label can name a folder that it is in: want at most %d bytes without '=', ',' and spaces",
				x.field, folder, maxExposed)
		}
	}
	for _, want := range s.Folders.needs() {
		if !slices.ContainsFunc(s.Needs.Labels, func(l LabelNeed) bool {
			return l.Key == want.Key && slices.Equal(l.Values, want.Values)
		}) {
			p.addf("folders: want needs.labels.%s %s with them: other nodes would run the tasks elsewhere", want.Key,
				strings.Join(want.Values, ", "))
		}
	}
}

// Outer is of a job that a node of another grid has handed over for a task there (skep up --engine skep): the names of
// the networks that the task has come through, the first first. It keeps a task from going round, and has the job's
// command, environment and patterns of outputs taken as they are: the other grid has put the task's values into them.
// Variables of the environment go before those that describe a task to itself. None = the job was submitted here.
type Outer []string

// MaxOuter bounds the networks that a task comes through.
const MaxOuter = 8

// Some reports whether the job is for a task of another grid.
func (o Outer) Some() bool { return len(o) > 0 }

func (s *JobSpec) checkOuter(p *problems) {
	if !s.Outer.Some() {
		return
	}
	if len(s.Outer) > MaxOuter {
		p.addf("outer: %d grids: want at most %d", len(s.Outer), MaxOuter)
	}
	for _, name := range s.Outer {
		p.label("outer", "grid", name)
	}
	if s.Count != 1 || s.Array != nil || s.IsGang() {
		p.addf("outer: want one task, without an array and no gang")
	}
	if !s.Needs.HasFeature(OuterLabel) {
		p.addf("outer: want needs.labels.%s %s with it: older nodes would put values of this grid into the task", OuterLabel,
			FeatureValue)
	}
}
