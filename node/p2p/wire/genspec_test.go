package wire

import (
	"time"

	"pgregory.net/rapid"

	"skep/grid"
)

func genResources(t *rapid.T) grid.Resources {
	return grid.Resources{CPU: grid.MilliCPU(rapid.Int64Range(0, grid.MaxMillis).Draw(t, "cpu")),
		Memory: grid.Bytes(rapid.Int64Range(0, grid.MaxMemory).Draw(t, "memory"))}
}

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

func genNeeds(t *rapid.T) grid.Needs {
	n := grid.Needs{Resources: genResources(t)}
	n.CPU = max(n.CPU, 1)
	for range rapid.IntRange(0, 3).Draw(t, "labels") {
		n.Labels = append(n.Labels, grid.LabelNeed{Key: genWord.Draw(t, "key"),
			Values: rapid.SliceOfN(genText, 1, 3).Draw(t, "values")})
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
	if s.Isolation() >= grid.IsolationBasic {
		s.Network = grid.Network(rapid.IntRange(0, 1).Draw(t, "network"))
	}
	for range rapid.IntRange(0, 3).Draw(t, "env") {
		s.Env = append(s.Env, grid.Var{Name: genWord.Draw(t, "name"), Value: genBytes.Draw(t, "value")})
	}
	return s
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
	return r
}
