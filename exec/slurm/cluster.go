package slurm

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Cluster is what a partition has.
type Cluster struct {
	Partition string
	Hosts     []Host        // those that take jobs
	Away      int           // hosts that do not
	MaxTime   time.Duration // of a job; 0 = as long as it likes
}

// Host is a machine of a partition.
type Host struct {
	Name   string
	CPUs   int
	Memory int64 // bytes
}

// CPUs is the number of processors of all hosts.
func (c *Cluster) CPUs() (n int) {
	for i := range c.Hosts {
		n += c.Hosts[i].CPUs
	}
	return n
}

// Memory is that of all hosts, in bytes.
func (c *Cluster) Memory() (n int64) {
	for i := range c.Hosts {
		n += c.Hosts[i].Memory
	}
	return n
}

// fits reports whether a host could run a job.
func (c *Cluster) fits(cpus int, memory int64) bool {
	for i := range c.Hosts {
		if h := &c.Hosts[i]; h.CPUs >= cpus && h.Memory >= memory {
			return true
		}
	}
	return len(c.Hosts) == 0
}

// Look asks the controller what the partition has.
func Look(ctx context.Context, o *Options) (*Cluster, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("slurm: %w", err)
	}
	text, err := run(ctx, "sinfo", "--noheader", "--Node", "--all", "--format=%N|%c|%m|%l|%P|%T")
	if err != nil {
		return nil, fmt.Errorf("slurm: look at the cluster: %w", err)
	}
	c, err := parseCluster(text, o.Partition)
	if err != nil {
		return nil, fmt.Errorf("slurm: %w", err)
	}
	return c, nil
}

// away are states of hosts that take no jobs until somebody does something about it.
var away = []string{"down", "drain", "fail", "inval", "future", "power_down", "powering_down", "unknown"}

// parseCluster reads the listing of sinfo, in which each host has a line for each of its partitions; an asterisk
// follows the name of the default partition, and the state of a host that does not answer.
func parseCluster(text, partition string) (*Cluster, error) {
	c := &Cluster{Partition: partition}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimRight(line, "\n"), "|")
		if len(f) != 6 {
			continue
		}
		name, isDefault := strings.CutSuffix(f[4], "*")
		if c.Partition == "" && isDefault {
			c.Partition = name
		}
		if partition != "" && name != partition || partition == "" && !isDefault {
			continue
		}
		// sinfo prints 16+ for hosts of different sizes that share a line, and these are one
		cpus, err1 := strconv.Atoi(strings.TrimSuffix(f[1], "+"))
		mib, err2 := strconv.ParseInt(strings.TrimSuffix(f[2], "+"), 10, 64)
		if err1 != nil || err2 != nil || cpus < 1 || mib < 1 || mib > 1<<40 {
			return nil, fmt.Errorf("host %.80q has %.20q processors and %.20q MiB: want two numbers", f[0], f[1], f[2])
		}
		var err error
		if c.MaxTime, err = parseLimit(f[3]); err != nil {
			return nil, err
		}
		if isAway(f[5]) {
			c.Away++
			continue
		}
		c.Hosts = append(c.Hosts, Host{Name: f[0], CPUs: cpus, Memory: mib << 20})
	}
	switch {
	case c.Partition == "":
		return nil, fmt.Errorf("the cluster has no default partition: want one named with --partition")
	case len(c.Hosts)+c.Away == 0:
		return nil, fmt.Errorf("there is no partition %q, or it has no hosts", c.Partition)
	case len(c.Hosts) == 0:
		return nil, fmt.Errorf("partition %q has no host that takes jobs now: look at sinfo --list-reasons", c.Partition)
	}
	return c, nil
}

func isAway(state string) bool {
	for _, s := range away {
		if strings.HasPrefix(strings.ToLower(state), s) {
			return true
		}
	}
	return false
}

// parseLimit reads a time limit of Slurm: infinite, or [days-][[hours:]minutes:]seconds; with days the seconds, and the
// minutes, may be missing.
func parseLimit(s string) (time.Duration, error) {
	if s == "infinite" || s == "UNLIMITED" || s == "n/a" {
		return 0, nil
	}
	days, rest, hasDays := strings.Cut(s, "-")
	if !hasDays {
		days, rest = "0", s
	}
	parts := strings.Split(rest, ":")
	units := []time.Duration{time.Hour, time.Minute, time.Second}
	if !hasDays {
		units = units[max(3-len(parts), 0):]
	}
	d, err := strconv.ParseUint(days, 10, 16)
	total := time.Duration(d) * 24 * time.Hour
	if err != nil || len(parts) > len(units) {
		return 0, fmt.Errorf("time limit %.40q: want days-hours:minutes:seconds", s)
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 32)
		if err != nil {
			return 0, fmt.Errorf("time limit %.40q: want days-hours:minutes:seconds", s)
		}
		total += time.Duration(n) * units[i]
	}
	return total, nil
}
