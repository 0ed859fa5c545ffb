package v1

import "time"

// States of a node, as the node asked sees it.
const (
	NodeSelf      = "self"
	NodeConnected = "connected"
	NodeKnown     = "known" // known, not connected
	NodeDraining  = "draining"
	NodeLeaving   = "leaving"
)

// Node is a node as the node asked sees it.
type Node struct {
	ID        string              `json:"id"`
	Name      string              `json:"name,omitempty"`
	State     string              `json:"state" enum:"self,connected,known,draining,leaving"`
	Refuses   string              `json:"refuses,omitempty" doc:"Why it takes no new work now; a full disk only where the node is the one asked."`
	Cores     float64             `json:"cpus_total"`
	FreeCores float64             `json:"cpus_free"`
	Memory    int64               `json:"memory_bytes_total"`
	FreeMem   int64               `json:"memory_bytes_free"`
	Resources map[string]Resource `json:"resources,omitempty" doc:"Its counted resources, by kind."`
	Backlog   float64             `json:"backlog_seconds" doc:"Expected time until a task that came now would start."`
	Speed     float64             `json:"speed" doc:"Of one core, relative to the reference machine."`
	Up        float64             `json:"availability" doc:"Share of the time in which it is up and its cores are not used by others, 0 to 1."`
	RTT       float64             `json:"rtt_seconds" doc:"0 where not measured."`
	Age       float64             `json:"age_seconds" doc:"Since its last news."`
	Hops      uint8               `json:"hops" doc:"That its last news came."`
	Neighbour bool                `json:"neighbour"`
	Labels    map[string]string   `json:"labels,omitempty"`
	Engines   []string            `json:"engines,omitempty"`
	Rates     []Rate              `json:"rates,omitempty" doc:"Of its busiest classes, where one node was asked for."`

	Located
	Isolated
	Terms
}

// Located is where a node is.
type Located struct {
	Addrs []string `json:"addresses,omitempty"`

	Certificate *Certificate `json:"certificate,omitempty" doc:"That it has shown, in a network with certificates; where one node was asked for."`

	Version *VersionGap `json:"other_version,omitempty" doc:"It speaks another version of the control protocol. Where nothing else is known of it, ID and state are all that is said."`

	Copy *Copy `json:"copied_identity,omitempty" doc:"A second process with its identity that was found in the last minutes: its data folder was copied."`
}

// Certificate is a member's, of a network with certificates.
type Certificate struct {
	Name   string    `json:"name"`
	Roles  []string  `json:"roles" doc:"run, submit, relay, admin."`
	Issuer string    `json:"issuer" doc:"The node that gave it."`
	Until  time.Time `json:"until"`
	State  string    `json:"state" doc:"valid, or why it does not hold any more."`
}

// Copy is a process with the identity of a node.
type Copy struct {
	Host    string  `json:"host,omitempty" doc:"Of the node asked: only it can read where the copy runs."`
	Process uint32  `json:"process,omitempty" doc:"Of the node asked."`
	Addr    string  `json:"address,omitempty" doc:"At which a peer sees it; none where a relay is between."`
	Seen    float64 `json:"seen_seconds" doc:"Since it last proved that it runs."`
}

// Terms are the price of a node and how its tasks share its cores.
type Terms struct {
	Price      float64 `json:"price,omitempty" doc:"Reserve price that it asks, in the unit of priorities: under policies with reserve prices tasks that bid less do not go there now."`
	Accept     string  `json:"accept,omitempty" doc:"Expression that must hold of jobs whose tasks it takes."`
	LeastSpeed float64 `json:"least_speed,omitempty" doc:"Its tasks share the cores by their bids, and each keeps this part of its full speed; 0 where a task has its cores to itself."`
	Bids       float64 `json:"bids,omitempty" doc:"Sum of the bids of the tasks that run there, each times its cores."`
}

// Isolated is how a node keeps tasks from itself.
type Isolated struct {
	Isolation string   `json:"isolation" enum:"none,basic,strict" doc:"Level at which it keeps tasks from itself."`
	Private   bool     `json:"private,omitempty" doc:"It takes only what is submitted to it, since it cannot isolate the tasks of others, or has no role for them."`
	Findings  []string `json:"findings,omitempty" doc:"What is missing for a higher level, where the node asked is the one asked for."`
}

// Rate is what a node states about a class.
type Rate struct {
	Class   string  `json:"class"`
	Arrive  float64 `json:"arrivals_per_second"`
	Execute float64 `json:"executions_per_second" doc:"Of one slot; 0 where not measured there."`
}

// NodeList is the nodes that a node knows, itself first.
type NodeList struct {
	Nodes []Node `json:"nodes"`
}

// Token is the token with which another machine joins.
type Token struct {
	Token string   `json:"token"`
	Addrs []string `json:"addresses"`
}

// Version is the version of a node.
type Version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Node     string `json:"node,omitempty" doc:"The node that was asked."`
	Network  string `json:"network,omitempty" doc:"Name of its network: the same at all its members, and of no other network."`
}

// Setting is one effective setting and where it comes from.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source" doc:"default, file, environment or flag"`
}

// Config is the effective settings of a node.
type Config struct {
	Settings []Setting `json:"settings"`
}

// Stats are counts since the node's start and gauges of now.
type Stats struct {
	Sent     map[string]uint64 `json:"messages_sent" doc:"By kind."`
	Received map[string]uint64 `json:"messages_received" doc:"By kind."`
	Dropped  map[string]uint64 `json:"dropped" doc:"By reason."`
	Moved    uint64            `json:"tasks_moved" doc:"Placed on another node."`
	Local    uint64            `json:"tasks_local" doc:"Placed here."`
	Lost     uint64            `json:"attempts_lost"`
	Copies   uint64            `json:"second_copies"`
	Retried  uint64            `json:"failures_retried" doc:"Recorded failures after which the task is run again."`
	Queued   int               `json:"queued"`
	Running  int               `json:"running"`
	Backlog  float64           `json:"backlog_seconds"`
	Jobs     int               `json:"jobs"`
	Pending  int               `json:"tasks_pending"`
	Peers    int               `json:"peers"`
	Lambda   float64           `json:"lambda" doc:"Of the last allocation solved; 1/lambda is the load; 0 = none."`
	Solves   uint64            `json:"solves"`
	Ends
}

// Ends is how tasks of own jobs have ended, and what they bid.
type Ends struct {
	Good        uint64  `json:"tasks_good" doc:"Ended with exit 0."`
	Missed      uint64  `json:"tasks_missed" doc:"Not ended by their deadline."`
	Bids        float64 `json:"bids_ended" doc:"Of all tasks that have ended."`
	InTime      float64 `json:"bids_in_time" doc:"Of those with exit 0 by their deadline, or without one."`
	Weighted    float64 `json:"weighted_completion_seconds" doc:"Bid × time since the submission, of those with exit 0."`
	Value       float64 `json:"value_seconds" doc:"Bid × worth when it came, 0 to 1, × run time, of those with exit 0."`
	Suspensions uint64  `json:"suspensions" doc:"Times that an attempt here was suspended."`
}

// Blob is content that a node stores.
type Blob struct {
	Blob string `json:"blob" doc:"SHA-256 of the content, in hexadecimal."`
	Size int64  `json:"size_bytes"`
}

// Health is the answer of a node that is alive.
type Health struct {
	Status string `json:"status"`
}
