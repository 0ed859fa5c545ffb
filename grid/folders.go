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

// Stdin says where a job's tasks read their standard input from.
type Stdin uint8

// Sources of standard input. The numbers are on the wire: never reuse one.
const (
	StdinNone Stdin = iota // an empty one

	// StdinStream: what the client that submitted the job sends, through the job's origin, while the task runs. It is not
	// kept, so such a job has one task, which runs at most once.
	StdinStream

	// StdinInput: the last of the job's inputs, which is then not put into the work folder. Every attempt reads all of it.
	StdinInput

	stdins
)

// Terminal is a terminal that the one task of a job has in place of its standard streams, and the size of its window in
// characters at the start; 0 is not known. What is typed is streamed as a standard input is, with the later sizes.
type Terminal struct {
	On         bool
	Rows, Cols uint16
}

// WorkFiles are the inputs that are put into the work folder.
func (s *JobSpec) WorkFiles() []File {
	if s.Stdin == StdinInput {
		return s.Inputs[:max(0, len(s.Inputs)-1)]
	}
	return s.Inputs
}

// WorkFilesOf are those of one task.
func (s *JobSpec) WorkFilesOf(task uint32) []File {
	files := s.InputsOf(task)
	if s.Stdin == StdinInput {
		files = files[:max(0, len(files)-1)]
	}
	return files
}

// StdinFile is the input that the tasks read as their standard input; nil = none.
func (s *JobSpec) StdinFile() *File {
	if s.Stdin == StdinInput && len(s.Inputs) > 0 {
		return &s.Inputs[len(s.Inputs)-1]
	}
	return nil
}

// OnceReason is why the job's tasks run at most once, as a clause of a sentence; "" = they do not.
func (s *JobSpec) OnceReason() string {
	switch {
	case s.Retries > 0:
		return ""
	case s.Terminal.On:
		return "it had its submitter's terminal, whose keys cannot be repeated, so it was to run at most once"
	case s.Stdin == StdinStream:
		return "its standard input was streamed, which cannot be repeated, so it was to run at most once"
	}
	return "it was to run at most once"
}

func (s *JobSpec) checkStdin(p *problems) {
	switch {
	case s.Stdin >= stdins:
		p.addf("stdin %d: want 0 to %d", s.Stdin, stdins-1)
	case s.Stdin == StdinInput && len(s.Inputs) == 0:
		p.addf("stdin: is the last of no inputs: want one")
	case s.Stdin != StdinNone && !s.Needs.HasFeature(StdinLabel):
		p.addf("stdin: want needs.labels.%s %s with it: other nodes would run the tasks without", StdinLabel, FeatureValue)
	}
	switch {
	case !s.Terminal.On:
	case s.Stdin != StdinStream:
		p.addf("terminal: want stdin %d with it, which brings what is typed", StdinStream)
	case !s.Needs.HasFeature(TerminalLabel):
		p.addf("terminal: want needs.labels.%s %s with it: other nodes would run the task without", TerminalLabel,
			FeatureValue)
	}
	if s.Stdin == StdinInput && s.Array != nil && slices.ContainsFunc(s.Array.Inputs, func(in TaskInput) bool {
		return int(in.Input) == len(s.Inputs)-1
	}) {
		p.addf("stdin: is an input of some tasks of the array: want one of all")
	}
	if s.Stdin != StdinStream {
		return
	}
	if s.Count > 1 {
		p.addf("count %d: want 1 with a standard input that is streamed: only one that is kept goes to several tasks",
			s.Count)
	}
	if s.Rules.OnFailure.Retry > 0 {
		p.addf("on_failure.retry %d: want none with a standard input that is streamed: only one that is kept can be read "+
			"again", s.Rules.OnFailure.Retry)
	}
	if s.Retries > 0 {
		p.addf("retries %d: want 0 with a standard input that is streamed: only one that is kept can be read again",
			s.Retries)
	}
}
