package grid

import (
	"fmt"
	"hash/fnv"
	"path"
	"strings"
)

// Classes form a hierarchy of two levels: the engine and program, and below it what the program is given to run, a
// script or a text. Its name is that of the class with LevelMark and 8 hexadecimal digits of a hash:
//
//	process:sh  ->  process:sh§1a2b3c4d
//
// A class that the submitter named is one level: it is used as it is.

// LevelMark is in the name of each finer level and in no class: Check refuses it, and ClassOf replaces it. It is
// printable, so that versions without levels pass such names on as those of classes. Earlier versions used
// earlierLevelMark, which submitters have in classes of their own.
const (
	LevelMark        = "§"
	earlierLevelMark = "#"
	levelDigits      = 8
)

// LevelOf returns the finest level of a job's own class of which its tasks are: that of the first argument that is an
// input file, by its content, or of the text after an option such as -c or -e. "" = none below the class is known. The
// time it takes is linear in the size of the specification, so it is called once for a job.
//
// Under access: owner there is none: levels are told to other nodes, and a guess of the text can be compared with the
// hash.
func LevelOf(s *JobSpec) string {
	if s.Class != "" || len(s.Command) < 2 || s.Access() == AccessOwner {
		return ""
	}
	script := scriptOf(s)
	if script == "" {
		return ""
	}
	class := ClassOf(s)
	if len(class) > MaxClass-len(LevelMark)-levelDigits {
		return ""
	}
	h := fnv.New32a()
	h.Write([]byte(script))
	return fmt.Sprintf("%s%s%0*x", class, LevelMark, levelDigits, h.Sum32())
}

// ClassOfLevel returns the class of which a name is the finer level; false if it is none.
func ClassOfLevel(name string) (class string, finer bool) { return cutLevel(name, LevelMark) }

func cutLevel(name, mark string) (class string, finer bool) {
	digits := len(name) - levelDigits
	at := digits - len(mark)
	if at <= 0 || name[at:digits] != mark || strings.Trim(name[digits:], "0123456789abcdef") != "" {
		return name, false
	}
	return name[:at], true
}

// ValidLevel reports whether a name is that of a class or of a finer level of one.
func ValidLevel(name string) bool {
	class, _ := ClassOfLevel(name)
	return len(name) <= MaxClass && ValidClass(class)
}

// IsEarlierLevel reports whether a name is that of a level as earlier versions recorded it. The class of a program
// whose own name ends alike is taken for one: it is measured anew after each start.
func IsEarlierLevel(name string) bool {
	class, finer := cutLevel(name, earlierLevelMark)
	return finer && strings.HasPrefix(class, EngineProcess+":")
}

// scriptOf identifies what the program is given to run; "" = nothing is known of that.
func scriptOf(s *JobSpec) string {
	inputs := make(map[string]BlobID, len(s.Inputs))
	for k := range s.Inputs {
		inputs[path.Clean(s.Inputs[k].Path)] = s.Inputs[k].Blob
	}
	for i, arg := range s.Command[1:] {
		if blob, ok := inputs[path.Clean(arg)]; ok {
			return "file " + blob.String()
		}
		if takesText(arg) && i+2 < len(s.Command) {
			return "text " + s.Command[i+2]
		}
	}
	return ""
}

// takesText reports whether an argument is a group of short options whose last is c or e, as in sh -c, bash -ec, perl
// -e: the next argument is a text to run.
func takesText(arg string) bool {
	return len(arg) >= 2 && arg[0] == '-' && arg[1] != '-' && (arg[len(arg)-1] == 'c' || arg[len(arg)-1] == 'e') &&
		len(arg) <= 5
}

// ClassOf returns the class whose rates describe the job's tasks: the one the submitter named, else the engine and the
// program. A program sent along is identified by its content too, not only by its name.
func ClassOf(s *JobSpec) string {
	if s.Class != "" {
		return s.Class
	}
	if len(s.Command) == 0 {
		return s.Engine
	}
	program := path.Clean(s.Command[0])
	name := path.Base(s.Command[0])
	for i := range s.Inputs {
		if in := &s.Inputs[i]; in.Exec && path.Clean(in.Path) == program {
			name += "@" + in.Blob.String()[:8]
			break
		}
	}
	return Clean(strings.ReplaceAll(s.Engine+":"+name, LevelMark, "?"), MaxClass)
}

// ValidClass reports whether a name may be that of a class, and not of a finer level of one.
func ValidClass(name string) bool {
	return len(name) <= MaxClass && Printable(name) && !strings.Contains(name, LevelMark)
}
