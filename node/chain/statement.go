package chain

import (
	"crypto/sha256"
	"encoding/binary"

	"skep/grid"
)

// What a statement is about is its first byte. The numbers are in signatures: never reuse one.
const (
	ofGenesis byte = iota + 1
	ofMembers
	ofVote
	ofAssignment
	ofWorker
	ofOwner
	ofResult // no statement: the hash of a result
)

// Hash is a SHA-256 sum of a statement.
type Hash [sha256.Size]byte

// statement is the bytes of a statement. Each field has a fixed size or follows its length, so that no two statements
// have the same bytes.
type statement []byte

func (s statement) number(n uint64) statement { return binary.BigEndian.AppendUint64(s, n) }

func (s statement) text(b []byte) statement { return append(s.number(uint64(len(b))), b...) }

func (s statement) node(n grid.NodeID) statement { return append(s, n[:]...) }

func (s statement) nodes(ns []grid.NodeID) statement {
	s = s.number(uint64(len(ns)))
	for _, n := range ns {
		s = s.node(n)
	}
	return s
}

func (s statement) sum() Hash { return sha256.Sum256(s) }

// genesis is what a job's origin signs: the job, its specification as the origin has sealed it, the first members.
func genesis(id grid.JobID, sealed string, members []grid.NodeID) statement {
	spec := sha256.Sum256([]byte(sealed))
	s := append(statement{ofGenesis}, id.Origin[:]...)
	return append(append(s, id.Nonce[:]...), spec[:]...).nodes(members)
}

// vote is what a member signs that votes for the owner of an epoch. of is the hash of the link that names the members.
func vote(job, of Hash, epoch uint32, owner grid.NodeID) statement {
	s := append(append(statement{ofVote}, job[:]...), of[:]...)
	return s.number(uint64(epoch)).node(owner)
}

// membersChange is what the members sign before and after a change: the members that follow on those that a link names.
func membersChange(job, of Hash, epoch uint32, members []grid.NodeID) statement {
	s := append(append(statement{ofMembers}, job[:]...), of[:]...)
	return s.number(uint64(epoch)).nodes(members)
}

// assignment is what an owner signs that gives an attempt to a worker. It has the job's ID beside the hash: a worker
// has the hash from who made the offer, and must not sign an end of one job as that of another.
func assignment(job Hash, id grid.AttemptID, owner, worker grid.NodeID) statement {
	s := append(statement{ofAssignment}, job[:]...).node(id.Task.Job.Origin)
	s = append(s, id.Task.Job.Nonce[:]...).node(owner)
	return s.number(uint64(id.Task.Index)).number(uint64(id.Epoch)).number(uint64(id.N)).node(worker)
}

// workerEnd is what a worker signs of an attempt that was assigned to it.
func workerEnd(assigned Hash, r *grid.Result) statement {
	result := resultHash(r)
	return append(append(statement{ofWorker}, assigned[:]...), result[:]...)
}

// ownerEnd is what an owner signs of a task that it ends without a worker's word.
func ownerEnd(job Hash, epoch, task uint32, r *grid.Result) statement {
	result := resultHash(r)
	s := append(statement{ofOwner}, job[:]...).number(uint64(epoch)).number(uint64(task))
	return append(s, result[:]...)
}

// resultHash is the hash of a result: how it ended, what it took, and all content that it left. What explains an end in
// words (Error, LastLine, Next) is not in it: the owner may add to that.
func resultHash(r *grid.Result) Hash {
	s := statement{ofResult, byte(r.Cause), r.Option}.number(uint64(uint32(r.Exit)))
	s = s.number(uint64(r.Waited)).number(uint64(r.Wall)).number(uint64(r.CPU)).number(uint64(r.MaxRSS))
	for _, o := range [...]*grid.Output{&r.Stdout, &r.Stderr} {
		s = append(s.text(o.Inline), o.Blob[:]...).number(uint64(o.Size)).number(uint64(o.Dropped))
	}
	s = s.number(uint64(len(r.Outputs)))
	for k := range r.Outputs {
		f := &r.Outputs[k]
		exec := uint64(0)
		if f.Exec {
			exec = 1
		}
		s = append(s.text([]byte(f.Path)), f.Blob[:]...).number(uint64(f.Size)).number(exec)
	}
	return s.sum()
}
