package process

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"skep/exec/progress"
	"skep/exec/sandbox/zygote"
	"skep/grid"
)

// Marker is the variable that names the attempt's folder in the environment of each of its processes where it has no
// box. Reap finds by it what a killed node left behind; a job cannot set it.
const Marker = "SKEP_ATTEMPT_DIR"

// inherited is all that a task sees of the node's environment: what programs need to find their
// tools and speak the user's language. Everything else may be a secret.
var inherited = [...]string{"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "LOGNAME"}

// taskUser is what a task with a user ID of its own is called: no account has that ID.
const taskUser = "skep-task"

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environ builds the task's environment; of several values for a name the last one stays. If asked, it has the path
// of the FIFO.
func (r *Runner) environ(s *Spec, asked bool) []string {
	env := make([]string, 0, len(inherited)+len(s.Env)+6)
	put := func(entry string) {
		name := entry[:strings.IndexByte(entry, '=')+1]
		for i := range env {
			if strings.HasPrefix(env[i], name) {
				env[i] = entry
				return
			}
		}
		env = append(env, entry)
	}
	put("PATH=" + defaultPath)
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok && v != "" {
			put(name + "=" + v)
		}
	}
	if to := r.Owner(s.Dir); to.UID != 0 {
		put("USER=" + cmp.Or(to.Name, taskUser))
		put("LOGNAME=" + cmp.Or(to.Name, taskUser))
	}
	at := r.seen(s.Dir)
	put("HOME=" + cmp.Or(s.Home, at.work))
	put("SKEP_WORK=" + at.work)
	put("TMPDIR=" + at.temp)
	for _, e := range s.Env {
		put(e)
	}
	if len(s.Secrets) > 0 {
		put(grid.SecretsVariable + "=" + zygote.Secrets)
	}
	put("PWD=" + r.start(s))
	if asked {
		put(progress.Variable + "=" + filepath.Join(at.temp, progress.Name))
	}
	if !r.sandbox.Boxes() {
		put(Marker + "=" + s.Dir)
	}
	return env
}

// start is the folder in which a task starts.
func (r *Runner) start(s *Spec) string { return cmp.Or(s.Workdir, r.seen(s.Dir).work) }

// lookupEnv finds a variable in a list made by environ.
func lookupEnv(env []string, name string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// Inherited is what tasks see of the node's environment, as NAME=VALUE, where they are not its own processes.
func Inherited() []string {
	env := []string{"PATH=" + defaultPath}
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok && v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}
