package grid

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
)

// Check reports everything that is wrong with a job, each problem with its field, its value and what
// would be right.
func (s *JobSpec) Check() error {
	var p problems
	p.text("name", s.Name, MaxName)
	p.text("class", s.Class, MaxClass)
	if strings.Contains(s.Class, LevelMark) {
		p.addf("class %q: want a name without %q, which stands between a program and its script", s.Class, LevelMark)
	}
	if s.Engine != EngineProcess {
		p.addf("engine %q: want %q", s.Engine, EngineProcess)
	}
	size := 0
	for _, w := range s.Command {
		size += len(w) + 1
		if strings.ContainsRune(w, 0) {
			p.addf("command %q: has a zero byte", w)
		}
	}
	if len(s.Command) == 0 || s.Command[0] == "" {
		p.addf("command: is empty: want a program and its arguments")
	}
	if len(s.Command) > MaxArgs || size > int(MaxCommand) {
		p.addf("command: %d words, %d bytes: want at most %d words, %d bytes", len(s.Command), size, MaxArgs, MaxCommand)
	}
	if s.Count < 1 || s.Count > MaxCount {
		p.addf("count %d: want 1 to %d", s.Count, MaxCount)
	}
	s.Needs.check(&p)
	if len(s.Inputs) > MaxFiles {
		p.addf("inputs: %d files: want at most %d", len(s.Inputs), MaxFiles)
	}
	for i := range s.Inputs {
		p.file("inputs", &s.Inputs[i])
	}
	if len(s.Outputs) > MaxGlobs {
		p.addf("outputs: %d patterns: want at most %d", len(s.Outputs), MaxGlobs)
	}
	for _, o := range s.Outputs {
		if _, err := path.Match(o, ""); err != nil || !Inside(o) || !Printable(o) {
			p.addf("outputs %q: want a pattern of a path inside the work folder, of printable text", o)
		}
	}
	s.checkEnv(&p)
	s.checkArray(&p)
	s.checkSigned(&p)
	s.checkOffers(&p)
	if s.Timeout < 0 || s.Timeout > MaxTimeout {
		p.addf("timeout %v: want 0 (none) to %v", s.Timeout, MaxTimeout)
	}
	if s.Retries < 0 || s.Retries > MaxRetries {
		p.addf("retries %d: want 0 to %d", s.Retries, MaxRetries)
	}
	if s.Idempotent && s.Retries == 0 {
		p.addf("idempotent with retries 0: a task that is to run at most once gets no backup attempt: want one or the other")
	}
	s.Rules.check(s, &p)
	p.text("policy", s.Policy, MaxClass)
	if s.Network >= networks {
		p.addf("network %d: want host, none or gang", s.Network)
	}
	if s.Network == NetworkNone && s.Isolation() < IsolationBasic {
		p.addf("network none: want isolation basic or strict with it: without a box a task has the network of its node")
	}
	for _, l := range s.Needs.Labels {
		for _, v := range l.Values {
			if _, err := ParseIsolation(v); l.Key == IsolationLabel && err != nil {
				p.addf("needs.labels.%s %q: want none, basic or strict", l.Key, v)
			}
		}
	}
	s.checkStdin(&p)
	s.checkFolders(&p)
	s.checkAfter(&p)
	s.checkGang(&p)
	s.checkOuter(&p)
	s.checkSecrets(&p)
	if s.IsGang() && len(s.Needs.Options) > 0 {
		p.addf("options with gang: want one or the other: all ranks of a gang run alike")
	}
	s.Submitter.check(&p)
	return p.err()
}

// Check reports what is wrong with needs that came from outside.
func (n *Needs) Check() error {
	var p problems
	n.check(&p)
	return p.err()
}

func (n *Needs) check(p *problems) {
	if n.CPU < 1 || n.CPU > MaxMillis {
		p.addf("needs.cpu %g: want 0.001 to %d", float64(n.CPU)/1000, MaxMillis/1000)
	}
	if n.Memory < 0 || n.Memory > MaxMemory {
		p.addf("needs.memory %d: want 0 to %d bytes", n.Memory, int64(MaxMemory))
	}
	switch {
	case !n.Counts.Valid():
		p.addf("needs.resources %.80q: want at most %d of the form KIND=N, N from 1 to %d", n.Counts, MaxKinds, MaxUnits)
	case n.Counts != "" && !n.HasFeature(ResourceLabel):
		p.addf("needs.resources %s: want needs.labels.%s %s with it: older nodes would run the tasks without", n.Counts,
			ResourceLabel, FeatureValue)
	}
	if n.Pin && (n.CPU%CPU != 0 || !n.HasFeature(PinLabel)) {
		p.addf("needs.pin with needs.cpu %g: want whole cores, and needs.labels.%s %s", float64(n.CPU)/1000, PinLabel,
			FeatureValue)
	}
	n.checkWhere(p)
	n.checkOptions(p)
	if len(n.Labels) > MaxLabels {
		p.addf("needs.labels: %d: want at most %d", len(n.Labels), MaxLabels)
	}
	for _, l := range n.Labels {
		p.label("needs.labels", l.Key, "")
		if len(l.Values) < 1 || len(l.Values) > MaxValues {
			p.addf("needs.labels.%s: %d values: want 1 to %d", l.Key, len(l.Values), MaxValues)
		}
		for _, v := range l.Values {
			p.label("needs.labels", l.Key, v)
		}
	}
}

// Check reports what is impossible in an ad that came from outside.
func (a *Ad) Check() error {
	var p problems
	p.text("name", a.Name, MaxName)
	for _, r := range [...]Resources{a.Capacity, a.Free} {
		if r.CPU < 0 || r.CPU > MaxMillis || r.Memory < 0 || r.Memory > MaxMemory || !r.Counts.Valid() {
			p.addf("resources %v: out of range", r)
		}
	}
	if !a.Capacity.Fits(a.Free) {
		p.addf("free %v: more than the capacity, %v", a.Free, a.Capacity)
	}
	a.AdWork.check(&p)
	if a.Backlog < 0 {
		p.addf("backlog %v: is negative", a.Backlog)
	}
	if !(a.Speed > 0 && a.Speed <= 1e6) {
		p.addf("speed %g: want more than 0 and at most 1e6", a.Speed)
	}
	if !(a.Availability >= 0 && a.Availability <= 1) {
		p.addf("availability %g: want 0 to 1", a.Availability)
	}
	if len(a.Labels) > MaxLabels || len(a.Engines) > MaxEngines || len(a.Addrs) > MaxAddrs {
		p.addf("%d labels, %d engines, %d addresses: too many", len(a.Labels), len(a.Engines), len(a.Addrs))
	}
	for _, l := range a.Labels {
		p.label("labels", l.Key, l.Value)
	}
	for _, s := range a.Engines {
		p.text("engines", s, MaxClass)
	}
	for _, s := range a.Addrs {
		p.text("addrs", s, MaxAddr)
	}
	p.rates(a.Rates)
	a.Coord.check(&p)
	if len(a.Sealed) > int(MaxAdSize) {
		p.addf("ad: %d bytes: want at most %d", len(a.Sealed), MaxAdSize)
	}
	return p.err()
}

// CheckRates reports what is impossible in rates that came from outside.
func CheckRates(rates []Rate) error {
	var p problems
	p.rates(rates)
	return p.err()
}

// Inside reports whether a slash-separated path stays inside the folder that it is relative to.
func Inside(s string) bool {
	if s == "" || len(s) > MaxPath || path.IsAbs(s) || strings.ContainsAny(s, "\x00\\") {
		return false
	}
	c := path.Clean(s)
	return c != "." && c != ".." && !strings.HasPrefix(c, "../")
}

// problems collects all that is wrong, so that everything is reported at once.
type problems []error

func (p *problems) addf(format string, args ...any) { *p = append(*p, fmt.Errorf(format, args...)) }

func (p problems) err() error { return errors.Join(p...) }

func (p *problems) text(field, s string, bound int) {
	if len(s) > bound {
		p.addf("%s %.32q…: %d bytes: want at most %d", field, s, len(s), bound)
	} else if !Printable(s) {
		p.addf("%s %q: want printable text", field, s)
	}
}

func (p *problems) label(field, key, value string) {
	if key == "" || strings.ContainsAny(key, "=, ") {
		p.addf("%s key %q: want a word without '=', ',' and spaces", field, key)
	}
	// names are built only for a problem
	if len(key) > MaxLabel || len(value) > MaxLabel || !Printable(key) || !Printable(value) {
		p.text(field+" key", key, MaxLabel)
		p.text(field+"."+key, value, MaxLabel)
	}
}

func (p *problems) file(field string, f *File) {
	if !Inside(f.Path) || !Printable(f.Path) {
		p.addf("%s %q: want a path inside the work folder, of printable text", field, f.Path)
	}
	if f.Blob.IsZero() || f.Size < 0 {
		p.addf("%s %q: has no content", field, f.Path)
	}
}

func (p *problems) rates(rates []Rate) {
	if len(rates) > MaxRates {
		p.addf("rates: %d classes: want at most %d", len(rates), MaxRates)
	}
	for _, r := range rates {
		p.text("class", r.Class, MaxClass)
		for _, v := range [...]float64{r.Alpha, r.Mu} {
			if !(v >= 0 && v <= MaxRate) || math.IsInf(v, 0) {
				p.addf("rate %g of class %q: want 0 to %g", v, r.Class, float64(MaxRate))
			}
		}
	}
}
