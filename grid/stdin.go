package grid

import "slices"

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
