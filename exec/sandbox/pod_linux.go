//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox/zygote"
)

// Pod is what several boxes share: a network with nothing but loopback at first, System V objects and message queues,
// and /dev/shm. It is held by a box without a command, so it is there before the first of them and stays until Close
// and the end of the last. Each has processes, files, a control group and bounds of its own. Those that are to use each
// other's shared memory need the same user.
type Pod struct{ box *Box }

// NewPod makes a pod. Its /dev/shm takes at most memory bytes, 0 = half of the machine's; the control groups of those
// who write to it are charged.
func (s *Sandbox) NewPod(memory int64) (*Pod, error) {
	if !s.Boxes() {
		return nil, errNoBox
	}
	for {
		p, err := s.newPod(memory)
		if !errors.Is(err, errRetired) {
			return p, err
		}
	}
}

func (s *Sandbox) newPod(memory int64) (p *Pod, err error) {
	f, err := s.current()
	if err != nil {
		return nil, err
	}
	p = &Pod{}
	p.box = &Box{s: s, forker: f, started: make(chan error, 1), exited: make(chan struct{}), empty: make(chan struct{})}
	defer func() {
		if err != nil {
			p.Close()
			p = nil
		}
	}()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return p, err
	}
	defer null.Close()
	control, theirs, err := socketpair()
	if err != nil {
		return p, err
	}
	defer theirs.Close()
	p.box.control = control
	q := newRequest(zygote.OpBox)
	q.head.Flags = zygote.FlagNetwork | zygote.FlagHold
	q.head.Shm, q.head.Hosts, q.head.Command.OOM = q.text(shmOptions(memory)), q.text(""), q.text("1000")
	q.command(&Command{})
	fd := int(null.Fd())
	if err := p.box.begin(q, []int{fd, fd, fd, int(theirs.Fd())}, theirs); err != nil {
		return p, fmt.Errorf("make what boxes share: %w", err)
	}
	return p, nil
}

// OpenTUN opens a TUN device that belongs to the network of the pod, not set up yet and not blocking, and a route
// netlink socket of that network. Both are the caller's. The pod's user namespace is owned by this node's user, so this
// process may set them up without a thread in the box.
func (p *Pod) OpenTUN() (tun, route *os.File, err error) {
	dir, err := unix.Open("/dev/net", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open /dev/net: %w", err)
	}
	defer unix.Close(dir)
	a, err := p.box.ask(newRequest(zygote.OpTUN), []int{dir})
	if err == nil && a.errno != 0 {
		err = fmt.Errorf("open /dev/net/tun: %w", a.errno)
	}
	if err == nil && (a.files[0] == nil || a.files[1] == nil) {
		err = errors.New("open /dev/net/tun: the box sent no device, or no socket for its settings")
	}
	if err != nil {
		a.close()
		return nil, nil, err
	}
	return a.files[0], a.files[1], nil
}

// Socket makes a socket in the network of the pod. It is the caller's, who binds, connects and configures it from
// outside.
func (p *Pod) Socket(family, kind, protocol int) (*os.File, error) {
	q := newRequest(zygote.OpSocket)
	q.head.Family, q.head.SocketType, q.head.SocketProtocol = uint32(family), uint32(kind), uint32(protocol)
	a, err := p.box.ask(q, nil)
	if err == nil && a.errno != 0 {
		err = fmt.Errorf("make a socket in the box: %w", a.errno)
	}
	if err == nil && a.files[0] == nil {
		err = errors.New("make a socket in the box: the box sent none")
	}
	if err != nil {
		a.close()
		return nil, err
	}
	return a.files[0], nil
}

// Proc returns /proc of the pod, not to be read itself but to open what is in it. In it process 1 is in the pod's
// network.
func (p *Pod) Proc() (*os.File, error) {
	proc, shm, ipc, err := p.box.Look()
	if err != nil {
		return nil, err
	}
	shm.Close()
	for _, f := range ipc {
		f.Close()
	}
	return proc, nil
}

// Done is closed when the pod is lost, or closed.
func (p *Pod) Done() <-chan struct{} { return p.box.Empty() }

// Close lets go of the pod. Boxes that are in it keep what they share.
func (p *Pod) Close() { p.box.Close() }

// forker is that which made the pod; nil if p is.
func (p *Pod) forker() *forker {
	if p == nil {
		return nil
	}
	return p.box.forker
}

// join adds to a request that its box belongs to the pod, and returns what goes with it. The handle of /dev/shm is one
// of a mount that can be put into one place once, so each box needs its own.
func (p *Pod) join(q *request) (answer, error) {
	if p == nil {
		return answer{}, nil
	}
	q.head.Flags |= zygote.FlagJoin
	a, err := p.box.ask(newRequest(zygote.OpShare), nil)
	if err == nil && a.errno != 0 {
		a.close()
		err = fmt.Errorf("share a network: %w", a.errno)
	}
	return a, err
}
