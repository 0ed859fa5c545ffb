package net

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"skep/document"
	"skep/grid"
	"skep/sim"
)

// network parses the section network.
func (f *scenarioFile) network(e document.Entry) {
	for _, k := range f.Mapping(e.Value, "network", "latency", "bandwidth", "files", "ranks", "uplink", "loss",
		"duplicate", "reorder", "jitter", "mesh", "join", "detect", "timeout", "idle", "redial") {
		f.positions["network."+k.Key] = k.Node
		f.readAt("network."+k.Key, func() { f.link(k) })
	}
}

// link parses one key of the section network.
func (f *scenarioFile) link(k document.Entry) {
	w := &f.s.Network.World
	switch k.Key {
	case "latency":
		f.latency(k)
	case "bandwidth":
		f.size(k, &w.Bandwidth)
	case "files":
		f.size(k, &f.s.Files)
	case "ranks":
		f.size(k, &f.s.Network.Port)
	case "uplink":
		f.size(k, &f.s.Network.Uplink)
	case "loss":
		f.real(k, 0, 0.9, &w.Loss)
	case "duplicate":
		f.real(k, 0, 1, &w.Duplicate)
	case "reorder":
		f.real(k, 0, 1, &w.Reorder)
	case "jitter":
		f.span(k, &w.Jitter)
	case "mesh":
		f.flag(k, &w.Mesh)
	case "join":
		f.Number(k, 1, 64, func(x int64) { w.Join = int(x) })
	case "detect":
		f.span(k, &w.Detect)
	case "timeout":
		f.span(k, &w.Timeout)
	case "idle":
		f.span(k, &w.Idle)
	case "redial":
		f.span(k, &w.Redial)
	}
}

// latency parses a distribution, a plane or a matrix; to the latter two, a drawn latency is added.
func (f *scenarioFile) latency(e document.Entry) {
	n := &f.s.Network
	m, ok := e.Value.(ast.MapNode)
	if !ok {
		n.Latency = f.distribution(e)
		return
	}
	apart := false
	for it := m.MapRange(); it.Next(); {
		apart = apart || slices.Contains([]string{"plane", "matrix", "plus"}, it.Key().String())
	}
	if !apart {
		n.Latency = f.distribution(e)
		return
	}
	for _, k := range f.Mapping(e.Value, "latency", "plane", "matrix", "plus") {
		switch k.Key {
		case "plane":
			f.span(k, &n.Plane)
		case "plus":
			n.Latency = f.distribution(k)
		case "matrix":
			f.matrix(k)
		}
	}
	if n.Plane > 0 && n.Matrix != nil {
		f.At(e.Value, "latency: has a plane and a matrix: want one of them")
	}
}

// matrix reads times in milliseconds from a CSV file.
func (f *scenarioFile) matrix(e document.Entry) {
	name, ok := f.Text(e.Value, e.Key)
	if !ok {
		return
	}
	b, err := f.read(name)
	if err != nil {
		f.At(e.Value, "matrix: %v", err)
		return
	}
	r := csv.NewReader(strings.NewReader(string(b)))
	r.FieldsPerRecord, r.TrimLeadingSpace, r.Comment = -1, true, '#'
	m := [][]time.Duration{}
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			f.At(e.Value, "matrix: %s: %v", name, err)
			return
		}
		times := make([]time.Duration, len(row))
		for j, t := range row {
			ms, err := strconv.ParseFloat(strings.TrimSpace(t), 64)
			if err != nil || !(ms >= 0 && ms <= 1e6) {
				line, _ := r.FieldPos(j)
				f.Note(e.Value, "%s:%d: row %d, column %d is %.20q: want milliseconds, 0 to 1000000", name, line, len(m)+1, j+1, t)
			}
			times[j] = time.Duration(ms * float64(time.Millisecond))
		}
		m = append(m, times)
	}
	f.s.Network.Matrix = m
}

// stream parses a part of the workload.
func (f *scenarioFile) stream(_ int, n ast.Node) {
	st := Stream{}
	trace := ""
	var traceAt ast.Node
	for _, e := range f.Mapping(n, "workload", "class", "rate", "tasks", "gang", "from", "user", "burst", "diurnal",
		"once", "trace") {
		switch e.Key {
		case "class":
			f.Value(e, func(t string) error { st.Class = t; return nil })
		case "rate":
			st.Rate = 1 // if it is invalid
			f.real(e, 1e-12, grid.MaxRate, &st.Rate)
		case "tasks":
			f.Number(e, 1, grid.MaxCount, func(x int64) { st.Tasks = uint32(x) })
		case "gang":
			st.Gang = f.gang(e)
		case "from":
			st.From = f.Texts(e.Value, "from")
		case "user":
			st.User, _ = f.Text(e.Value, e.Key)
		case "burst":
			for _, k := range f.Mapping(e.Value, "burst", "on", "off") {
				f.span(k, map[string]*time.Duration{"on": &st.On, "off": &st.Off}[k.Key])
			}
			if st.On <= 0 || st.Off <= 0 {
				f.At(e.Value, "burst: want on and off, mean lengths of time of more than 0")
			}
		case "diurnal":
			for _, k := range f.Mapping(e.Value, "diurnal", "period", "swing") {
				if k.Key == "period" {
					f.span(k, &st.Period)
				} else {
					f.real(k, 0, 1, &st.Swing)
				}
			}
			if st.Period <= 0 {
				f.At(e.Value, "diurnal: want a period of more than 0 and a swing of 0 to 1")
			}
		case "once":
			f.span(e, &st.Once)
		case "trace":
			trace, _ = f.Text(e.Value, e.Key)
			traceAt = e.Value
		}
	}
	if trace != "" {
		st.Rate = 0
		b, err := f.read(trace)
		if err == nil {
			st.Trace, err = ReadSWF(trace, string(b))
		}
		if err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				f.At(traceAt, "trace: %s", line)
			}
			st.Trace = []Job{} // not nil: a trace is given
		}
	}
	if st.Gang != nil {
		if st.Tasks > 0 {
			f.At(n, "tasks: want none with a gang, whose tasks are its ranks")
		}
		st.Tasks = uint32(st.Gang.Ranks)
	}
	f.s.Streams = append(f.s.Streams, st)
}

// fault parses a fault: {at: 2m, crash: fast/0-4}.
func (f *scenarioFile) fault(_ int, n ast.Node) {
	ft := Fault{Factor: 1}
	at, factor := false, false
	for _, e := range f.Mapping(n, "fault", "at", "crash", "leave", "restart", "cut", "cut_out", "cut_in", "heal",
		"slow", "drift", "share", "factor") {
		switch e.Key {
		case "at":
			at = true
			f.span(e, &ft.At)
		case "factor":
			factor = true
			f.real(e, -100_000, 1e6, &ft.Factor)
		default:
			if ft.Kind != 0 {
				f.At(e.Node,
					"a fault is one of crash, leave, restart, cut, cut_out, cut_in, heal, slow, drift, share: this has two")
			}
			ft.Kind = faultKinds[e.Key]
			for _, t := range f.Texts(e.Value, e.Key) {
				p, err := pick(t)
				if err != nil {
					f.At(e.Value, "%s %v", e.Key, err)
				}
				ft.Nodes = append(ft.Nodes, p)
			}
		}
	}
	if !at {
		f.At(n, "fault: has no at: want when it strikes, as in at: 2m")
	}
	degree := ft.Kind == sim.Slow || ft.Kind == sim.Drift || ft.Kind == sim.Share
	switch {
	case degree && !factor:
		f.At(n, "fault: has no factor: want by how much, 1 for slow and share and 0 for drift where it is to end")
	case ft.Kind != 0 && factor && !degree:
		f.At(n, "fault: has a factor: want one for slow, drift and share alone")
	case ft.Kind == 0:
		f.At(n, "fault: want one of crash, leave, restart, cut, cut_out, cut_in, heal, slow, drift, share")
	case ft.Kind == sim.Slow && ft.Factor < 1:
		f.At(n, "slow by a factor of %g: want 1 or more", ft.Factor)
	case ft.Kind == sim.Share && !(ft.Factor > 0 && ft.Factor <= 1):
		f.At(n, "share by a factor of %g: want the part of the cores that others leave, more than 0, up to 1", ft.Factor)
	case ft.Kind == sim.Drift && (ft.Factor > 100_000 || ft.Factor != float64(int64(ft.Factor))):
		f.At(n, "drift by %g millionths: want a whole number from -100000 to 100000", ft.Factor)
	}
	f.s.Faults = append(f.s.Faults, ft)
}
