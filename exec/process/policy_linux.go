package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// policy is what tasks may do with files while one folder is denied to them: read and execute
// everywhere else, write in the shared temporary folders, use devices; each task in addition gets
// its own folder. Landlock only knows how to allow, and a right on a folder holds for all beneath
// it. So the folders on the way to the denied one get nothing, and each of their other entries gets
// a rule of its own: with /home/ann/.skep denied these are /usr, /etc ..., /home/bob ...,
// /home/ann/Documents ... A task can therefore not list /, /home or /home/ann.
//
// The entries are read and opened once and read again when a folder on the way has changed.
type policy struct {
	abi int

	mu    sync.Mutex
	fixed []grant   // what does not change with the entries of a folder
	ways  []listing // the folders on the way to the denied one, and /dev
}

// grant is a right on one file or folder. Where the file is the root of another file system fd is -1
// and path is opened each time: an open descriptor would keep its owner from unmounting it.
type grant struct {
	path   string
	fd     int
	rights uint64
}

// listing is a folder of which everything but one entry is allowed; of /dev only the devices below.
type listing struct {
	dir, except string
	changed     unix.Timespec
	read        time.Time
	cost        time.Duration
	grants      []grant
}

// sharedTemp are the folders in which everybody may write.
var sharedTemp = [...]string{"/tmp", "/var/tmp", "/dev/shm"}

// maxEntries bounds the rules that one crowded folder may cost each start; folders go first.
const maxEntries = 1024

func newPolicy(abi int, deny string) (*policy, error) {
	p := &policy{abi: abi}
	if deny == "" {
		p.add("/", mayRead)
	} else {
		real, err := filepath.EvalSymlinks(deny)
		if err != nil {
			return nil, fmt.Errorf("process: find denied folder: %w", err)
		}
		for dir := real; dir != "/"; dir = filepath.Dir(dir) {
			p.ways = append(p.ways, listing{dir: filepath.Dir(dir), except: filepath.Base(dir)})
		}
		deny = real
	}
	for _, t := range sharedTemp {
		if !inside(deny, t) {
			p.add(t, mayWrite)
		}
	}
	if !inside(deny, "/dev") {
		p.add("/dev", unix.LANDLOCK_ACCESS_FS_READ_DIR)
		p.ways = append(p.ways, listing{dir: "/dev"})
	}
	return p, nil
}

// inside says whether path is dir or beneath it.
func inside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

func (p *policy) add(path string, rights uint64) {
	if g, ok := p.grant(path, rights, 0); ok {
		p.fixed = append(p.fixed, g)
	}
}

// grant opens path for a rule; dev is the file system of its folder. What cannot be had is left out.
func (p *policy) grant(path string, rights uint64, dev uint64) (grant, bool) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return grant{}, false
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK || st.Mode&unix.S_IFMT == unix.S_IFBLK {
		unix.Close(fd) // a link leads to a place with rules of its own; a disk may hold the denied folder
		return grant{}, false
	}
	rights &= known(p.abi)
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFile
	}
	if rights == 0 {
		unix.Close(fd)
		return grant{}, false
	}
	if uint64(st.Dev) != dev {
		unix.Close(fd)
		fd = -1
	}
	return grant{path, fd, rights}, true
}

// ruleset makes a ruleset with the common rights and writing in the folders own.
func (p *policy) ruleset(own ...string) (int, error) {
	set, err := newRuleset(p.abi)
	if err != nil {
		return -1, err
	}
	if err := p.fill(set, own); err != nil {
		unix.Close(set)
		return -1, err
	}
	return set, nil
}

func (p *policy) fill(set int, own []string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.ways {
		p.refresh(&p.ways[i])
		for _, g := range p.ways[i].grants {
			if err := g.put(set); err != nil {
				return err
			}
		}
	}
	for _, g := range p.fixed {
		if err := g.put(set); err != nil {
			return err
		}
	}
	for _, dir := range own {
		g := grant{dir, -1, mayWrite & known(p.abi)}
		if err := g.put(set); err != nil {
			return err
		}
	}
	return nil
}

func (g *grant) put(set int) error {
	if g.fd >= 0 {
		return allow(set, g.fd, g.rights)
	}
	fd, err := unix.Open(g.path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil // unmounted or removed meanwhile: nothing to allow
	}
	defer unix.Close(fd)
	return allow(set, fd, g.rights)
}

// blurred is how coarse a file system's times may be: a folder that was read so soon after its last change
// may have changed again since without showing it.
const blurred = 2 * time.Second

// stale reports whether the folder, last changed at mtime, may hold what was not read.
func (l *listing) stale(mtime unix.Timespec) bool {
	return l.read.IsZero() || mtime != l.changed || l.read.Sub(time.Unix(mtime.Unix())) < blurred
}

// refresh reads a folder again if it has changed; a folder that changes all the time is read so
// rarely that it costs no more than a fiftieth of a core.
func (p *policy) refresh(l *listing) {
	var st unix.Stat_t
	if unix.Stat(l.dir, &st) != nil || !l.stale(st.Mtim) || time.Since(l.read) < 50*l.cost {
		return
	}
	began := time.Now()
	l.drop()
	l.changed = st.Mtim
	for _, path := range l.paths() {
		rights := uint64(mayRead)
		if l.dir == "/dev" {
			rights = mayUseDevice
		}
		for _, t := range sharedTemp {
			if inside(path, t) {
				rights = mayWrite
			}
		}
		if g, ok := p.grant(path, rights, uint64(st.Dev)); ok {
			l.grants = append(l.grants, g)
		}
	}
	l.read = time.Now()
	l.cost = l.read.Sub(began)
}

// paths are the entries that get a rule.
func (l *listing) paths() (all []string) {
	if l.dir == "/dev" {
		for _, pattern := range devices {
			found, _ := filepath.Glob("/dev/" + pattern)
			all = append(all, found...)
		}
		return all
	}
	entries, _ := os.ReadDir(l.dir)
	for _, folders := range [...]bool{true, false} {
		for _, e := range entries {
			path := filepath.Join(l.dir, e.Name())
			if e.IsDir() == folders && e.Name() != l.except && path != "/dev" && len(all) < maxEntries {
				all = append(all, path)
			}
		}
	}
	return all
}

// devices are what programs use of /dev: what every Unix has, terminals, and what computes. A list of
// what is harmless and not of what is not: a task of root could read the denied folder off a disk.
var devices = [...]string{"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "mqueue", "hugepages",
	"kvm", "kfd", "dri", "nvidia*", "accel", "infiniband"}

func (l *listing) drop() {
	for _, g := range l.grants {
		if g.fd >= 0 {
			unix.Close(g.fd)
		}
	}
	l.grants = l.grants[:0]
}

func (p *policy) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.ways {
		p.ways[i].drop()
	}
}
