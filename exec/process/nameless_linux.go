package process

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// shmemNews is by how much the memory of all files in memory of the machine must differ from what it was for those of
	// a task to be looked for: that takes long where there is much to look at.
	shmemNews = 8 << 20

	// namelessEvery is how often they are looked for in any case: what one task takes another may have given back.
	namelessEvery = 5 * time.Second

	// namelessPart is which part of the time may be spent on it.
	namelessPart = 10

	// maxDescriptors and maxMappings bound what is looked at of a box. A task with more could hold anything in the rest.
	maxDescriptors = 100_000
	maxMappings    = 500_000
)

// nameless is the memory of a box that belongs to files without a name, as memfd_create(2) and shared mappings make
// them: no process shows it that does not touch it.
type nameless struct {
	known int64  // in bytes, when it was last looked at
	guess int64  // further bytes that are mapped, and may be there
	over  string // why it is not known; empty if it is
	soon  bool   // somebody may hide something: look again

	shmem  int64 // that all files in memory of the machine had when this was last looked at
	looked time.Time
	next   time.Time

	descriptors, mappings int // that may still be looked at
	// how often, one after the other, the descriptors of a process could not be looked at
	closed  map[int]int
	seen    map[uint64]int64 // sizes by inode
	guessed map[uint64]int64 // the same where it cannot be asked, as much of it as is mapped
}

// look looks again if there is reason to. Files in memory of the machine have shmem bytes, of which at most some are
// the box's.
func (n *nameless) look(root string, pids []int, shmem, most int64) {
	now := time.Now()
	news := shmem < n.shmem-shmemNews || shmem > n.shmem+shmemNews
	if now.Before(n.next) || !news && !n.soon && now.Sub(n.looked) < namelessEvery {
		return
	}
	n.shmem, n.looked = shmem, now
	n.count(root, pids, most)
	n.next = now.Add(namelessPart * time.Since(now))
}

// count adds up each file once. What is only mapped has the size of its mappings where the node may not ask the file,
// but not more than most allows: a program may map much and touch little of it. One that lets nobody see its
// descriptors may have all that.
func (n *nameless) count(root string, pids []int, most int64) {
	n.descriptors, n.mappings, n.over = maxDescriptors, maxMappings, ""
	n.seen, n.guessed = make(map[uint64]int64), make(map[uint64]int64)
	hides := n.hidden(root, pids)
	for _, pid := range pids {
		n.mapped(fmt.Sprintf("%s/%d", root, pid))
	}
	if n.descriptors < 0 || n.mappings < 0 {
		n.over = fmt.Sprintf("has more than %d open files or %d mappings, so that what they hold cannot be counted",
			maxDescriptors, maxMappings)
	}
	n.known, n.guess = 0, 0
	for _, size := range n.seen {
		n.known += size
	}
	for inode, size := range n.guessed {
		if _, known := n.seen[inode]; !known {
			n.guess += size
		}
	}
	if room := max(most-n.known, 0); hides || n.guess > room {
		n.guess = room
	}
	n.seen, n.guessed = nil, nil
}

// hidden counts what descriptors name, and reports whether there is a process that keeps its own from being looked at.
// One that is not yet, or no more, what it runs may do so for a moment.
func (n *nameless) hidden(root string, pids []int) (hides bool) {
	before := n.closed
	n.closed, n.soon = make(map[int]int), false
	for _, pid := range pids {
		if n.opened(fmt.Sprintf("%s/%d/fd", root, pid)) || !hasMemory(root, pid) {
			continue
		}
		if n.closed[pid] = min(before[pid]+1, blind); n.closed[pid] == blind {
			hides = true
		} else {
			n.soon = true
		}
	}
	return hides
}

// opened counts what descriptors name, and reports whether it could.
func (n *nameless) opened(dir string) bool {
	if n.descriptors < 0 {
		return true
	}
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(n.descriptors + 1)
	n.descriptors -= len(names)
	for _, name := range names {
		link := dir + "/" + name
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, "/memfd:") {
			n.ask(link)
		}
	}
	return true
}

// ask notes the size of a file, and reports whether it could be asked.
func (n *nameless) ask(link string) bool {
	var st syscall.Stat_t
	if syscall.Stat(link, &st) != nil {
		return false
	}
	n.seen[st.Ino] = st.Blocks * 512
	return true
}

// mapped counts what is mapped. A line of maps is: from-to permissions offset device inode path.
func (n *nameless) mapped(dir string) {
	f, err := os.Open(dir + "/maps")
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); n.mappings >= 0 && lines.Scan(); n.mappings-- {
		line := lines.Bytes()
		if i := bytes.IndexByte(line, ' '); i < 0 || len(line) < i+5 || line[i+4] != 's' {
			continue
		}
		f := bytes.Fields(line)
		if len(f) < 6 || !bytes.HasPrefix(f[5], []byte("/memfd:")) && string(f[5]) != "/dev/zero" {
			continue
		}
		inode, _ := strconv.ParseUint(string(f[4]), 10, 64)
		if _, known := n.seen[inode]; known || n.ask(dir+"/map_files/"+string(f[0])) { // the latter for root alone
			continue
		}
		from, to, _ := strings.Cut(string(f[0]), "-")
		first, _ := strconv.ParseInt(from, 16, 64)
		last, _ := strconv.ParseInt(to, 16, 64)
		offset, _ := strconv.ParseInt(string(f[2]), 16, 64)
		n.guessed[inode] = max(n.guessed[inode], offset+last-first)
	}
}
