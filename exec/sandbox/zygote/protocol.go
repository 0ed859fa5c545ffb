package zygote

// Name is the zeroth argument by which the binary knows that it is to be a zygote.
const Name = "skep-zygote"

// Places of a box.
const (
	Task = "/task"        // a read-only folder of the tree, in which lie
	Work = Task + "/work" // the working folder of its attempt
	Temp = Task + "/tmp"  // and its temporary one

	// Attempts is where the tree has the folder of all attempts. In a box its shared memory covers it.
	Attempts = "/dev/shm"

	// Withheld is an empty file that nobody may open. It covers devices of other boxes.
	Withheld = "/dev/withheld"
)

// Op is what a request asks for.
type Op uint32

// Operations. A stub is asked by its control socket and answers there; about a command without a box the forker is.
const (
	OpBox       Op = iota + 1 // forker: make a box and run a command in it
	OpBare                    // forker: run a command without a box
	OpSignal                  // send Signal to Target; without a box, to the command's group
	OpRun                     // stub: run another command
	OpListen                  // stub: make a listening TCP socket, and send it
	OpLook                    // stub: send /proc and /dev/shm of the box
	OpTerminal                // stub: make a terminal of the box for Command's user, and send its two ends
	OpSignalRun               // stub: send Signal to the process group of the command of OpRun with that ID
	OpShare                   // stub: send the network and IPC namespaces and /dev/shm of the box
	OpTUN                     // stub: open tun of the folder that came with the request, and a netlink socket; send both
	OpSocket                  // stub: make a socket of Family, SocketType and SocketProtocol, and send it
)

// Flags of a request.
const (
	FlagNetwork  = 1 << iota // the box has a network namespace of its own
	FlagNoUnix               // commands cannot make Unix sockets
	FlagExecFile             // the program is the file descriptor after those of the standard streams
	// The command's standard input becomes its controlling terminal. Of OpBox the stub makes that terminal, in place of
	// the standard streams that came with the request, and sends its other end with ReportStarted.
	FlagTerminal
	FlagHold    // the box has no command, and ends with its control socket
	FlagSecrets // before the control socket, and what FlagJoin has there, came a file with the contents of the secrets
	FlagJoin    // before the control socket came what OpShare sends of another box, which this one has in place of its own
)

// MaxOthers bounds the commands that run in a box at a time besides the one that it was made for.
const MaxOthers = 8

// MaxRequest bounds a request with its texts, in bytes: what a socket takes as one message.
const MaxRequest = 160 << 10

// Request asks for something. Texts follow it in the same message, each ended by a zero byte; a field of type Text is
// the offset of one from the beginning of the request. File descriptors travel with what runs a command: stdin, stdout,
// stderr, the program if FlagExecFile is set, and of OpBox cgroup.procs files and, last, the control socket.
type Request struct {
	Op     Op
	Flags  uint32
	ID     uint64
	Signal int32
	Length uint32 // of the whole request
	Target int32  // of OpSignal to a stub: a process of the box; -1 = all

	// Of a box.
	Work, Temp Text // folders of the attempt, beneath Attempts
	Shm        Text // options of the tmpfs on /dev/shm
	Hosts      Text // a file in Attempts that is its /etc/hosts; empty = that of the tree
	Devices    Text // the first of DeviceCount device files of the tree that the box does not get

	DeviceCount uint32

	SecretFiles

	// Of OpListen.
	Family, Backlog uint32
	Address         [28]byte // a struct sockaddr of Family
	AddressLength   uint32

	// Of OpSocket, with Family.
	SocketType, SocketProtocol uint32

	Command Command
}

// Text is the offset of a text in a request.
type Text uint32

// Limits is how many resource limits a command has.
const Limits = 12

// Command is a program to run.
type Command struct {
	Path       Text // as the command will see it
	Dir        Text
	Argv, Env  Text // the first of Argc and Envc texts
	Argc, Envc uint32
	UID, GID   uint32 // 0 = those of the zygote
	Nice       int32
	OOM        Text      // for oom_score_adj; none if empty
	Window     [4]uint16 // of its terminal, as a struct winsize
	Limits     [Limits]Limit

	// Affinity is the set of processors that the command runs on, a bit each; AffinityLength its bytes, 0 = all.
	Affinity       [MaxCPUs / 64]uint64
	AffinityLength uint32
	_              uint32
}

// MaxCPUs is the number after the last processor that a command can be pinned to.
const MaxCPUs = 1024

// MaxStrings bounds the arguments and variables of a command.
const MaxStrings = 2048

// Limit is a resource limit; those with a What of 0 are not set.
type Limit struct {
	What     uint32 // 1 + RLIMIT_…
	_        uint32
	Cur, Max uint64
}

// ReportKind is what a report tells.
type ReportKind uint32

// Reports.
const (
	ReportStarted ReportKind = iota + 1 // the command's program runs
	ReportFailed                        // Stage could not be done: Errno
	ReportExited                        // the command ended, a bare one if it left others: Status, its own CPU and MaxRSS
	ReportEmpty                         // nothing is left: CPU of all of the box; a bare command tells as by ReportExited
	ReportAnswer                        // to a stub that was asked for something: Errno, or descriptors
	ReportGone                          // forker: the stub has ended, and with it all that was in the box
)

// Report is told by a stub or the forker.
type Report struct {
	Kind   ReportKind
	Stage  Stage
	ID     uint64
	Pid    int32
	Errno  int32
	Status uint32 // as wait4 gives it
	_      uint32
	CPU    int64 // microseconds
	MaxRSS int64 // KiB
}

// Stage is a step on the way to a running command.
type Stage uint32

// Stages.
const (
	StageFork Stage = iota + 1
	StageMap
	StageProc
	StageShm
	StageTerminals
	StageFolder
	StageNetwork
	StageCgroup
	StageOOM
	StageLandlock
	StageFilter
	StageLimit
	StageNice
	StageUser
	StageDir
	StageExec
	StageDevices
	StageAffinity
	StageTerminal
	StageJoin
	StageHosts
	StageSecrets
)

var stageNames = [...]string{"", "fork", "map its user", "mount /proc", "mount /dev/shm", "mount /dev/pts",
	"mount its folder", "set up its network", "join its control group", "set oom_score_adj", "confine with Landlock",
	"filter system calls", "set a limit", "set niceness", "take its user", "go to its folder", "execute",
	"withhold devices", "pin it to its processors", "make its terminal", "join the boxes that it belongs to",
	"show it the names of its network", "give it its secrets"}

// String says what was being done.
func (s Stage) String() string {
	if int(s) < len(stageNames) {
		return stageNames[s]
	}
	return "make its box"
}
