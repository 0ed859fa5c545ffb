//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox/zygote"
	"skep/grid"
)

// Sandbox makes boxes. All its methods may be called at the same time.
type Sandbox struct {
	opts   Options
	tree   tree
	mode   mode
	ids    *ids
	groups *groups
	room   *room
	level  grid.Isolation
	finds  []Finding
	rules  zygote.Landlock
	places []string // that tasks may write to, of those exposed

	mu      sync.Mutex
	etc     etc
	forker  *forker   // the zygote of now; nil before the first
	former  []*forker // that still have boxes
	retryAt time.Time
	stale   bool // the zygote has an older /etc, and another could not be started
	closed  bool
}

// mode is how boxes are made here.
type mode struct {
	boxes bool
	users bool // the node is no root: the zygote and each box have user namespaces, and tasks the node's user
	// the node is root without the right to mount: the zygote has a user namespace, with the IDs of tasks in it
	mapped   bool
	landlock int
}

// Open makes a sandbox as good as this machine allows. Level and Findings say how good that is. The error is one with
// which no command can be run at all.
func Open(o Options) (*Sandbox, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Warn == nil {
		o.Warn = func(string, error) {}
	}
	s := &Sandbox{opts: o, room: openRoom(cmp.Or(o.Slots, runtime.NumCPU()))}
	if os.Geteuid() == 0 {
		var err error
		if s.ids, err = claim(o.IDs, filepath.Join(o.Dir, "ids")); err != nil {
			return nil, err
		}
		s.ids.warn = o.Warn
	}
	if o.Level != grid.IsolationNone {
		s.openBoxes()
	}
	if err := s.checkAccounts(); err != nil {
		s.Close()
		return nil, err
	}
	if !s.mode.boxes {
		if err := s.restart(); err != nil {
			s.Close()
			return nil, err
		}
	}
	if places := s.shared(); s.ids != nil && len(places) > 0 {
		s.ids.share(places)
	}
	return s, nil
}

// shared are places in which tasks can leave files that no box takes away.
func (s *Sandbox) shared() (places []string) {
	if !s.mode.boxes {
		return []string{"/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue"}
	}
	return s.places
}

// openBoxes tries the ways to make boxes, and keeps the first whose zygote comes up; what the boxes are worth the probe
// says.
func (s *Sandbox) openBoxes() {
	o := &s.opts
	s.etc.changed()
	version := landlockVersion(o.Landlock)
	s.rules = landlock(version, o.Expose) // now, and for all zygotes: a file system of one may hang later
	for _, e := range o.Expose {
		if e.Writable && !isDevice(e.Path) {
			s.places = append(s.places, e.Path)
		}
	}
	ways := []mode{{boxes: true, users: true, landlock: version}}
	if s.ids != nil {
		ways = []mode{{boxes: true, landlock: version}, {boxes: true, mapped: true, landlock: version}}
	}
	var reasons []error
	err := s.prepare()
	if err == nil {
		s.tree = newTree(o.shown())
		err = s.tree.hide(s.hidden())
	}
	var finds []Finding
	if err == nil {
		finds = s.tree.findSockets(o.Expose)
	}
	s.groups = openGroups() // before there is a zygote: the node may divide a group only in which it is alone
	for _, way := range ways {
		if err != nil {
			break
		}
		s.mode = way
		if s.ids != nil {
			s.ids.fixed = way.mapped
		}
		failed := s.restart()
		if failed == nil {
			s.level, s.finds = s.probe(finds)
			if !s.room.enough() {
				s.level, s.finds = grid.IsolationNone, append(s.finds, s.room.finding())
			}
			return
		}
		reasons = append(reasons, failed)
	}
	s.mode = mode{}
	s.groups.close()
	s.groups = nil
	if s.ids != nil {
		s.ids.fixed = false
	}
	s.finds = []Finding{unboxed(errors.Join(append(reasons, err)...))}
}

// prepare makes the folders of which the zygote makes the tree.
func (s *Sandbox) prepare() error {
	for _, dir := range [...]string{s.opts.Work, s.root()} {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return err
		}
	}
	return nil
}

// hidden are the folders that no task sees, its own attempt's aside.
func (s *Sandbox) hidden() []string {
	return append([]string{s.opts.Work, s.opts.Dir}, s.opts.Hidden...)
}

func (s *Sandbox) root() string { return filepath.Join(s.opts.Dir, "root") }

// restart starts a zygote.
func (s *Sandbox) restart() error {
	setup := zygote.Setup{Boxes: s.mode.boxes}
	if s.mode.boxes {
		cookie := rand.Uint64() | 1
		program, err := filter(cookie, len(s.shared()) > 0)
		if err != nil {
			return err
		}
		setup = zygote.Setup{Boxes: true, Users: s.mode.users, UID: os.Getuid(), GID: os.Getgid(), Root: s.root(),
			Work: s.opts.Work,
			Tree: s.tree.mounts, Links: s.tree.links, Hide: s.tree.covers, Mask: s.tree.sockets, Filter: program, Cookie: cookie,
			Withhold: len(s.opts.Devices) > 0,
			Landlock: s.rules}
	}
	f, err := startForker(&setup, s.namespaces())
	if err != nil {
		return err
	}
	if s.mode.boxes {
		if err := s.remember(f.cmd.Process.Pid); err != nil {
			closeForkers([]*forker{f})
			return err
		}
	}
	s.forker = f
	return nil
}

// namespaces are those of the zygote.
func (s *Sandbox) namespaces() *syscall.SysProcAttr {
	if !s.mode.boxes {
		return &syscall.SysProcAttr{}
	}
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC}
	if s.mode.users || s.mode.mapped {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	if s.mode.users {
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SYS_CHROOT, unix.CAP_DAC_OVERRIDE,
			unix.CAP_KILL}
	}
	if s.mode.mapped {
		own := syscall.SysProcIDMap{ContainerID: int(s.ids.first), HostID: int(s.ids.first), Size: int(s.ids.count)}
		attr.UidMappings, attr.GidMappings = append(attr.UidMappings, own), append(attr.GidMappings, own)
		attr.GidMappingsEnableSetgroups = true
	}
	return attr
}

// Boxes reports whether commands run in boxes.
func (s *Sandbox) Boxes() bool { return s.mode.boxes }

// Level is the level that the probe saw hold.
func (s *Sandbox) Level() grid.Isolation { return s.level }

// Processes is how many processes and threads a task of one core may have that asks for more, and what bounds them.
// Where nothing does it is 0.
func (s *Sandbox) Processes() (n int64, by string) {
	if s.room == nil || !s.room.enough() {
		return 0, ""
	}
	return s.room.share, s.room.by
}

// Findings are what the probe could do that it should not, and why there are no boxes where there are none.
func (s *Sandbox) Findings() []Finding { return s.finds }

// Close ends all boxes and what made them.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	closeForkers(append(s.former, s.forker))
	s.groups.close()
	s.ids.close()
	return nil
}
