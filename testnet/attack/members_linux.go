package attack

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"skep/testnet/attack/member"
)

// What a node may take more under the attack of a member, in bytes of memory and of its data folder.
const (
	mostMemory = 256 << 20
	mostDisk   = 256 << 20
)

// nodesAttacked is how large the network is: the node that is attacked, and two that keep its jobs.
const nodesAttacked = 3

// Hit is what an attack of a member did to a node.
type Hit struct {
	Attack       string
	Tally        member.Tally
	Memory, Disk int64         // bytes more than before, at most
	Jobs         int           // of the node's own that ended well meanwhile
	Slowest      time.Duration // of them
	Trouble      []string
}

// Broken says what was not kept.
func (h *Hit) Broken() (bad []string) {
	bad = slices.Clone(h.Trouble)
	if h.Memory > mostMemory {
		bad = append(bad, fmt.Sprintf("the node took %d MiB of memory more: want at most %d", h.Memory>>20, mostMemory>>20))
	}
	if h.Disk > mostDisk {
		bad = append(bad, fmt.Sprintf("its folder took %d MiB more: want at most %d", h.Disk>>20, mostDisk>>20))
	}
	return bad
}

// Members has a hostile member attack nodes, each attack for a while on a network of its own, with so many at a time,
// and prints what became of them. Only those are tried whose name begins with a prefix. It returns an exit code.
func Members(ctx context.Context, o *Options, prefix string, each time.Duration, w io.Writer) int {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t,
		"a member's attack, %v each\tsent\tcut off\tmemory, MiB more\tdisk, MiB more\tits own jobs ended\tslowest, "+
			"s\tverdict\t\n", each)
	code := 0
	for i := range member.Table {
		a := &member.Table[i]
		if !strings.HasPrefix(a.Name, prefix) {
			continue
		}
		if a.Runs && os.Geteuid() != 0 {
			fmt.Fprintf(t, "%s\t\t\t\t\t\t\tnot tried: only a node of root has accounts\t\n", a.Name)
			continue
		}
		h := besiege(ctx, o, a, each)
		if ctx.Err() != nil {
			return 2
		}
		verdict := "holds"
		if bad := h.Broken(); len(bad) > 0 {
			verdict, code = "BROKEN: "+strings.Join(bad, "; "), 1
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%.1f\t%s\t\n", a.Name, h.Tally.Sent, h.Tally.Cut, h.Memory>>20, h.Disk>>20,
			h.Jobs, h.Slowest.Seconds(), verdict)
		t.Flush()
	}
	return code
}

// besiege attacks a network of its own.
func besiege(ctx context.Context, o *Options, a *member.Attack, each time.Duration) (h Hit) {
	h.Attack = a.Name
	base, err := o.folder()
	if err != nil {
		h.Trouble = append(h.Trouble, err.Error())
		return h
	}
	defer removeAll(base)
	nodes, target, err := network(ctx, o, base)
	defer func() {
		for _, n := range nodes {
			n.stop()
		}
	}()
	if err != nil {
		h.Trouble = append(h.Trouble, err.Error())
		return h
	}
	node := nodes[0]
	memory, disk := resident(node.cmd.Process.Pid), folderSize(node.data)
	attacked, stop := context.WithTimeout(ctx, each)
	defer stop()
	var all sync.WaitGroup
	all.Go(func() { h.Tally = a.Run(attacked, target) })
	all.Go(func() {
		for attacked.Err() == nil {
			h.Memory = max(h.Memory, resident(node.cmd.Process.Pid)-memory)
			h.Disk = max(h.Disk, folderSize(node.data)-disk)
			wait(attacked, 500*time.Millisecond)
		}
	})
	all.Go(func() { h.Trouble = append(h.Trouble, ownJobs(ctx, attacked, node, &h)...) })
	all.Wait()
	if a.Runs {
		h.Tally.Taken += filesIn(target.Accounts.Guarded)
		if filesIn(target.Accounts.Open) == 0 {
			h.Trouble = append(h.Trouble, "nothing was attacked: no task of the member ran where any may")
		}
	}
	if h.Tally.Taken > 0 {
		h.Trouble = append(h.Trouble, fmt.Sprintf("%d times it let the member do what it may not", h.Tally.Taken))
	}
	if h.Tally.Sent == 0 {
		h.Trouble = append(h.Trouble, fmt.Sprintf("nothing was attacked: %v", h.Tally.Last))
	}
	if !node.alive() {
		h.Trouble = append(h.Trouble, "the node has died: "+last(node.log.String()))
		return h
	}
	node.cmd.Process.Kill()
	<-node.ended
	again, err := startTarget(o.Skep, node.data, node.home)
	if err != nil {
		h.Trouble = append(h.Trouble, "after it was killed "+err.Error())
		return h
	}
	nodes[0] = again
	h.Memory = max(h.Memory, resident(again.cmd.Process.Pid)-memory)
	return h
}

// ownJobs runs short jobs one after the other, and beside them one for the whole time. All have to end well.
func ownJobs(ctx, attacked context.Context, node *target, h *Hit) (trouble []string) {
	long := make(chan error, 1)
	deadline, _ := attacked.Deadline()
	go func() {
		seconds := fmt.Sprint(max(int(time.Until(deadline).Seconds())-2, 1))
		_, _, err := node.client(ctx, node.home, "run", "--retries", "0", "--", "sleep", seconds)
		long <- err
	}()
	for attacked.Err() == nil {
		began := time.Now()
		job, stop := context.WithTimeout(ctx, jobTime)
		_, _, err := node.client(job, node.home, "run", "--count", "3", "--", "true")
		stop()
		h.Slowest = max(h.Slowest, time.Since(began))
		if err != nil {
			trouble = append(trouble, fmt.Sprintf("a job of its own: %v", err))
			break
		}
		h.Jobs++
		wait(attacked, time.Second)
	}
	if err := <-long; err != nil {
		trouble = append(trouble, fmt.Sprintf("a job for the whole time: %v", err))
	}
	return trouble
}

// resident is the memory of a process in bytes.
func resident(pid int) int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(fields[0], 10, 64)
	return n << 10
}

// folderSize is how many bytes the files of a folder have.
func folderSize(dir string) (sum int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// last is the end of a long text.
func last(s string) string { return s[max(len(s)-tailSize, 0):] }
