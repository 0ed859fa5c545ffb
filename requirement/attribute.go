package requirement

import (
	"slices"
	"strings"
)

// Attribute is something that expressions ask for.
type Attribute uint8

// The attributes. Memory is in GiB, times are in seconds.
const (
	NodeName Attribute = iota
	NodeID
	NodeCPU
	NodeMemory
	NodeSpeed
	NodeAvailability
	NodeEngines
	NodeLabel    // the key is part of the expression
	NodeResource // so is the kind
	NodeFreeCPU
	NodeFreeMemory
	NodeBacklog
	NodePrice
	JobSubmitter
	JobNode
	JobName
	JobClass
	JobCPU
	JobMemory
	JobCount
	JobPriority
	JobRanks
	JobRetries
	JobTimeout
	JobResource
	TimeHour
	TimeWeekday
	attributes
)

// scope is what an attribute is of: which expressions may ask for it.
type scope uint8

const (
	ofNode   scope = 1 << iota // what stays as it is while a node runs
	ofMoment                   // what changes at a node from moment to moment
	ofJob
	ofTime
)

type attribute struct {
	name  string
	kind  Kind
	scope scope
	keyed bool // the name is followed by a key
}

var table = [attributes]attribute{
	NodeName:         {"node.name", Textual, ofNode, false},
	NodeID:           {"node.id", Textual, ofNode, false},
	NodeCPU:          {"node.cpu", Numeric, ofNode, false},
	NodeMemory:       {"node.memory", Numeric, ofNode, false},
	NodeSpeed:        {"node.speed", Numeric, ofNode, false},
	NodeAvailability: {"node.availability", Numeric, ofMoment, false},
	NodeEngines:      {"node.engines", Listed, ofNode, false},
	NodeLabel:        {"node.labels", Textual, ofNode, true},
	NodeResource:     {"node.resources", Numeric, ofNode, true},
	NodeFreeCPU:      {"node.free_cpu", Numeric, ofMoment, false},
	NodeFreeMemory:   {"node.free_memory", Numeric, ofMoment, false},
	NodeBacklog:      {"node.backlog", Numeric, ofMoment, false},
	NodePrice:        {"node.price", Numeric, ofMoment, false},
	JobSubmitter:     {"job.submitter", Textual, ofJob, false},
	JobNode:          {"job.node", Textual, ofJob, false},
	JobName:          {"job.name", Textual, ofJob, false},
	JobClass:         {"job.class", Textual, ofJob, false},
	JobCPU:           {"job.cpu", Numeric, ofJob, false},
	JobMemory:        {"job.memory", Numeric, ofJob, false},
	JobCount:         {"job.count", Numeric, ofJob, false},
	JobPriority:      {"job.priority", Numeric, ofJob, false},
	JobRanks:         {"job.ranks", Numeric, ofJob, false},
	JobRetries:       {"job.retries", Numeric, ofJob, false},
	JobTimeout:       {"job.timeout", Numeric, ofJob, false},
	JobResource:      {"job.resources", Numeric, ofJob, true},
	TimeHour:         {"time.hour", Numeric, ofTime, false},
	TimeWeekday:      {"time.weekday", Textual, ofTime, false},
}

// weekdays are the values of time.weekday.
var weekdays = [7]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// Facts are the values of the attributes of a node, or of a job. A key is that of NodeLabel, NodeResource or
// JobResource. What is not known is the zero value.
type Facts interface {
	Attribute(a Attribute, key string) Value
}

// Match is a node and a job that may be brought together, and when. What is nil is not known.
type Match struct {
	Node, Job Facts
	Hour      Hour
}

// Hour is the hour of the day and the day of the week at a node. The zero value is not known.
type Hour struct {
	Known bool
	OfDay uint8 // 0 to 23
	Day   uint8 // from Sunday, 0 to 6
}

// attribute returns the value that an expression asks for.
func (m *Match) attribute(n *node) Value {
	facts := m.Node
	switch table[n.attr].scope {
	case ofJob:
		facts = m.Job
	case ofTime:
		switch {
		case !m.Hour.Known:
			return Value{}
		case n.attr == TimeHour:
			return NumberOf(float64(m.Hour.OfDay))
		}
		return TextOf(weekdays[m.Hour.Day%7])
	}
	if facts == nil {
		return Value{}
	}
	return facts.Attribute(n.attr, n.text)
}

// find returns the attribute of a name; false = there is none.
func find(name string) (Attribute, bool) {
	i := slices.IndexFunc(table[:], func(a attribute) bool { return a.name == name })
	return Attribute(max(i, 0)), i >= 0
}

// names returns the attributes that an expression may ask for, for a message.
func names(of scope) string {
	var all []string
	for _, a := range table {
		if a.scope&of == 0 {
			continue
		}
		name := a.name
		if a.keyed {
			name += ".KEY"
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}
