package world

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Variable is the environment variable in which an intruder is told its World, as JSON.
const Variable = "ATTACK_WORLD"

// SecretPrefix begins what is planted in files, sockets, memories and terminals; SecretLength random hexadecimal digits
// follow. The intruder is not told them: whoever prints them has read them.
const (
	SecretPrefix = "skep-canary-"
	SecretLength = 32
)

// Process is one outside of the intruder's box.
type Process struct {
	Name    string // what it is, as in "node"
	PID     int    // in the PID namespace of the machine; 0 = there is none
	Mark    string // part of its command line that no other process has
	Address uint64 // readable memory of it
	Holds   string // what is at Address to begin with; SecretPrefix for the secret
}

// Init is the name of process 1 of the intruder's own box.
const Init = "init"

// World is what an intruder is told.
type World struct {
	Nonce     string // part of the names of all that belongs to this run
	Level     string // that the node claims
	PIDs      string // the PID namespace of the machine
	UID       int    // of the node
	Processes []Process

	Data    string   // the node's data folder
	Private []string // files of the node that tasks must not read, and folders they must not list
	Secrets []string // planted files with the secret, which tasks must not read or change
	Places  []string // folders in which tasks must not make anything

	Socket, Abstract string   // Unix sockets that answer with the secret
	Sockets          []string // others, which must not be connected to
	Service          string   // TCP address on loopback that answers with the secret
	Terminal         string   // path of a pseudo terminal
	Keys             [3]int   // of System V shared memory, semaphores and messages that were planted
	Handle           []byte   // of a planted file, for open_by_handle_at(2)
	HandleType       int32

	// exposed folders; the first has a set-user-ID program "setuid" and a Unix socket "socket" that answers with the
	// secret
	ReadOnly, Writable string
	Bounds             Bounds
}

// Bounds are those of the intruder's own attempt.
type Bounds struct {
	Memory, Disk, Output int64 // bytes
	Processes, Files     int64
}

// Read returns the World that this process was told.
func Read() (*World, error) {
	w := new(World)
	if err := json.Unmarshal([]byte(os.Getenv(Variable)), w); err != nil {
		return nil, fmt.Errorf("%s: %w", Variable, err)
	}
	return w, nil
}

// Attack is an entry of the intruder's table.
type Attack struct {
	Name string // group and words, as in "process/node/ptrace"; unique
	What string // what it tries, as the end of "a task could …"

	// Alone says that it gets an attempt of its own: it tries to exceed a bound, or to break its own box.
	Alone bool

	// NoNetwork says that its job asks for no network, Boxed that it is too rude to be tried where there are no boxes.
	NoNetwork, Boxed bool

	// Strict says that only the level strict promises what it attacks.
	Strict bool
}

// Group is what is attacked.
func (a *Attack) Group() string { group, _, _ := strings.Cut(a.Name, "/"); return group }

// State is how an attack went.
type State string

// States of attacks.
const (
	Succeeded State = "succeeded"
	Refused   State = "refused"
	Untried   State = "untried"
)

// Outcome is what an intruder tells about an attack.
type Outcome struct {
	Attack string
	State  State
	Proof  string  // what was read or reached, or why it was refused or not tried
	Beyond bool    // what was attacked is not promised at the node's level
	Checks []Check // left behind: the attack has succeeded if the harness finds one when the attempt is over
}

// Kind is that of a Check.
type Kind string

// Kinds of what an attack may leave behind.
const (
	File    Kind = "file"   // a path of the machine that is there
	Setuid  Kind = "setuid" // likewise, and set-user-ID or set-group-ID
	Running Kind = "process"
	Shared  Kind = "shm" // a System V key, in decimal digits
	Sets    Kind = "sem"
	Queue   Kind = "msg"
	POSIX   Kind = "mqueue" // a name without a slash
	Socket  Kind = "socket" // an abstract name that can be connected to
)

// Check is something that an attack tried to leave.
type Check struct {
	Kind Kind
	What string
}

// OutcomePrefix begins a line that holds an Outcome as JSON.
const OutcomePrefix = "ATTACK "

// Line is the outcome as a line.
func (o *Outcome) Line() string {
	b, _ := json.Marshal(o) // of texts alone
	return OutcomePrefix + string(b)
}

// FindSecret returns a planted secret in a text; empty if there is none.
func FindSecret(text []byte) string {
	_, rest, found := strings.Cut(string(text), SecretPrefix)
	if !found || len(rest) < SecretLength || strings.Trim(rest[:SecretLength], "0123456789abcdef") != "" {
		return ""
	}
	return SecretPrefix + rest[:SecretLength]
}
