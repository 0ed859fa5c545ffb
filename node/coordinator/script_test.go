package coordinator_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/internal/golden"
	"skep/internal/indices"
	"skep/node"
)

// The scripts of testdata describe the protocol: a few nodes, what happens to them, and beneath it what they
// send, save, start, stop and answer. Commands:
//
//	start NODE...            start nodes (members=1 cpus=1 pull=0 gangs=1 contracts=1 counts=1 budgets=1 migrate=R),
//	                         connect them with all others, and let a second pass; gangs=0, contracts=0, counts=0,
//	                         replace=SECONDS: who keeps a job is replaced when it is dead for as long; keys=1: it signs;
//	                         budgets=0: of a version that knows none, as far as the others can tell; migrate=R: a bid
//	                         R times as high suspends, and what is suspended may move; durable=1: what runs
//	                         outlives the process
//	submit NODE JOB          submit a job (on=NODE,... count=1 retries=3 policy=NAME idempotent
//	                         retry-failed=0 backoff=0s rerun max-failures=0 max-running=0 ranks=0 network=host
//	                         deadline=TIME worthless=TIME budget=0 timeout=TIME bid=1 inputs=MEGABYTES,
//	                         life=N: by that model of N rows, moves=3 counted; offers: which tasks may have been
//	                         offered is recorded)

//	                         life=N: by that model of N rows, moves=3 counted, signed)
//	cancel NODE JOB [TASKS]  cancel it, or these tasks of it
//	retry NODE JOB TASKS     have these tasks of it run again
//	end NODE TASK exit N     the program of a running attempt ends; N FILE: and leaves a file, whose fetch takes for ever
//	close NODE TASK STEP...  the program of a running attempt has closed these checkpoints
//	progress NODE TASK DONE TOTAL  it says how far it is
//	left NODE PART           other users of its machine leave so much of its cores
//	reserve NODE NODE JOB N  the first asks the second to keep slots for N ranks of JOB, and makes no use of them
//	disk NODE low|free       its disk is nearly full, or is not any more
//	drain NODE TIME          the node shall take no new work, and stop what runs after a time
//	leave NODE               it tells the others that it stops
//	kill NODE [silently]     the process dies and its connections close; silently: the others do not notice
//	restart NODE             it starts again from its records
//	deliver                  deliver what is in flight, but not what follows from it
//	run                      deliver until nothing is in flight
//	advance TIME             let time pass: timers fire, messages arrive
//	drop | hold A -> B KIND  from now on such messages are lost, or held back; KIND may be all, A and B may be *
//	release A -> B KIND      end that, and deliver what was held back
//	repeat A -> B KIND       the last such message that was sent, and not lost, arrives once more
//	hide | show KIND...      leave messages of these kinds out of the output, or not; digests are hidden at first
//
// The first column is the time in seconds since the first start, where it has changed. A message takes a millisecond.
func TestProtocolScripts(t *testing.T) {
	golden.Run(t, "testdata/*.txt", func() func(string) (string, error) {
		w := newNetwork()
		return w.command
	})
}

const (
	clockStart = grid.Time(time.Second)
	oneWay     = time.Millisecond
	maxEvents  = 20_000 // of one command
)

// network is the world of a script. Everything in it is ordered: by time, and what is due at once by the order in which
// it came.
type network struct {
	now    grid.Time
	shown  grid.Time // time of the last line of output
	out    strings.Builder
	nodes  []*member
	queue  []*due
	events int // since the command began
	rules  []rule
	sent   map[sending]*due // the last message of each kind from a node to another, delivered or not
	hidden map[string]bool
	asked  []string // by caller, from 1: what a local caller asked for
	jobs   []grid.JobID
	rounds uint32 // of questions for slots that a script asks
	stop   stopping
}

// stopping is how processes end that are told to.
type stopping struct {
	takes time.Duration // 0 = as long as a message
	late  bool          // their starts were released too late: they never ran
}

// end is what says that a process has ended, and when.
func (s stopping) end(now grid.Time, id grid.AttemptID) (grid.Time, grid.Event) {
	ev := grid.Event{Kind: grid.EvEnded, Attempt: id}
	if s.late {
		ev.Kind = grid.EvLate
	}
	return now.Add(max(s.takes, oneWay)), ev
}

// member is a node of the network with what its driver keeps.
type member struct {
	name    string
	old     bool // its version knows no gangs
	lacks   grid.FeatureSet
	cfg     node.Config
	n       *node.Node // nil = dead
	disk    map[string]grid.Record
	unsaved []grid.Record // those with Record.Later: lost if it dies now
	running []grid.Start
	since   map[grid.AttemptID]grid.Time
	fx      grid.Effects
}

// due is an event on its way to a node.
type due struct {
	at       grid.Time
	from, to *member // from is nil if it is no message
	boot     uint64  // of to
	ev       grid.Event
}

// sending is what a message has in common with those of its kind from a node to another.
type sending struct{ from, to, kind string }

// rule says that messages are lost or held back.
type rule struct {
	from, to, kind string // "*" and "all": any
	holds          bool
	held           []*due
}

func (r *rule) matches(d *due) bool {
	return (r.from == "*" || r.from == d.from.name) && (r.to == "*" || r.to == d.to.name) &&
		(r.kind == "all" || r.kind == kindName(d.ev.Msg.Kind))
}

// newNetwork returns a world without nodes.
func newNetwork() *network {
	return &network{now: clockStart, shown: -1, hidden: map[string]bool{"digest": true}}
}

// must returns a function that does lines of a script, each of which is to be right.
func (w *network) must(t *testing.T) func(lines ...string) {
	return func(lines ...string) {
		t.Helper()
		for _, line := range lines {
			w.events = 0
			if err := w.do(strings.Fields(line)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (w *network) command(line string) (string, error) {
	w.out.Reset()
	w.events = 0
	err := w.do(strings.Fields(line))
	if w.events > maxEvents {
		err = fmt.Errorf("it does not come to an end")
	}
	return w.out.String(), err
}

func (w *network) do(f []string) error {
	switch verb, args := f[0], f[1:]; verb {
	case "hide", "show":
		for _, kind := range args {
			w.hidden[kind] = verb == "hide"
		}
		return nil
	case "run":
		w.run()
		return nil
	case "deliver":
		w.deliver()
		return nil
	case "advance":
		d, err := time.ParseDuration(strings.Join(args, ""))
		w.advance(d)
		return err
	case "start":
		return w.start(args)
	case "repeat":
		if len(args) != 4 || args[1] != "->" {
			return fmt.Errorf("want repeat A -> B KIND")
		}
		return w.repeat(sending{args[0], args[2], args[3]})
	case "drop", "hold", "release":
		if len(args) != 4 || args[1] != "->" {
			return fmt.Errorf("want %s A -> B KIND", verb)
		}
		return w.rule(verb, rule{from: args[0], to: args[2], kind: args[3], holds: verb == "hold"})
	default:
		if len(args) == 0 || w.member(args[0]) == nil {
			return fmt.Errorf("%s: want a node", verb)
		}
		return w.doAt(w.member(args[0]), verb, args[1:], strings.Join(f, " "))
	}
}

// doAt carries out the commands that are about one node.
func (w *network) doAt(m *member, verb string, args []string, line string) error {
	switch {
	case verb == "kill":
		w.kill(m, len(args) == 1 && args[0] == "silently")
		return nil
	case verb == "restart" && m.n == nil:
		m.cfg.Boot++
		return w.boot(m)
	case m.n == nil:
		return fmt.Errorf("%s is dead", m.name)
	case verb == "reserve" && len(args) == 3 && w.member(args[0]) != nil:
		ranks, err := strconv.Atoi(args[2])
		w.rounds++
		w.send(m, w.member(args[0]), &grid.Message{Kind: grid.KindReserve, Reserve: &grid.Reserve{Job: w.named(m, args[1]),
			Attempt: grid.Attempt{Epoch: 1, N: 1}, Round: w.rounds, Ranks: uint32(ranks), Later: true, TTL: time.Hour,
			Age: 1000 * time.Hour, Needs: grid.Resources{CPU: grid.CPU}}})
		return err
	case verb == "disk" && len(args) == 1 && (args[0] == "low" || args[0] == "free"):
		w.step(m, &grid.Event{Kind: grid.EvDisk, Low: args[0] == "low"})
		return nil
	case verb == "drain" && len(args) == 1:
		d, err := time.ParseDuration(args[0])
		w.step(m, &grid.Event{Kind: grid.EvDrain, Caller: w.caller(verb), Within: d})
		return err
	case verb == "leave":
		w.step(m, &grid.Event{Kind: grid.EvLeave})
		return nil
	case verb == "end" && (len(args) == 3 || len(args) == 4) && args[1] == "exit":
		code, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		for _, s := range m.running {
			if name := w.attempt(s.Attempt); name == args[0] || strings.HasPrefix(name, args[0]+"#") {
				r := &grid.Result{Cause: grid.Exited, Exit: int32(code), Wall: w.now.Sub(m.since[s.Attempt])}
				for _, name := range args[3:] {
					r.Outputs = append(r.Outputs, grid.File{Path: name, Size: 100, Blob: sha256.Sum256([]byte(name))})
				}
				w.ended(m, s.Attempt, r)
				return nil
			}
		}
		return fmt.Errorf("%s does not run %s", m.name, args[0])
	case verb == "close" && len(args) > 1:
		return w.closeCheckpoints(m, args)
	case verb == "progress" && len(args) == 3:
		return w.saysProgress(m, args)
	case verb == "left" && len(args) == 1:
		part, err := strconv.ParseFloat(args[0], 64)
		ev := &grid.Event{Kind: grid.EvAvailable}
		ev.Left, ev.Up = part, 1
		w.step(m, ev)
		return err
	case (verb == "cancel" || verb == "retry") && len(args) > 0:
		var tasks indices.Set
		if len(args) > 1 {
			var err error
			if tasks, err = indices.Parse(args[1], grid.MaxCount); err != nil {
				return err
			}
		}
		kind := map[string]grid.EventKind{"cancel": grid.EvCancel, "retry": grid.EvRetry}[verb]
		for _, id := range w.jobs {
			if w.job(id) == args[0] {
				w.step(m, &grid.Event{Kind: kind, Caller: w.caller(line), Job: id, Tasks: tasks})
				return nil
			}
		}
	case verb == "submit" && len(args) > 0:
		id := w.named(m, args[0])
		spec, err := jobSpec(args[1:])
		w.jobs = append(w.jobs, id)
		w.step(m, &grid.Event{Kind: grid.EvSubmit, Caller: w.caller("submit " + args[0]), Job: id, Spec: spec})
		return err
	}
	return fmt.Errorf("%s: no such command, job or argument", verb)
}

// named is the identity of the job of that name of an origin.
func (w *network) named(origin *member, name string) (id grid.JobID) {
	id.Origin = origin.cfg.Self
	copy(id.Nonce[:], name)
	return id
}

func jobSpec(args []string) (*grid.JobSpec, error) {
	s := &grid.JobSpec{Engine: grid.EngineProcess, Command: []string{"true"}, Count: 1, Retries: 3,
		Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}}
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		number, err := strconv.Atoi(value)
		switch key {
		case "on":
			s.Needs.Labels, err = []grid.LabelNeed{{Key: "node", Values: strings.Split(value, ",")}}, nil
		case "options":
			err = setOptions(s, value)
		case "count":
			s.Count = uint32(number)
		case "ranks":
			s.Count, s.Gang.Ranks = uint32(number), uint32(number)
		case "min":
			s.Gang.Min = uint32(number)
			s.Needs.AddFeature(grid.GangSizeLabel)
		case "life":
			s.Gang.Search = &grid.ScheduleSearch{Model: "life",
				Parameters: []grid.Parameter{{Name: "n", Value: float64(number)}}}
		case "moves":
			terms := grid.DefaultContract
			terms.Moves = uint32(number)
			s.Gang.Search.Contract = &terms
		case "counted":
			s.Gang.Search.CountsMoves, err = true, nil
		case "network":
			s.Network, err = grid.ParseNetwork(value)
			s.Needs.AddFeature(grid.GangNetworkLabel)
			s.Needs.Labels = slices.Insert(s.Needs.Labels, 0,
				grid.LabelNeed{Key: grid.IsolationLabel, Values: []string{"strict"}})
		case "retries":
			s.Retries = int32(number)
		case "bid":
			s.Rules.Bid = grid.Bid(number) * grid.UsualBid
		case "policy":
			s.Policy, err = value, nil
		case "retry-failed":
			s.Rules.OnFailure.Retry = int32(number)
		case "backoff":
			s.Rules.OnFailure.Backoff, err = time.ParseDuration(value)
		case "max-failures":
			s.Rules.MaxFailures = int32(number)
		case "max-running":
			s.Rules.MaxRunning = int32(number)
		case "inputs":
			s.Inputs = []grid.File{{Path: "data", Size: grid.Bytes(number) * 1e6, Blob: sha256.Sum256([]byte(value))}}
		case "deadline":
			s.Rules.Deadline.At, err = time.ParseDuration(value)
		case "worthless":
			s.Rules.Deadline.Worthless, err = time.ParseDuration(value)
		case "budget":
			s.Rules.Budget = grid.Budget(number)
		case "timeout":
			s.Timeout, err = time.ParseDuration(value)
		case "rerun":
			s.Rules.OnFailure.Rerun, err = true, nil
		case "signed":
			s.Sealed, s.Signed, err = "sealed", true, nil
			s.Needs.AddFeature(grid.SignedLabel)
		case "idempotent":
			s.Idempotent, err = true, nil
		case "offers":
			s.RecordsOffers, err = true, nil
		default:
			err = fmt.Errorf("%s: unknown", key)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, s.Check()
}

func (w *network) member(name string) *member {
	if k := slices.IndexFunc(w.nodes, func(m *member) bool { return m.name == name }); k >= 0 {
		return w.nodes[k]
	}
	return nil
}

// caller numbers a request of a local caller.
func (w *network) caller(what string) uint64 {
	w.asked = append(w.asked, what)
	return uint64(len(w.asked))
}

func (w *network) start(args []string) error {
	var fresh []*member
	for _, a := range args {
		if key, value, found := strings.Cut(a, "="); found {
			number, err := strconv.Atoi(value)
			for _, m := range fresh {
				switch key {
				case "pull":
					m.cfg.Pull = number == 1
				case "migrate":
					m.cfg.Order.Preempt, m.cfg.Order.Moves = float64(number), true
				case "gangs":
					m.old = number == 0
				case "budgets":
					if number == 0 {
						m.lacks = 1 << grid.FeatureBudgets
					}
				case "counts":
					if number == 0 {
						m.lacks = 1 << grid.FeatureMoves
					}
				case "contracts":
					if number == 0 {
						m.lacks = 1 << grid.FeatureContracts
					}
				case "durable":
					m.cfg.Durable = number == 1
					m.cfg.Labels = append(m.cfg.Labels, grid.Label{Key: grid.DurableLabel, Value: grid.FeatureValue})
				case "members":
					m.cfg.Members = number
				case "keys":
					m.sign()
				case "replace":
					m.cfg.ReplaceAfter = time.Duration(number) * time.Second
				case "cpus":
					m.cfg.Capacity.CPU = grid.MilliCPU(number) * grid.CPU
				default:
					err = fmt.Errorf("%s: unknown", key)
				}
			}
			if err != nil {
				return err
			}
			continue
		}
		c := node.Defaults()
		c.Self, c.Boot, c.Seed, c.Name, c.Members = grid.NodeID{a[0]}, 1, uint64(a[0]), a, 1
		c.Pull, c.ReplaceAfter = false, 0
		c.Capacity = grid.Resources{CPU: grid.CPU, Memory: grid.GiB}
		c.Labels = []grid.Label{{Key: grid.IsolationLabel, Value: "strict"}, {Key: "node", Value: a},
			{Key: grid.GangNetworkLabel, Value: grid.FeatureValue}, {Key: grid.GangSizeLabel, Value: grid.FeatureValue},
			{Key: grid.OptionLabel, Value: grid.FeatureValue}}
		fresh = append(fresh, &member{name: a, cfg: c, disk: map[string]grid.Record{}, since: map[grid.AttemptID]grid.Time{}})
	}
	for _, m := range fresh {
		w.nodes = append(w.nodes, m)
		if err := w.boot(m); err != nil {
			return err
		}
	}
	w.advance(time.Second)
	return nil
}

// boot starts a node from its records and connects it with all others.
func (w *network) boot(m *member) error {
	n, err := node.New(m.cfg, grid.Wall{Zero: time.Unix(1_700_000_000, 0)})
	if err != nil {
		return err
	}
	for _, key := range sortedKeys(m.disk) {
		r := m.disk[key]
		n.Restore(&r)
	}
	m.n = n
	w.step(m, &grid.Event{Kind: grid.EvStart})
	for _, o := range w.nodes {
		if o != m && o.n != nil {
			w.connected(o, m)
			w.connected(m, o)
		}
	}
	return nil
}

func (w *network) connected(m, to *member) {
	ev := grid.Event{Kind: grid.EvPeerUp, Peer: to.cfg.Self, RTT: 2 * oneWay, Kinds: grid.AllKinds,
		Features: grid.AllFeatures}
	if to.old {
		ev.Kinds &^= grid.KindSet(1<<grid.KindReserve | 1<<grid.KindReserveAck)
		ev.Features &^= 1<<grid.FeatureGangs | 1<<grid.FeatureGangSizes
	}
	ev.Features &^= to.lacks
	w.post(&due{at: w.now.Add(oneWay), to: m, ev: ev})
}

func (w *network) kill(m *member, silently bool) {
	m.n, m.running, m.unsaved = nil, nil, nil
	w.queue = slices.DeleteFunc(w.queue, func(d *due) bool { return d.to == m || d.from == m })
	for _, o := range w.nodes {
		if o.n != nil && !silently {
			w.post(&due{at: w.now.Add(oneWay), to: o, ev: grid.Event{Kind: grid.EvPeerDown, Peer: m.cfg.Self}})
		}
	}
}

func (w *network) rule(verb string, r rule) error {
	if verb != "release" {
		w.rules = append(w.rules, r)
		return nil
	}
	k := slices.IndexFunc(w.rules, func(x rule) bool { return x.from == r.from && x.to == r.to && x.kind == r.kind })
	if k < 0 {
		return fmt.Errorf("nothing was said about such messages")
	}
	held := w.rules[k].held
	w.rules = slices.Delete(w.rules, k, k+1)
	for _, d := range held {
		w.printf("%s -> %s %s, at last", d.from.name, d.to.name, w.message(d.ev.Msg))
		d.at = w.now.Add(oneWay)
		w.post(d)
	}
	return nil
}

// post schedules an event.
func (w *network) post(d *due) {
	d.boot = d.to.cfg.Boot
	at := len(w.queue)
	for at > 0 && w.queue[at-1].at > d.at {
		at--
	}
	w.queue = slices.Insert(w.queue, at, d)
}

func (w *network) advance(d time.Duration) {
	w.until(w.now.Add(d))
}

func (w *network) until(end grid.Time) {
	for len(w.queue) > 0 && w.queue[0].at <= end {
		w.next()
	}
	w.now = max(w.now, end)
}

// run delivers until no message is in flight. Timers that are due meanwhile fire.
func (w *network) run() {
	inFlight := func(d *due) bool { return d.ev.Kind != grid.EvWake }
	for slices.ContainsFunc(w.queue, inFlight) {
		w.next()
	}
}

// deliver delivers what is in flight now.
func (w *network) deliver() {
	w.until(w.now.Add(oneWay))
}

func (w *network) next() {
	d := w.queue[0]
	w.queue = w.queue[1:]
	if w.events++; w.events > maxEvents {
		w.queue = nil
		return
	}
	w.now = max(w.now, d.at)
	if d.to.n != nil && d.boot == d.to.cfg.Boot {
		w.step(d.to, &d.ev)
	}
}

// ended tells a node that a program of its has ended.
func (w *network) ended(m *member, id grid.AttemptID, r *grid.Result) {
	m.running = slices.DeleteFunc(m.running, func(s grid.Start) bool { return s.Attempt == id })
	w.step(m, &grid.Event{Kind: grid.EvEnded, Attempt: id, Result: r})
}

// step feeds an event to a node and carries out the effects: the records first.
func (w *network) step(m *member, ev *grid.Event) {
	fx := &m.fx
	fx.Reset()
	m.n.Step(w.now, ev, fx)
	for i := range fx.Saves {
		w.save(m, &fx.Saves[i])
	}
	for _, s := range fx.Stops {
		verb, before := "removes", len(m.running)
		if m.running = slices.DeleteFunc(m.running,
			func(r grid.Start) bool { return r.Attempt == s.Attempt }); len(m.running) < before {
			verb = "stops"
			at, ended := w.stop.end(w.now, s.Attempt)
			w.post(&due{at: at, to: m, ev: ended})
		}
		w.printf("%s %s %s", m.name, verb, w.attempt(s.Attempt))
	}
	for _, x := range fx.Suspends {
		w.printf("%s %s %s", m.name, map[bool]string{false: "suspends", true: "continues"}[x.Resume], w.attempt(x.Attempt))
	}
	for _, s := range fx.Starts {
		verb := "starts"
		if s.Again {
			verb = "takes over"
		}
		w.printf("%s %s %s%s%s", m.name, verb, w.attempt(s.Attempt), placesText(s.Places), beginning(&s))
		m.running = append(m.running, s)
		m.since[s.Attempt] = w.now
		w.post(&due{at: w.now, to: m, ev: grid.Event{Kind: grid.EvStarted, Attempt: s.Attempt}})
	}
	w.carryOutCheckpoints(m, fx)
	for i := range fx.Sends {
		w.send(m, w.byID(fx.Sends[i].To), &fx.Sends[i].Msg)
	}
	for i := range fx.Announces {
		w.announce(m, &fx.Announces[i])
	}
	for _, r := range fx.Replies {
		w.printf("%s answers %q: %s", m.name, w.asked[r.Caller-1], w.answer(r.Err))
	}
	for _, id := range fx.Offences {
		w.printf("%s counts an offence of %s", m.name, w.name(id))
	}
	for _, x := range fx.Wakes {
		w.post(&due{at: max(w.now, x.At), to: m, ev: grid.Event{Kind: grid.EvWake, Timer: x.Timer}})
	}
}

func (w *network) send(from, to *member, m *grid.Message) {
	fate := w.route(from, to, grid.EvMessage, m)
	if !w.hidden[kindName(m.Kind)] {
		w.printf("%s -> %s %s%s", from.name, to.name, w.message(m), fate)
	}
}

func (w *network) announce(from *member, m *grid.Message) {
	text := w.message(m)
	for _, o := range w.nodes {
		if o == from || o.n == nil {
			continue
		}
		if fate := w.route(from, o, grid.EvAnnounce, m); fate != "" {
			text += fate + " for " + o.name
		}
	}
	if !w.hidden[kindName(m.Kind)] {
		w.printf("%s announces %s", from.name, text)
	}
}

// route sends a message on its way, unless a rule is against it; it returns what becomes of it, in words.
func (w *network) route(from, to *member, k grid.EventKind, m *grid.Message) string {
	d := &due{at: w.now.Add(oneWay), from: from, to: to, ev: grid.Event{Kind: k, Peer: from.cfg.Self, Msg: copied(m)}}
	at := slices.IndexFunc(w.rules, func(r rule) bool { return r.matches(d) })
	switch {
	case to.n == nil || at >= 0 && !w.rules[at].holds:
		return ", lost"
	case at >= 0:
		w.rules[at].held = append(w.rules[at].held, d)
		return ", held back"
	}
	w.post(d)
	if w.sent == nil {
		w.sent = map[sending]*due{}
	}
	w.sent[sending{from.name, to.name, kindName(m.Kind)}] = d
	return ""
}

// repeat has a message arrive once more.
func (w *network) repeat(x sending) error {
	d := w.sent[x]
	if d == nil || d.to.n == nil {
		return fmt.Errorf("no such message was sent to a node that lives")
	}
	w.printf("%s -> %s %s, repeated", x.from, x.to, w.message(d.ev.Msg))
	ev := d.ev
	ev.Msg = copied(ev.Msg)
	w.post(&due{at: w.now.Add(oneWay), from: d.from, to: d.to, ev: ev})
	return nil
}

// copied returns a copy of a message that is not in a node's buffers.
func copied(m *grid.Message) *grid.Message {
	c := *m
	c.Digest, c.Attempts, c.Reports = slices.Clone(m.Digest), slices.Clone(m.Attempts), slices.Clone(m.Reports)
	c.Poll.Rates, c.State.Rates = slices.Clone(m.Poll.Rates), slices.Clone(m.State.Rates)
	c.Offer.Members, c.Find.Visited = slices.Clone(m.Offer.Members), slices.Clone(m.Find.Visited)
	c.Register.Members, c.Register.Entries = slices.Clone(m.Register.Members), slices.Clone(m.Register.Entries)
	return &c
}

// save writes a record. One that nothing waits for is written with the next that something waits for.
func (w *network) save(m *member, r *grid.Record) {
	if text := w.record(r); text != "" {
		w.printf("%s %s", m.name, text)
	}
	if m.unsaved = append(m.unsaved, *r); r.Later {
		return
	}
	for _, r := range m.unsaved {
		key := recordKey(&r)
		if !r.Delete {
			m.disk[key] = r
			continue
		}
		delete(m.disk, key)
		for k, e := uint32(0), r; r.Kind == grid.RecEntry && k < r.Entry.Further; k++ {
			e.Entry.ID.Task.Index++
			delete(m.disk, recordKey(&e))
		}
	}
	m.unsaved = nil
}
