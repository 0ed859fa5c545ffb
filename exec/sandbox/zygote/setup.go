package zygote

// Setup is the first message to a zygote, as JSON.
type Setup struct {
	// Boxes makes the mount tree and forks a stub for each box. Otherwise commands are forked without any isolation.
	Boxes bool

	// Users gives each box a user namespace of its own, in which UID and GID are mapped to themselves. Otherwise a
	// command takes the IDs that its request names, for which the zygote needs the privilege.
	Users    bool
	UID, GID int

	Root  string // an empty folder on which the tree is made
	Work  string // the folder of attempts: Attempts in the tree, covered in each box
	Tree  []Mount
	Links []Link
	Hide  []string // folders of the tree that are covered by an empty one each
	Mask  []string // sockets of the tree that are covered by an empty file

	Withhold bool // the tree gets a file Withheld, for requests that withhold devices

	Filter []Instruction // of system calls; those with Cookie as the sixth argument it lets the zygote make
	Cookie uint64

	// Landlock confines commands in addition.
	Landlock Landlock
}

// Landlock is a set of rules, with Handled and Scoped as in struct landlock_ruleset_attr; 0 = none.
type Landlock struct {
	Handled, Scoped uint64
	Rules           []Rule
}

// Mount binds a file or folder of the machine into the tree.
type Mount struct {
	Source, Target string
	Writable       bool
	Devices        bool // device nodes in it work
}

// Link is a symbolic link in the tree.
type Link struct{ Target, Path string }

// Rule is what commands may do beneath a path, as in struct landlock_path_beneath_attr.
type Rule struct {
	Path   string
	Rights uint64
}

// Instruction is one of a classic BPF program.
type Instruction struct {
	Op     uint16
	Jt, Jf uint8
	K      uint32
}

// Ready answers a Setup, as JSON.
type Ready struct {
	Err    string // empty = it waits for requests
	Denied bool   // it was not permitted to do what it needs
	Old    bool   // the kernel does not know a system call that it needs
}
