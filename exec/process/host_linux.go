package process

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// host is what Linux offers here and what all tasks share.
type host struct {
	abi      int // of Landlock; 0: none
	untraced atomic.Bool
	watch    watcher

	mu       sync.Mutex
	policies map[string]*policy // by denied folder
}

func (h *host) init() {
	h.abi = landlockABI()
	h.policies = make(map[string]*policy)
	h.watch.init()
}

func (h *host) close() {
	h.watch.close()
	for _, p := range h.policies {
		p.close()
	}
}

// ruleset is the descriptor of a task's Landlock rules, -1 if the kernel has no Landlock.
func (h *host) ruleset(s *Spec) (int, error) {
	if h.abi == 0 {
		return -1, nil
	}
	h.mu.Lock()
	p, err := h.policies[s.Deny], error(nil)
	if p == nil {
		if p, err = newPolicy(h.abi, s.Deny); err == nil {
			h.policies[s.Deny] = p
		}
	}
	h.mu.Unlock()
	if err != nil {
		return -1, err
	}
	return p.ruleset(Work(s.Dir))
}

// Confined says whether a task is kept out of Spec.Deny, and by what or why not, in a sentence for
// the node's owner. What is still open is said as well.
func (r *Runner) Confined() (bool, string) {
	abi := r.host.abi
	var why string
	switch {
	case abi == 0 && r.user == nil:
		return false, "this kernel has no Landlock and tasks run as the node's own user: they can read and change its data folder"
	case abi == 0:
		return true, fmt.Sprintf("tasks run as %s; this kernel has no Landlock, so file permissions alone guard the data folder", r.user.name)
	case r.user != nil:
		why = fmt.Sprintf("Landlock (version %d), tasks run as %s", abi, r.user.name)
	default:
		why = fmt.Sprintf("Landlock (version %d)", abi)
	}
	if abi < 6 && r.user == nil {
		why += "; a task can still send signals to the node"
	}
	if abi < 9 && r.user == nil {
		why += "; a task can still connect to a Unix socket whose path it knows"
	}
	if r.user == nil && os.Geteuid() == 0 {
		why += "; tasks run as root: name a user for them (task_user)"
	}
	return true, why
}
