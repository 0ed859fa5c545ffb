package slurmtest

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"skep/internal/processes"
)

// Cluster is a cluster that runs.
type Cluster struct {
	Conf string // path of its slurm.conf, for SLURM_CONF

	tb         testing.TB
	dir, host  string
	controller *exec.Cmd
}

// daemons are the programs of a cluster.
var daemons = []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo", "scontrol"}

// path is where they are looked for: daemons are not in everybody's PATH.
const sbin = "/usr/sbin:/sbin:/usr/local/sbin"

// Start starts a cluster whose compute node has so many processors and MiB of memory, whatever this machine has, and
// sets SLURM_CONF for the rest of the test. It ends with the test, and its jobs with it.
func Start(tb testing.TB, cpus, memory int) *Cluster {
	tb.Helper()
	if os.Geteuid() != 0 {
		tb.Skip("Slurm runs jobs as root only: run this test as root")
	}
	tb.Setenv("PATH", os.Getenv("PATH")+":"+sbin)
	for _, d := range daemons {
		if _, err := exec.LookPath(d); err != nil {
			tb.Skipf("%s is not installed: apt-get install slurm-wlm munge", d)
		}
	}
	dir, err := os.MkdirTemp("", "slurm-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := &Cluster{Conf: filepath.Join(dir, "slurm.conf"), tb: tb, dir: dir}
	host, err := os.Hostname()
	if err != nil {
		tb.Fatal(err)
	}
	c.host, _, _ = strings.Cut(host, ".")
	c.write(cpus, memory)
	tb.Setenv("SLURM_CONF", c.Conf)
	munge := filepath.Join(dir, "munge")
	c.end(c.daemon("munged", "--force", "--foreground", "--socket="+munge+"/s", "--key-file="+dir+"/key",
		"--pid-file="+munge+"/pid", "--log-file="+munge+"/log", "--seed-file="+munge+"/seed"))
	c.StartController()
	tb.Cleanup(func() { kill(c.controller) }) // the last one that was started
	c.end(c.daemon("slurmd", "-D", "-f", c.Conf, "-N", c.host))
	tb.Cleanup(func() { _ = exec.Command("scancel", "--user=root").Run(); c.await("no jobs", "squeue", "-h", "") })
	c.await("an idle node", "sinfo", "-h", "-o%t", "idle")
	return c
}

// write writes the files of the cluster.
func (c *Cluster) write(cpus, memory int) {
	c.tb.Helper()
	key := make([]byte, 1024)
	rand.Read(key)
	var ports []string
	for _, at := range processes.Addresses(c.tb, 2) {
		_, port, _ := net.SplitHostPort(at)
		ports = append(ports, port)
	}
	conf := fmt.Sprintf(`ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[2]s
SlurmdPort=%[3]s
AuthType=auth/munge
AuthInfo=socket=%[4]s/munge/s
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=%[4]s/state
SlurmdSpoolDir=%[4]s/spool
SlurmctldPidFile=%[4]s/ctld.pid
SlurmdPidFile=%[4]s/d.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=10
DefMemPerCPU=64
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=%[5]d RealMemory=%[6]d State=UNKNOWN
PartitionName=work Nodes=%[1]s Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=%[1]s MaxTime=1 State=UP
`, c.host, ports[0], ports[1], c.dir, cpus, memory)
	err := errors.Join(os.WriteFile(filepath.Join(c.dir, "key"), key, 0o400), os.WriteFile(c.Conf, []byte(conf), 0o644))
	for _, d := range []string{"munge", "state", "spool"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(c.dir, d), 0o755))
	}
	// munge wants folders that only their owner writes to, and that others may pass
	if err = errors.Join(err, os.Chmod(c.dir, 0o755)); err != nil {
		c.tb.Fatal(err)
	}
}

// end kills a daemon at the end of the test.
func (c *Cluster) end(cmd *exec.Cmd) { c.tb.Cleanup(func() { kill(cmd) }) }

// daemon starts one.
func (c *Cluster) daemon(name string, args ...string) *exec.Cmd {
	c.tb.Helper()
	log, err := os.OpenFile(filepath.Join(c.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.tb.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		c.tb.Fatal(err)
	}
	return cmd
}

func kill(cmd *exec.Cmd) { end(cmd, syscall.SIGKILL) }

func end(cmd *exec.Cmd, s syscall.Signal) {
	if cmd.ProcessState == nil {
		_ = cmd.Process.Signal(s)
		_ = cmd.Wait()
	}
}

// StopController stops the controller in order, so that it knows all jobs when it starts again: no command of Slurm
// gets an answer. Jobs go on.
func (c *Cluster) StopController() { end(c.controller, syscall.SIGTERM) }

// StartController starts it, possibly again.
func (c *Cluster) StartController() {
	c.controller = c.daemon("slurmctld", "-D", "-f", c.Conf)
	c.await("a controller", "scontrol", "ping", "UP")
}

// await runs a command until it prints a text; "": until it prints nothing.
func (c *Cluster) await(what, name string, args ...string) {
	c.tb.Helper()
	args, want := args[:len(args)-1], args[len(args)-1]
	var out []byte
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var err error
		if out, err = exec.Command(name, args...).CombinedOutput(); err == nil &&
			(want != "" && bytes.Contains(out, []byte(want)) || want == "" && len(bytes.TrimSpace(out)) == 0) {
			return
		}
	}
	log, _ := os.ReadFile(filepath.Join(c.dir, "slurmctld.log"))
	c.tb.Errorf("want %s: %s printed %s\n%s", what, name, out, log)
}
