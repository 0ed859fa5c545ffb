package attack

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"skep/testnet/attack/world"
)

// scene is the node with what is planted around it.
type scene struct {
	o      *Options
	base   string // folder of all that is made, but for what is planted elsewhere
	secret string
	node   *target
	world  world.World

	listeners []net.Listener
	planted   []string // files outside of base
	keys      [3]int   // identifiers of System V objects
	terminal  *terminal
	bystander *sufferer
	sibling   *sufferer
	before    map[string]stamp // of the node's files, and of those with a secret
}

// The bounds of an attempt.
const (
	boundMemory    = 96 << 20
	boundDisk      = 64 << 20
	boundOutput    = 1 << 20
	boundProcesses = 150
	boundFiles     = 2000
)

// set makes a scene. What it has made is removed by clear, also after an error.
func set(ctx context.Context, o *Options) (s *scene, err error) {
	s = &scene{o: o}
	defer func() {
		if err != nil {
			s.clear()
		}
	}()
	if s.base, err = o.folder(); err != nil {
		return s, err
	}
	random := make([]byte, world.SecretLength/2)
	rand.Read(random)
	s.secret = world.SecretPrefix + hex.EncodeToString(random)
	rand.Read(random)
	w := &s.world
	w.Nonce, w.UID = hex.EncodeToString(random[:6]), os.Getuid()
	w.Bounds = world.Bounds{Memory: boundMemory, Disk: boundDisk, Output: boundOutput, Processes: boundProcesses,
		Files: boundFiles}
	w.PIDs, _ = os.Readlink("/proc/self/ns/pid")
	w.Data, w.ReadOnly, w.Writable = filepath.Join(s.base, "data"), filepath.Join(s.base, "shown"),
		filepath.Join(s.base, "shared")
	for _, step := range []func() error{s.plantFiles, s.plantSockets, s.plantObjects} {
		if err := step(); err != nil {
			return s, fmt.Errorf("plant: %w", err)
		}
	}
	args := []string{"--name", "attacked", "--expose", w.ReadOnly, "--expose", w.Writable + ":rw", "--task-processes",
		fmt.Sprint(boundProcesses),
		"--task-disk", fmt.Sprint(boundDisk), "--task-files", fmt.Sprint(boundFiles), "--max-output", fmt.Sprint(boundOutput),
		"--cpus", "64"}
	if o.Landlock != "" {
		args = append(args, "--landlock", o.Landlock)
	}
	if o.Isolation != "" {
		args = append(args, "--isolation", o.Isolation)
	}
	if s.node, err = startTarget(o.Skep, w.Data, filepath.Join(s.base, "home"), args...); err != nil {
		return s, err
	}
	if w.Level, err = s.node.level(ctx); err != nil {
		return s, err
	}
	if err := s.startVictims(ctx); err != nil {
		return s, err
	}
	return s, s.describe()
}

// plantFiles makes the folders and the files with the secret.
func (s *scene) plantFiles() error {
	w := &s.world
	home := filepath.Join(s.base, "home")
	for _, dir := range []string{home, filepath.Join(home, ".ssh"), w.Data, w.ReadOnly, w.Writable} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	os.Chmod(w.ReadOnly, 0o755)
	os.Chmod(w.Writable, 0o1777)
	for _, path := range []string{filepath.Join(home, "secret"), filepath.Join(home, ".ssh", "id_ed25519"),
		filepath.Join(w.Data, "planted")} {
		if err := os.WriteFile(path, []byte(s.secret), 0o600); err != nil {
			return err
		}
		w.Secrets = append(w.Secrets, path)
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		path := filepath.Join(dir, "skep-attack-"+w.Nonce)
		if os.WriteFile(path, []byte(s.secret), 0o600) == nil {
			w.Secrets, s.planted = append(w.Secrets, path), append(s.planted, path)
		}
	}
	if err := os.WriteFile(filepath.Join(w.ReadOnly, "plain"), []byte("x"), 0o666); err != nil {
		return err
	}
	program, err := os.ReadFile(s.o.Intruder)
	if err != nil {
		return err
	}
	setuid := filepath.Join(w.ReadOnly, "setuid")
	if err := errors.Join(os.WriteFile(setuid, program, 0o755), os.WriteFile(filepath.Join(s.base, "intruder"), program,
		0o755)); err != nil {
		return err
	}
	if handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, w.Secrets[0], 0); err == nil {
		w.Handle, w.HandleType = handle.Bytes(), handle.Type()
	}
	return os.Chmod(setuid, 0o755|os.ModeSetuid|os.ModeSetgid)
}

// describe tells the intruder of the node's files and of the processes outside.
func (s *scene) describe() error {
	w := &s.world
	entries, err := os.ReadDir(w.Data)
	if err != nil {
		return err
	}
	w.Private = []string{w.Data, filepath.Join(w.Data, "work"), filepath.Join(s.base, "home")}
	for _, d := range entries {
		if path := filepath.Join(w.Data, d.Name()); d.Type().IsRegular() && !slices.Contains(w.Secrets, path) {
			w.Private = append(w.Private, path)
		}
	}
	for _, path := range s.node.attempts() {
		w.Secrets = append(w.Secrets, filepath.Join(path, "private"))
	}
	w.Places = []string{"/", "/usr", "/usr/bin", "/usr/lib", "/bin", "/etc", "/opt", "/dev", "/proc", "/sys", "/run",
		"/var", "/home", "/root", "/srv",
		"/task/..", w.Data, filepath.Join(w.Data, "work"), filepath.Join(s.base, "home"), s.base, w.ReadOnly}
	node := s.node.cmd.Process.Pid
	header := uint64(0x400000) // where the linker puts programs
	w.Processes = []world.Process{{Name: "node", PID: node, Mark: w.Data, Address: header, Holds: "\x7fELF"},
		{Name: "zygote", PID: childOf(node), Address: header, Holds: "\x7fELF"},
		{Name: "bystander", PID: s.bystander.pid, Mark: s.bystander.mark, Address: s.bystander.address,
			Holds: s.secret[:len(world.SecretPrefix)]},
		{Name: "sibling", PID: s.sibling.pid, Mark: s.sibling.mark, Address: s.sibling.address,
			Holds: s.secret[:len(world.SecretPrefix)]}}
	w.Processes = append(w.Processes, world.Process{Name: world.Init, PID: 1, Address: header, Holds: "\x7fELF"})
	if stub := parentOf(s.sibling.pid); stub != node && stub != childOf(node) {
		w.Processes = append(w.Processes, world.Process{Name: "stub", PID: stub, Address: header, Holds: "\x7fELF"})
	}
	s.before = map[string]stamp{}
	for _, path := range slices.Concat(w.Private[3:], w.Secrets, []string{w.Data, filepath.Join(s.base, "home"),
		w.ReadOnly}) {
		if st, err := stampOf(path); err == nil {
			s.before[path] = st
		}
	}
	return nil
}

// clear ends and removes all.
func (s *scene) clear() {
	if s.sibling != nil {
		s.sibling.release()
	}
	if s.bystander != nil {
		s.bystander.release()
	}
	if s.node != nil {
		s.node.stop()
	}
	for _, l := range s.listeners {
		l.Close()
	}
	for _, path := range s.planted {
		os.Remove(path)
	}
	if s.terminal != nil {
		s.terminal.close()
	}
	s.removeObjects()
	for _, pid := range processesWith("skep-left-" + s.world.Nonce) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock"} {
		left, _ := filepath.Glob(filepath.Join(dir, "skep-left-"+s.world.Nonce+"*"))
		for _, path := range left {
			os.Remove(path)
		}
	}
	if s.base != "" && strings.Contains(s.base, "skep-attack-") {
		removeAll(s.base)
	}
}
