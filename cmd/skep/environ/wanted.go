package environ

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"skep/cmd/skep/secrets"
	v1 "skep/node/api/v1"
)

// Wanted is what a job's tasks are to find around them.
type Wanted struct {
	Names      []string // of variables: NAME=VALUE or NAME
	All        bool     // the submitter's other variables too
	Work, Home string   // folders; "" = the task's own
	Secrets    []string // NAME[@NODE][=VARIABLE]
}

// AddFlags adds the flags of a command.
func (w *Wanted) AddFlags(fl *pflag.FlagSet) {
	fl.StringArrayVar(&w.Names, "env", nil,
		"NAME=VALUE in the program's environment, or NAME with the value that it has here")
	fl.BoolVar(&w.All, "env-all", false,
		"all variables that are set here, but for those of this machine or session, as HOME and SSH_*")
	fl.StringArrayVar(&w.Secrets, "secret", nil,
		"NAME[@NODE][=VARIABLE] of a secret that the task gets, in $SKEP_SECRETS/NAME and the variable; NODE holds one that "+
			"another node has set: see skep secret set")
	fl.StringVar(&w.Work, "workdir", "",
		"folder in which the program starts, in one that its node exposes for writing (default a folder of its own)")
	fl.StringVar(&w.Home, "home", "",
		"folder that is $HOME, in one that its node exposes (default the folder of its own)")
}

// Apply writes what is wanted into a spec, and returns what is wrong with it. Relative folders are relative to dir;
// before stands before the names of keys or flags.
func (w *Wanted) Apply(s *v1.Spec, dir, before string) (problems []error) {
	var err error
	from := Source{Lookup: os.LookupEnv, All: os.Environ}
	if s.Env, err = from.Variables(w.Names, w.All); err != nil {
		problems = append(problems, fmt.Errorf("%senv %w", before, err))
	}
	what := "secrets"
	if before != "" {
		what = before + "secret"
	}
	if s.Secrets, err = secrets.Uses(what, w.Secrets); err != nil {
		problems = append(problems, err)
	}
	for _, x := range [...]struct {
		name, folder string
		to           *string
	}{{"workdir", w.Work, &s.Workdir}, {"home", w.Home, &s.Home}} {
		if *x.to, err = Folder(x.folder, dir); err != nil {
			problems = append(problems, fmt.Errorf("%s%s %w", before, x.name, err))
		}
	}
	return problems
}

// Folder returns the absolute path of a folder; a relative one is relative to dir. "" stays.
func Folder(folder, dir string) (string, error) {
	if folder == "" {
		return "", nil
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(dir, folder)
	}
	whole, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("%.80q: %w", folder, err)
	}
	return whole, nil
}
