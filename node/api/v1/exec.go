package v1

// ExecProtocol is the protocol to which a request for a command beside a task changes its connection, by the header
// Upgrade. What is said then is in package exec/session.
const ExecProtocol = "skep-exec"
