package wire

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"skep/grid"
	"skep/internal/indices"
	"skep/requirement"
)

func genResources(t *rapid.T) grid.Resources {
	return grid.Resources{CPU: grid.MilliCPU(rapid.Int64Range(0, grid.MaxMillis).Draw(t, "cpu")),
		Memory: grid.Bytes(rapid.Int64Range(0, grid.MaxMemory).Draw(t, "memory")), Counts: genCounts.Draw(t, "counts")}
}

var genCounts = rapid.Custom(func(t *rapid.T) grid.Counts {
	kinds := rapid.SliceOfNDistinct(rapid.StringMatching("[a-z][a-z0-9_]{2,31}"), 0, grid.MaxKinds,
		func(s string) string { return s }).Draw(t, "kinds")
	var parts []string
	for _, k := range kinds {
		parts = append(parts, fmt.Sprintf("%s=%d", k, rapid.Int64Range(0, grid.MaxUnits).Draw(t, "units")))
	}
	c, err := grid.ParseCounts(strings.Join(parts, ","))
	if err != nil {
		return "gpu=1" // cpu or memory was drawn
	}
	return c
})

func genRates(t *rapid.T) []grid.Rate {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) grid.Rate {
		return grid.Rate{Class: genText.Draw(t, "class"), Alpha: rapid.Float64Range(0, grid.MaxRate).Draw(t, "alpha"),
			Mu: rapid.Float64Range(0, grid.MaxRate).Draw(t, "mu")}
	}), 0, grid.MaxRates).Draw(t, "rates")
}

func genFiles(t *rapid.T, most int) []grid.File {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) grid.File {
		return grid.File{Path: genWord.Draw(t, "folder") + "/" + genWord.Draw(t, "file"), Blob: array[grid.BlobID](t, "blob"),
			Size: genSize.Draw(t, "size"), Exec: rapid.Bool().Draw(t, "exec")}
	}), 0, most).Draw(t, "files")
}

func genExpression(use requirement.Use, texts ...string) *rapid.Generator[*requirement.Expression] {
	return rapid.Custom(func(t *rapid.T) *requirement.Expression {
		x, err := requirement.Parse(rapid.SampledFrom(texts).Draw(t, "text"), use)
		if err != nil {
			t.Fatal(err)
		}
		return x
	})
}

func genNeeds(t *rapid.T) grid.Needs {
	n := grid.Needs{Resources: genResources(t)}
	n.CPU = max(n.CPU, 1)
	for range rapid.IntRange(0, 3).Draw(t, "labels") {
		n.Labels = append(n.Labels, grid.LabelNeed{Key: genWord.Draw(t, "key"),
			Values: rapid.SliceOfN(genText, 1, 3).Draw(t, "values")})
	}
	if n.Counts != "" {
		n.AddFeature(grid.ResourceLabel)
	}
	if rapid.Bool().Draw(t, "where") {
		n.Where = genExpression(requirement.Where, "node.memory > 64.0 && node.labels.os == 'linux'", "'é' != node.name").
			Draw(t, "where text")
		n.AddFeature(grid.RequirementLabel)
	}
	if rapid.Bool().Draw(t, "pin") {
		n.Pin, n.CPU = true, max(n.CPU/grid.CPU, 1)*grid.CPU
		n.AddFeature(grid.PinLabel)
	}
	return n
}

func genSpec(t *rapid.T) *grid.JobSpec {
	s := &grid.JobSpec{Name: genText.Draw(t, "name"), Class: genText.Draw(t, "class"), Engine: grid.EngineProcess,
		Command: rapid.SliceOfN(genBytes, 1, 5).Draw(t, "command"), Count: rapid.Uint32Range(1, grid.MaxCount).Draw(t,
			"count"),
		Needs: genNeeds(t), Inputs: genFiles(t, 3), Outputs: rapid.SliceOfN(genWord, 0, 3).Draw(t, "outputs"),
		Timeout: time.Duration(rapid.Int64Range(0, int64(grid.MaxTimeout)).Draw(t, "timeout")),
		Retries: rapid.Int32Range(0, grid.MaxRetries).Draw(t, "retries"), Policy: genText.Draw(t, "policy"),
		Wait: rapid.Bool().Draw(t, "wait"), Idempotent: rapid.Bool().Draw(t, "idempotent")}
	s.Idempotent = s.Idempotent && s.Retries > 0
	if s.Idempotent {
		s.Rules.Reliability = grid.Reliability(rapid.IntRange(0, int(grid.ReliabilityReplicate)).Draw(t, "reliability"))
	}
	s.Rules.MaxFailures = rapid.Int32Range(0, grid.MaxCount).Draw(t, "max failures")
	s.Rules.MaxRunning = rapid.Int32Range(0, grid.MaxCount).Draw(t, "max running")
	s.Rules.Bid = grid.Bid(rapid.Int32Range(0, int32(grid.MaxBid)).Draw(t, "bid"))
	if rapid.Bool().Draw(t, "ranks nodes") {
		s.Rules.Rank = genExpression(requirement.Rank, "node.speed", "1 / (node.backlog + 1)").Draw(t, "rank")
	}
	if d := &s.Rules.Deadline; rapid.Bool().Draw(t, "limits") {
		d.At = time.Duration(rapid.Int64Range(int64(time.Second), int64(grid.MaxDeadline)-1).Draw(t, "deadline"))
		if rapid.Bool().Draw(t, "soft") {
			d.Worthless = time.Duration(rapid.Int64Range(int64(d.At)+1, int64(grid.MaxDeadline)).Draw(t, "worthless"))
		}
	}
	s.Rules.Budget = grid.Budget(rapid.Int64Range(0, int64(grid.MaxBudget)).Draw(t, "budget"))
	if f := &s.Rules.OnFailure; rapid.Bool().Draw(t, "on failure") {
		f.Retry, f.Rerun = rapid.Int32Range(1, grid.MaxFailureRetry).Draw(t, "retry"), true
		f.Codes = rapid.SliceOfN(rapid.Int32Range(1, 255), 0, grid.MaxFailureCodes).Draw(t, "codes")
		slices.Sort(f.Codes)
		f.Backoff = time.Duration(rapid.Int64Range(0, int64(grid.MaxBackoff)).Draw(t, "backoff"))
	}
	genStdin(t, s)
	if rapid.Bool().Draw(t, "folders") {
		folder := rapid.SampledFrom([]string{"", "/a", "/data/x y", "/home/ada"})
		s.AddFolders(grid.Folders{Work: folder.Draw(t, "workdir"), Home: folder.Draw(t, "home")})
	}
	genAfter(t, s)
	if s.Isolation() >= grid.IsolationBasic {
		s.Network = grid.Network(rapid.IntRange(0, 1).Draw(t, "network"))
	}
	for range rapid.IntRange(0, 3).Draw(t, "env") {
		s.Env = append(s.Env, grid.Var{Name: genWord.Draw(t, "name"), Value: genBytes.Draw(t, "value")})
	}
	if s.Stdin != grid.StdinStream && rapid.Bool().Draw(t, "array") {
		genArray(t, s)
	} else if rapid.Bool().Draw(t, "gang") {
		genGang(t, s)
	}
	if !s.IsGang() {
		genOptions(t, &s.Needs)
	}
	if s.Count == 1 && s.Array == nil && !s.IsGang() && rapid.Bool().Draw(t, "of another grid") {
		s.Outer = rapid.SliceOfN(rapid.SampledFrom([]string{"848e9bf4", "b"}), 1, grid.MaxOuter).Draw(t, "outer")
		s.Needs.AddFeature(grid.OuterLabel)
	}
	genSecrets(t, s)
	return s
}

// genSecrets gives the tasks of a spec secrets, where that can be.
func genSecrets(t *rapid.T, s *grid.JobSpec) {
	if s.IsGang() || s.Outer.Some() || s.Isolation() < grid.IsolationBasic || !rapid.Bool().Draw(t, "secrets") {
		return
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "secrets") {
		u := grid.SecretUse{Name: fmt.Sprint("s.", i), Owner: array[grid.NodeID](t, "owner")}
		if rapid.Bool().Draw(t, "env") {
			u.Env = fmt.Sprint("SECRET_", i)
		}
		for range rapid.IntRange(0, 2).Draw(t, "nodes") {
			u.Holders = append(u.Holders, array[grid.NodeID](t, "holder"))
			u.Workers = append(u.Workers, array[grid.NodeID](t, "worker"))
		}
		u.Anyone = len(u.Workers) == 0
		s.Secrets = append(s.Secrets, u)
	}
	s.Needs.AddFeature(grid.SecretLabel)
	s.Signed = true
	s.Needs.AddFeature(grid.SignedLabel)
}

// genArray gives a spec an array of one to three variables and as many tasks.
func genArray(t *rapid.T, s *grid.JobSpec) {
	a := &grid.Array{}
	if rapid.Bool().Draw(t, "indices") {
		first := rapid.Uint32Range(0, 1000).Draw(t, "first")
		set := indices.Set{{First: first, Last: first + 6, Step: 3}}
		a.Axes = append(a.Axes, grid.Axis{Name: grid.IndexVariable, Indices: set})
	}
	for i := range rapid.IntRange(1, 2).Draw(t, "variables") {
		values := rapid.SliceOfN(genBytes, 1, 3).Draw(t, "values")
		a.Axes = append(a.Axes, grid.Axis{Name: fmt.Sprint("A_", i), Values: values})
	}
	for i := range s.WorkFiles() {
		a.Inputs = append(a.Inputs, grid.TaskInput{Input: uint32(i), Axis: uint32(len(a.Axes) - 1)})
	}
	s.Array, s.Count = a, uint32(a.Len())
	s.Needs.Labels = append(s.Needs.Labels, grid.FeatureNeed(grid.ArrayLabel))
}

// genAfter makes a spec wait for up to three other jobs and read up to two of their files.
func genAfter(t *rapid.T, s *grid.JobSpec) {
	for k := range rapid.IntRange(0, 3).Draw(t, "after") {
		d := grid.Dependency{Job: genJob(t), Kind: grid.AfterKind(rapid.IntRange(0, 2).Draw(t, "kind"))}
		d.Job.Nonce[0] = byte(k)
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			d.Members = append(d.Members, array[grid.NodeID](t, "member"))
		}
		if d.Kind == grid.AfterEach && s.After.Each() >= 0 {
			d.Kind = grid.AfterOK
		}
		s.After.Jobs = append(s.After.Jobs, d)
	}
	if len(s.After.Jobs) == 0 || !rapid.Bool().Draw(t, "job inputs") {
		return
	}
	s.Needs.AddFeature(grid.JobInputsLabel)
	for k := range rapid.IntRange(1, 2).Draw(t, "left") {
		in := grid.JobInput{Path: genWord.Draw(t, "left"), To: fmt.Sprintf("left/%d", k)}
		if s.After.Jobs[0].Kind != grid.AfterEach {
			in.Task = rapid.Uint32Range(0, grid.MaxCount-1).Draw(t, "task")
		}
		s.After.Inputs = append(s.After.Inputs, in)
	}
}

func genStdin(t *rapid.T, s *grid.JobSpec) {
	switch s.Stdin = grid.Stdin(rapid.IntRange(0, 2).Draw(t, "stdin")); {
	case s.Stdin == grid.StdinNone:
		return
	case s.Stdin == grid.StdinStream:
		s.Count, s.Retries, s.Idempotent, s.Rules = 1, 0, false, grid.Rules{}
		if rapid.Bool().Draw(t, "terminal") {
			s.Terminal = grid.Terminal{On: true, Rows: rapid.Uint16().Draw(t, "rows"), Cols: rapid.Uint16().Draw(t, "cols")}
		}
	case len(s.Inputs) == 0:
		s.Inputs = []grid.File{{Path: "stdin", Blob: grid.BlobID{1}}}
	}
	s.Needs.Labels = append(s.Needs.Labels, grid.FeatureNeed(grid.StdinLabel))
	if s.Terminal.On {
		s.Needs.Labels = append(s.Needs.Labels, grid.FeatureNeed(grid.TerminalLabel))
	}
}

func genFailures(t *rapid.T, j grid.JobID) (fs []grid.Failure) {
	for range rapid.IntRange(0, grid.MaxFailures).Draw(t, "failures") {
		fs = append(fs, grid.Failure{Attempt: genAttempt(t, j, 1).Attempt, Worker: array[grid.NodeID](t, "worker"),
			Cause: grid.Exited, Exit: rapid.Int32().Draw(t, "exit"), Line: genText.Draw(t, "line"),
			Done: rapid.Int64Range(0, 1<<62).Draw(t, "done")})
	}
	return fs
}

// genSigned is the bytes of signatures, or none.
func genSigned(t *rapid.T, most int) string {
	return string(rapid.SliceOfN(rapid.Byte(), 0, most).Draw(t, "signed"))
}

// genSealed is a spec that its job's origin signed, or now and then one without a signature.
func genSealed(t *rapid.T) (grid.JobID, *grid.JobSpec) {
	job, s := genJob(t), genSpec(t)
	if !rapid.Bool().Draw(t, "signed") {
		return job, s
	}
	key := testKey(rapid.Byte().Draw(t, "origin"))
	job.Origin = nodeOf(key)
	s.Submitter = grid.Submitter{Node: job.Origin, User: genText.Draw(t, "user")}
	s.RecordsOffers = s.MayRecordOffers() && rapid.Bool().Draw(t, "records offers")
	if s.Signed = rapid.Bool().Draw(t, "ends are signed"); s.Signed {
		s.Needs.AddFeature(grid.SignedLabel)
	}
	if rapid.Bool().Draw(t, "owner") {
		s.Capability = array[grid.CapabilityHash](t, "capability")
	}
	sealed, err := SealSpec(key, job, s)
	if err != nil {
		t.Fatal(err)
	}
	return job, sealed
}

func genOutput(t *rapid.T) grid.Output {
	o := grid.Output{Inline: rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "inline"), Size: genSize.Draw(t, "size"),
		Dropped: genSize.Draw(t, "dropped")}
	if rapid.Bool().Draw(t, "as blob") {
		o.Blob = array[grid.BlobID](t, "blob")
	}
	return o
}

func genResult(t *rapid.T) *grid.Result {
	r := &grid.Result{Cause: grid.Cause(rapid.Uint8Range(1, uint8(grid.Failed)).Draw(t, "cause")),
		Exit:  rapid.Int32().Draw(t, "exit"),
		Error: genText.Draw(t, "error"), Waited: genSpan.Draw(t, "waited"), Wall: genSpan.Draw(t, "wall"),
		CPU:    genSpan.Draw(t, "cpu"),
		MaxRSS: genSize.Draw(t, "rss"), Stdout: genOutput(t), Stderr: genOutput(t), Outputs: genFiles(t, 4)}
	if r.Cause == grid.Lost {
		r.Next = genText.Draw(t, "next")
	}
	r.LastLine = genText.Draw(t, "last line")
	r.Option, r.Proof = rapid.Uint8().Draw(t, "option"), genSigned(t, grid.MaxProof)
	return r
}

func genReserve(t *rapid.T) *grid.Reserve {
	r := &grid.Reserve{Job: genAttempts(t, 1, 1)[0].Task.Job,
		Attempt: grid.Attempt{Epoch: rapid.Uint32().Draw(t, "epoch"), N: rapid.Uint32().Draw(t, "n")},
		Round:   rapid.Uint32().Draw(t, "round"), Ranks: rapid.Uint32Range(0, grid.MaxRanks).Draw(t, "ranks"),
		Needs: genResources(t), TTL: time.Duration(rapid.Int64Range(0, int64(MaxSpan)).Draw(t, "ttl")),
		Age: time.Duration(rapid.Int64Range(0, int64(MaxSpan)).Draw(t, "age")), Later: rapid.Bool().Draw(t, "later"),
		Refusal: grid.Refusal{Why: genWhy.Draw(t, "why"), Detail: genText.Draw(t, "detail")}}
	if rapid.Bool().Draw(t, "held") {
		r.Holder = genAttempts(t, 1, 1)[0].Task.Job
	}
	return r
}

func genCheckpoint(t *rapid.T) *grid.Checkpoint {
	step := rapid.Uint64Range(0, grid.MaxCheckpointStep)
	return &grid.Checkpoint{Step: step.Draw(t, "step"), Files: genFiles(t, 4), Shares: genDivision(t).Shares,
		Closed: rapid.SliceOfN(step, 0, grid.MaxClosed).Draw(t, "closed"), Usable: step.Draw(t, "usable"),
		Kept:    rapid.Bool().Draw(t, "kept"),
		Refusal: grid.Refusal{Why: genWhy.Draw(t, "why"), Detail: genText.Draw(t, "detail")}}
}

// genOffered is which tasks of a job may have been offered.
func genOffered(t *rapid.T) *grid.OfferedTasks {
	o := &grid.OfferedTasks{Below: uint32(rapid.IntRange(1, grid.MaxCount).Draw(t, "below"))}
	for from := uint32(0); len(o.Free) < grid.MaxFree; {
		from += uint32(rapid.IntRange(1, 5000).Draw(t, "gap"))
		to := from + uint32(rapid.IntRange(1, 500).Draw(t, "free"))
		if to > o.Below {
			break
		}
		o.Free, from = append(o.Free, grid.TaskSpan{From: from, To: to}), to
	}
	return o
}

// genMembership is who keeps a register, or now and then nobody other than at first.
func genMembership(t *rapid.T) *grid.Membership {
	if rapid.Bool().Draw(t, "as at first") {
		return nil
	}
	m := &grid.Membership{Number: rapid.Uint32Range(1, 99).Draw(t, "number"), Epoch: rapid.Uint32().Draw(t, "epoch"),
		At: rapid.Uint32Range(0, 2).Draw(t, "at"), Links: genSigned(t, grid.MaxLinks)}
	for k := range 3 {
		m.Members = append(m.Members, grid.NodeID{byte(k + 1), rapid.Byte().Draw(t, "member")})
	}
	if rapid.Bool().Draw(t, "not settled") {
		m.Extra = grid.NodeID{4}
	}
	return m
}
