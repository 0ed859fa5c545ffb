package wire

import (
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
	"skep/requirement"
)

func (c *Codec) readOffer(b []byte, o *grid.Offer) error {
	var p pb.Offer
	if err := parse(b, &p); err != nil {
		return err
	}
	if err := getAttempt(p.Attempt, &o.ID); err != nil {
		return err
	}
	var err error
	if o.Spec, err = c.spec(o.ID.Task.Job, p.Spec); err != nil {
		return err
	}
	if o.Lease, err = getSpan("lease", p.Lease); err != nil {
		return err
	}
	o.Changes = p.Changes
	o.Class, o.Stamp, o.Stays, o.Pulled, o.Asks = cleanText(p.Class), p.Stamp, p.Stays, p.Pulled, p.Asks
	if o.Members, err = getMembers(o.Members, p.Members); err != nil {
		return err
	}
	if o.Barred, err = getNodes("barred", grid.MaxBarred, o.Barred, p.Barred); err != nil {
		return err
	}
	if o.Inputs, err = getInputs(p.Inputs, p.Checkpoint); err != nil {
		return err
	}
	if o.Places, err = getPlaces(p.PlaceNodes, p.PlaceRanks, p.PlaceShares); err != nil {
		return err
	}
	o.Option, o.Assigned = getOption(p.Option), string(p.Assigned)
	o.Evidence, o.Links = string(p.Evidence), string(p.Links)
	o.Before = grid.Division{Ranks: p.BeforeRanks, Shares: p.BeforeShares}
	o.Age, err = getSpan("age", p.Age)
	return err
}

func putSpec(s *grid.JobSpec) *pb.JobSpec {
	p := &pb.JobSpec{Name: s.Name, Class: s.Class, Engine: s.Engine, Count: s.Count, Needs: putNeeds(&s.Needs),
		Inputs: putFiles(s.Inputs), Timeout: int64(s.Timeout), Retries: s.Retries, Policy: s.Policy, Wait: s.Wait,
		Idempotent: s.Idempotent,
		Network:    uint32(s.Network), Array: putArray(s.Array), OnFailure: putOnFailure(&s.Rules.OnFailure),
		MaxFailures: uint32(max(s.Rules.MaxFailures, 0)), MaxRunning: uint32(max(s.Rules.MaxRunning, 0)),
		Stdin: uint32(s.Stdin), Terminal: putTerminal(s.Terminal), After: putAfter(&s.After),
		GangRanks: s.Gang.Ranks, GangMin: s.Gang.Min, GangSearch: putSearch(s.Gang.Search),
		GangPorts: putPorts(&s.Gang.Ports),
		Bid:       putBid(s.Rules.Bid),
		Deadline:  int64(s.Rules.Deadline.At), Worthless: int64(s.Rules.Deadline.Worthless),
		Budget: int64(s.Rules.Budget), Rank: putExpression(s.Rules.Rank),
		Reliability: uint32(s.Rules.Reliability), Signed: s.Signed, RecordsOffers: s.RecordsOffers,
		Outer: s.Outer, Secrets: putSecrets(s.Secrets)}
	if s.Folders != nil {
		p.Workdir, p.Home = []byte(s.Folders.Work), []byte(s.Folders.Home)
	}
	for _, w := range s.Command {
		p.Command = append(p.Command, []byte(w))
	}
	for _, o := range s.Outputs {
		p.Outputs = append(p.Outputs, []byte(o))
	}
	for _, v := range s.Env {
		p.Env = append(p.Env, &pb.Var{Name: []byte(v.Name), Value: []byte(v.Value)})
	}
	return p
}

func putNeeds(n *grid.Needs) *pb.Needs {
	p := &pb.Needs{Cpu: int64(n.CPU), Memory: int64(n.Memory), Counts: string(n.Counts), Pin: n.Pin,
		Where: putExpression(n.Where)}
	for _, l := range n.Labels {
		p.Labels = append(p.Labels, &pb.LabelNeed{Key: l.Key, Values: l.Values})
	}
	p.Options = putOptions(n.Options)
	return p
}

// getNeeds reads the needs of a search. Who passes one on is not to blame for a requirement that only newer nodes know:
// nothing here meets it.
func getNeeds(p *pb.Needs) (n grid.Needs) {
	n = grid.Needs{Resources: resourcesOf(p.GetCpu(), p.GetMemory(), p.GetCounts()), Pin: p.GetPin()}
	for _, l := range p.GetLabels() {
		n.Labels = append(n.Labels, grid.LabelNeed{Key: cleanText(l.GetKey()), Values: cleanTexts(l.GetValues())})
	}
	if text := p.GetWhere(); text != "" {
		var err error
		if n.Where, err = requirement.Parse(text, requirement.Where); err != nil {
			n.Where = requirement.Foreign(cleanText(text))
		}
	}
	n.Options = getOptions(p.GetOptions())
	return n
}

func putFiles(files []grid.File) []*pb.File {
	var out []*pb.File
	for i := range files {
		f := &files[i]
		out = append(out, &pb.File{Path: []byte(f.Path), Blob: putBlob(&f.Blob), Size: int64(f.Size), Exec: f.Exec})
	}
	return out
}

func getFiles(ps []*pb.File) ([]grid.File, error) {
	var out []grid.File
	for _, p := range ps {
		f := grid.File{Path: shown(p.GetPath()), Size: grid.Bytes(p.GetSize()), Exec: p.GetExec()}
		if err := getBlob(p.GetBlob(), &f.Blob); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// shown returns decoded bytes as text fit for display. Earlier versions let any bytes through.
func shown(b []byte) string { return grid.Clean(string(b), len(b)) }

// putBlob returns the hash, or nothing for no blob; it aliases id until the message is encoded.
func putBlob(id *grid.BlobID) []byte {
	if id.IsZero() {
		return nil
	}
	return id[:]
}

func getBlob(b []byte, id *grid.BlobID) error {
	if len(b) != 0 && len(b) != blobSize {
		return fmt.Errorf("blob: %w: %d bytes, want %d", ErrBound, len(b), blobSize)
	}
	copy(id[:], b)
	return nil
}

func putOptions(all []grid.Option) (out []*pb.Option) {
	for i := range all {
		o := &all[i]
		p := &pb.Option{Cpu: int64(o.CPU), Memory: int64(o.Memory), Counts: string(o.Counts),
			Speedup: math.Float64bits(o.Speedup), Value: math.Float64bits(o.Value)}
		for _, l := range o.Labels {
			p.Labels = append(p.Labels, &pb.LabelNeed{Key: l.Key, Values: l.Values})
		}
		out = append(out, p)
	}
	return out
}

// getOptions reads the options of a search.
func getOptions(ps []*pb.Option) (out []grid.Option) {
	for _, p := range ps {
		o := grid.Option{Resources: resourcesOf(p.GetCpu(), p.GetMemory(), p.GetCounts()),
			Speedup: math.Float64frombits(p.GetSpeedup()), Value: math.Float64frombits(p.GetValue())}
		for _, l := range p.GetLabels() {
			o.Labels = append(o.Labels, grid.LabelNeed{Key: cleanText(l.GetKey()), Values: cleanTexts(l.GetValues())})
		}
		out = append(out, o)
	}
	return out
}

// option reads an option of a spec.
func (p part) option(o *grid.Option) error {
	return p.each(func(num protowire.Number, x uint64) error {
		switch num {
		case 1:
			o.CPU = grid.MilliCPU(x)
		case 2:
			o.Memory = grid.Bytes(x)
		case 5:
			o.Speedup = math.Float64frombits(x)
		case 6:
			o.Value = math.Float64frombits(x)
		}
		return nil
	}, func(num protowire.Number, of part) error {
		switch num {
		case 3:
			o.Labels = append(o.Labels, grid.LabelNeed{})
			return of.labelNeed(&o.Labels[len(o.Labels)-1])
		case 4:
			o.Counts = grid.Counts(strings.Clone(of.text))
		}
		return nil
	})
}

// getOption is the number of an option; one beyond all bounds is no job's.
func getOption(n uint32) uint8 { return uint8(min(n, math.MaxUint8)) }
