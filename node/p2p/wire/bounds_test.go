package wire

import (
	"errors"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
	"skep/requirement"
)

// Append refuses messages beyond the bounds. Each case is one bound.
func TestAppendBounds(t *testing.T) {
	long := strings.Repeat("x", 2000)
	reports := func(x ...grid.Report) func(*grid.Message) { return func(m *grid.Message) { m.Reports = x } }
	said := func(p grid.Progress) func(*grid.Message) { return reports(grid.Report{Said: true, Progress: p}) }
	for name, c := range map[string]struct {
		kind  grid.Kind
		spoil func(m *grid.Message)
	}{
		"poll class long":     {grid.KindPoll, func(m *grid.Message) { m.Poll.Class = long[:grid.MaxClass+1] }},
		"poll class control":  {grid.KindPoll, func(m *grid.Message) { m.Poll.Class = "a\x1b[2J" }},
		"poll class not text": {grid.KindPoll, func(m *grid.Message) { m.Poll.Class = "\xff" }},
		"poll cpu negative":   {grid.KindPoll, func(m *grid.Message) { m.Poll.Needs.CPU = -1 }},
		"poll memory":         {grid.KindPoll, func(m *grid.Message) { m.Poll.Needs.Memory = grid.MaxMemory + 1 }},
		"poll speed NaN":      {grid.KindPoll, func(m *grid.Message) { m.Poll.Speed = math.NaN() }},
		"poll speed negative": {grid.KindPoll, func(m *grid.Message) { m.Poll.Speed = -1 }},
		"poll cores":          {grid.KindPoll, func(m *grid.Message) { m.Poll.Cores = grid.MaxMillis + 1 }},
		"poll rate NaN":       {grid.KindPoll, func(m *grid.Message) { m.Poll.Rates[0].Alpha = math.NaN() }},
		"poll rate Inf":       {grid.KindPoll, func(m *grid.Message) { m.Poll.Rates[0].Mu = math.Inf(1) }},
		"poll rate negative":  {grid.KindPoll, func(m *grid.Message) { m.Poll.Rates[0].Mu = -1 }},
		"poll rates": {grid.KindPoll,
			func(m *grid.Message) { m.Poll.Rates = make([]grid.Rate, grid.MaxRates+1) }},
		"state ect negative":     {grid.KindState, func(m *grid.Message) { m.State.ECT = -1 }},
		"state backlog negative": {grid.KindState, func(m *grid.Message) { m.State.Backlog = -1 }},
		"state waiting":          {grid.KindState, func(m *grid.Message) { m.State.Waiting = -1 }},
		"state running":          {grid.KindState, func(m *grid.Message) { m.State.Running = grid.MaxCount + 1 }},
		"state rest negative":    {grid.KindState, func(m *grid.Message) { m.State.Rest = -1 }},
		"state free":             {grid.KindState, func(m *grid.Message) { m.State.Free.CPU = grid.MaxMillis + 1 }},
		"state price negative":   {grid.KindState, func(m *grid.Message) { m.State.Price = -1 }},
		"state price":            {grid.KindState, func(m *grid.Message) { m.State.Price = grid.MaxBid + 1 }},
		"state outbid":           {grid.KindState, func(m *grid.Message) { m.State.Outbid = grid.MaxBid + 1 }},
		"state bids":             {grid.KindState, func(m *grid.Message) { m.State.Bids = grid.MaxBids + 1 }},
		"poll counts":            {grid.KindPoll, func(m *grid.Message) { m.Poll.Needs.Counts = "gpu=1025" }},
		"state free counts":      {grid.KindState, func(m *grid.Message) { m.State.Free.Counts = "gpu=-1" }},
		"offer counts order": {grid.KindOffer, func(m *grid.Message) {
			m.Offer.Spec.Needs.Counts = "gpu=1,fpga=1"
			m.Offer.Spec.Needs.AddFeature(grid.ResourceLabel)
		}},
		"offer where alone": {grid.KindOffer,
			func(m *grid.Message) { m.Offer.Spec.Needs.Where = new(requirement.Expression) }},
		"offer counts alone":  {grid.KindOffer, func(m *grid.Message) { m.Offer.Spec.Needs.Counts = "gpu=1" }},
		"offer spec missing":  {grid.KindOffer, func(m *grid.Message) { m.Offer.Spec = nil }},
		"offer spec bad":      {grid.KindOffer, func(m *grid.Message) { m.Offer.Spec.Count = 0 }},
		"offer index":         {grid.KindOffer, func(m *grid.Message) { m.Offer.ID.Task.Index = 100 }},
		"offer lease":         {grid.KindOffer, func(m *grid.Message) { m.Offer.Lease = grid.MaxTimeout + 1 }},
		"offer class control": {grid.KindOffer, func(m *grid.Message) { m.Offer.Class = "a\x1b[2J" }},
		"offer class of a level": {grid.KindOffer,
			func(m *grid.Message) { m.Offer.Class = "a" + grid.LevelMark + "1a2b3c4d" }},
		"offer barred": {grid.KindOffer,
			func(m *grid.Message) { m.Offer.Barred = make([]grid.NodeID, grid.MaxBarred+1) }},
		"offer lease negative": {grid.KindOffer, func(m *grid.Message) { m.Offer.Lease = -1 }},
		"offer age negative":   {grid.KindOffer, func(m *grid.Message) { m.Offer.Age = -1 }},
		"accept none":          {grid.KindAccept, func(m *grid.Message) { m.Attempts = nil }},
		"accept two":           {grid.KindAccept, func(m *grid.Message) { m.Attempts = make([]grid.AttemptID, 2) }},
		"refuse none":          {grid.KindRefuse, func(m *grid.Message) { m.Attempts = nil }},
		"beat many": {grid.KindBeat,
			func(m *grid.Message) { m.Attempts = make([]grid.AttemptID, grid.MaxBeats+1) }},
		"beat index":          {grid.KindBeat, func(m *grid.Message) { m.Attempts[0].Task.Index = grid.MaxCount }},
		"beat report of none": {grid.KindBeat, reports(grid.Report{At: grid.MaxBeats})},
		"beat two reports":    {grid.KindBeat, reports(grid.Report{}, grid.Report{})},
		"beat many reports":   {grid.KindBeat, reports(make([]grid.Report, grid.MaxReports+1)...)},
		"beat place":          {grid.KindBeat, reports(grid.Report{Place: grid.MaxPlace + 1})},
		"request of many reports": {grid.KindStartLease,
			reports(make([]grid.Report, grid.MaxReports+1)...)},
		"request place": {grid.KindStartLease, reports(grid.Report{Place: grid.MaxPlace + 1})},
		"suspended never": {grid.KindBeat,
			reports(grid.Report{Suspensions: &grid.Suspensions{Bid: 1}})},
		"suspended by no bid": {grid.KindBeat,
			reports(grid.Report{Suspensions: &grid.Suspensions{Times: 1}})},
		"suspended for less than no time": {grid.KindBeat,
			reports(grid.Report{Suspensions: &grid.Suspensions{Times: 1, Bid: 1, Stood: -1}})},
		"suspended for long": {grid.KindBeat,
			reports(grid.Report{Suspensions: &grid.Suspensions{Times: 1, Bid: 1, Stood: grid.MaxTimeout + 1}})},
		"beat done":          {grid.KindBeat, said(grid.Progress{Done: math.NaN()})},
		"beat done negative": {grid.KindBeat, said(grid.Progress{Done: -1})},
		"beat total":         {grid.KindBeat, said(grid.Progress{Total: 2 * grid.MaxProgress})},
		"beat text":          {grid.KindBeat, said(grid.Progress{Text: "a\x1b[2J"})},
		"beat text long":     {grid.KindBeat, said(grid.Progress{Text: long[:grid.MaxProgressText+1]})},
		"result missing":     {grid.KindResult, func(m *grid.Message) { m.Result = nil }},
		"result cause":       {grid.KindResult, func(m *grid.Message) { m.Result.Cause = 0 }},
		"result inline": {grid.KindResult,
			func(m *grid.Message) { m.Result.Stdout.Inline = make([]byte, grid.MaxInline+1) }},
		"result size":    {grid.KindResult, func(m *grid.Message) { m.Result.Stderr.Size = -1 }},
		"result dropped": {grid.KindResult, func(m *grid.Message) { m.Result.Stderr.Dropped = -1 }},
		"result memory":  {grid.KindResult, func(m *grid.Message) { m.Result.MaxRSS = -1 }},
		"result wall":    {grid.KindResult, func(m *grid.Message) { m.Result.Wall = -1 }},
		"result next control": {grid.KindResult, func(m *grid.Message) {
			m.Result.Cause, m.Result.Next = grid.Lost, "\n"
		}},
		"result next long": {grid.KindResult, func(m *grid.Message) {
			m.Result.Cause, m.Result.Next = grid.Lost, long[:grid.MaxClass+1]
		}},
		"result next of an exit": {grid.KindResult, func(m *grid.Message) {
			m.Result.Cause, m.Result.Next = grid.Exited, "large"
		}},
		"result outside":    {grid.KindResult, func(m *grid.Message) { m.Result.Outputs[0].Path = "../x" }},
		"result no content": {grid.KindResult, func(m *grid.Message) { m.Result.Outputs[0].Blob = grid.BlobID{} }},
		"result outputs": {grid.KindResult,
			func(m *grid.Message) { m.Result.Outputs = make([]grid.File, grid.MaxFiles+1) }},
		"find asker":     {grid.KindFind, func(m *grid.Message) { m.Find.Asker = grid.NodeID{} }},
		"find needs":     {grid.KindFind, func(m *grid.Message) { m.Find.Needs.CPU = 0 }},
		"find engine":    {grid.KindFind, func(m *grid.Message) { m.Find.Engine = long }},
		"find left":      {grid.KindFind, func(m *grid.Message) { m.Find.Left = grid.MaxHops + 1 }},
		"find hops":      {grid.KindFind, func(m *grid.Message) { m.Find.Hops = grid.MaxHops + 1 }},
		"find visited":   {grid.KindFind, func(m *grid.Message) { m.Find.Visited = make([]grid.NodeID, grid.MaxVisited+1) }},
		"find within":    {grid.KindFind, func(m *grid.Message) { m.Find.Within = -1 }},
		"call asker":     {grid.KindCall, func(m *grid.Message) { m.Find.Asker = grid.NodeID{} }},
		"hit ad":         {grid.KindHit, func(m *grid.Message) { m.Digest = nil }},
		"bye two":        {grid.KindBye, func(m *grid.Message) { m.Digest = append(m.Digest, m.Digest[0]) }},
		"digest hops":    {grid.KindDigest, func(m *grid.Message) { m.Digest[0].Hops = grid.MaxHops + 1 }},
		"digest no ad":   {grid.KindDigest, func(m *grid.Message) { m.Digest[0].Ad = nil }},
		"digest ads":     {grid.KindDigest, func(m *grid.Message) { fillDigest(m, grid.MaxAds+1, 100) }},
		"digest ad size": {grid.KindDigest, func(m *grid.Message) { fillDigest(m, 1, int(grid.MaxAdSize)+1) }},
		"digest size":    {grid.KindDigest, func(m *grid.Message) { fillDigest(m, 5, int(grid.MaxAdSize)) }},
		"no kind":        {grid.KindPoll, func(m *grid.Message) { m.Kind = 0 }},
		"later kind":     {grid.KindPoll, func(m *grid.Message) { m.Kind = grid.Kind(grid.Kinds) }},
	} {
		t.Run(name, func(t *testing.T) {
			var m grid.Message
			var codec Codec
			exampleMessage(t, c.kind, &m)
			c.spoil(&m)
			b, err := codec.Append([]byte("before"), &m, nil)
			if r := Reason(err); r != "bound" && r != "kind" && r != "malformed" || string(b) != "before" {
				t.Errorf("%d bytes, error %v", len(b), err)
			}
		})
	}
}

func fillDigest(m *grid.Message, n, size int) {
	m.Digest = nil
	for range n {
		m.Digest = append(m.Digest, grid.AdEntry{Ad: &grid.Ad{Sealed: make([]byte, size)}})
	}
}

// Decode refuses messages beyond the bounds, whatever the sender's own checks.
func TestDecodeBounds(t *testing.T) {
	at := putAttempt(exampleAttempt(0))
	job := putJob(exampleJob())
	many := func(n int) (out [][]byte) {
		for range n {
			out = append(out, []byte("x"))
		}
		return out
	}
	offer := func(s *pb.JobSpec) *pb.Offer { return &pb.Offer{Attempt: at, Spec: encoded(t, s)} }
	spec := encoded(t, putSpec(exampleSpec()))
	ended := func(r *pb.Result) *pb.Ended { r.Cause = 1; return &pb.Ended{Attempt: at, Result: r} }
	lost := func(next string) *pb.Ended {
		return &pb.Ended{Attempt: at, Result: &pb.Result{Cause: uint32(grid.Lost), Next: next}}
	}
	long := strings.Repeat("x", 70_000)
	for name, c := range map[string]struct {
		kind grid.Kind
		body proto.Message
		want error
	}{
		"offer of 1025 words":  {grid.KindOffer, offer(&pb.JobSpec{Command: many(grid.MaxArgs + 1)}), ErrBound},
		"offer of a long word": {grid.KindOffer, offer(&pb.JobSpec{Command: [][]byte{[]byte(long)}}), ErrBound},
		"offer of long words": {grid.KindOffer,
			offer(&pb.JobSpec{Command: [][]byte{[]byte(long[:40_000]), []byte(long[:40_000])}}), ErrBound},
		"offer of 65 patterns":   {grid.KindOffer, offer(&pb.JobSpec{Outputs: many(grid.MaxGlobs + 1)}), ErrBound},
		"offer of 257 variables": {grid.KindOffer, offer(&pb.JobSpec{Env: make([]*pb.Var, grid.MaxEnv+1)}), ErrBound},
		"offer of 1025 inputs":   {grid.KindOffer, offer(&pb.JobSpec{Inputs: make([]*pb.File, grid.MaxFiles+1)}), ErrBound},
		"offer of 65 labels": {grid.KindOffer,
			offer(&pb.JobSpec{Needs: &pb.Needs{Labels: make([]*pb.LabelNeed, grid.MaxLabels+1)}}), ErrBound},
		"offer of a long expression": {grid.KindOffer,
			offer(&pb.JobSpec{Needs: &pb.Needs{Where: long[:513]}}), ErrBound},
		"offer of a wrong expression": {grid.KindOffer,
			offer(&pb.JobSpec{Needs: &pb.Needs{Where: "node.cpu >"}}), ErrBound},
		"offer of a rank that is no number": {grid.KindOffer, offer(&pb.JobSpec{Rank: "node.cpu > 1"}), ErrBound},
		"offer of a long path": {grid.KindOffer,
			offer(&pb.JobSpec{Inputs: []*pb.File{{Path: []byte(long[:grid.MaxPath+1])}}}), ErrBound},
		"beat of 65 reports": {grid.KindBeat, &pb.Attempts{Reports: make([]*pb.Report, grid.MaxReports+1)}, ErrBound},
		"suspended by a bid too high": {grid.KindBeat,
			&pb.Attempts{Reports: []*pb.Report{{Suspensions: 1, ByBid: math.MaxUint32}}}, ErrBound},
		"beat report far away": {grid.KindBeat, &pb.Attempts{Reports: []*pb.Report{{At: math.MaxUint32}}}, ErrBound},
		"offer of half a hash": {grid.KindOffer,
			offer(&pb.JobSpec{Inputs: []*pb.File{{Path: []byte("a"), Blob: make([]byte, 16)}}}), ErrBound},
		"offer without a spec":     {grid.KindOffer, &pb.Offer{Attempt: at}, ErrMalformed},
		"offer without an attempt": {grid.KindOffer, &pb.Offer{Spec: spec}, ErrBound},
		"offer negative lease":     {grid.KindOffer, &pb.Offer{Attempt: at, Spec: spec, Lease: -1}, ErrBound},
		"offer endless age":        {grid.KindOffer, &pb.Offer{Attempt: at, Spec: spec, Age: int64(MaxSpan) + 1}, ErrBound},
		"offer bad spec":           {grid.KindOffer, offer(&pb.JobSpec{Name: "x"}), ErrBound},
		"result without a result":  {grid.KindResult, &pb.Ended{Attempt: at}, ErrMalformed},
		"result inline": {grid.KindResult,
			ended(&pb.Result{Stdout: &pb.Output{Inline: make([]byte, grid.MaxInline+1)}}), ErrBound},
		"result error long":      {grid.KindResult, ended(&pb.Result{Error: long[:grid.MaxText+1]}), ErrBound},
		"result error control":   {grid.KindResult, ended(&pb.Result{Error: "\x1b[31m"}), ErrBound},
		"result next control":    {grid.KindResult, lost("\n"), ErrBound},
		"result next long":       {grid.KindResult, lost(long[:grid.MaxClass+1]), ErrBound},
		"result next of an exit": {grid.KindResult, ended(&pb.Result{Next: "large"}), ErrBound},
		"result endless":         {grid.KindResult, ended(&pb.Result{Wall: math.MaxInt64}), ErrBound},
		"result negative":        {grid.KindResult, ended(&pb.Result{Cpu: -1}), ErrBound},
		"result no cause":        {grid.KindResult, &pb.Ended{Attempt: at, Result: &pb.Result{}}, ErrBound},
		"result half a hash":     {grid.KindResult, ended(&pb.Result{Stdout: &pb.Output{Blob: make([]byte, 3)}}), ErrBound},
		"refuse detail":          {grid.KindRefuse, &pb.Refuse{Attempt: at, Detail: "a\nb"}, ErrBound},
		"refuse short job":       {grid.KindRefuse, &pb.Refuse{Attempt: &pb.Attempt{Job: job[:41]}}, ErrBound},
		"poll rates 18": {grid.KindPoll,
			&pb.Poll{Rates: &pb.Rates{Class: make([]string, 18), Alpha: make([]float64, 18), Mu: make([]float64, 18)}},
			ErrBound},
		"poll rates ragged": {grid.KindPoll, &pb.Poll{Rates: &pb.Rates{Class: []string{"a"}, Alpha: []float64{1}}},
			ErrMalformed},
		"poll rate NaN": {grid.KindPoll,
			&pb.Poll{Rates: &pb.Rates{Class: []string{"a"}, Alpha: []float64{math.NaN()}, Mu: []float64{0}}}, ErrBound},
		"poll speed Inf":        {grid.KindPoll, &pb.Poll{Speed: math.Inf(1)}, ErrBound},
		"state ect negative":    {grid.KindState, &pb.State{Ect: -1}, ErrBound},
		"state price":           {grid.KindState, &pb.State{Price: math.MaxUint32}, ErrBound},
		"state outbid":          {grid.KindState, &pb.State{Outbid: uint32(grid.MaxBid) + 1}, ErrBound},
		"state bids":            {grid.KindState, &pb.State{Bids: math.MaxUint64}, ErrBound},
		"state waiting":         {grid.KindState, &pb.State{Waiting: math.MaxUint32}, ErrBound},
		"state ran negative":    {grid.KindState, &pb.State{Ran: -1}, ErrBound},
		"state backlog endless": {grid.KindState, &pb.State{Backlog: math.MaxInt64}, ErrBound},
		"beat ragged": {grid.KindBeat, &pb.Attempts{Jobs: job, Runs: []uint32{1}, Index: []uint32{1},
			Epoch: []uint32{1, 2}, N: []uint32{1}}, ErrMalformed},
		"beat jobs short": {grid.KindBeat, &pb.Attempts{Jobs: job[:40], Runs: []uint32{1}, Index: []uint32{1},
			Epoch: []uint32{1}, N: []uint32{1}}, ErrMalformed},
		"beat run of none": {grid.KindBeat, &pb.Attempts{Jobs: append(job[:42:42], job...), Runs: []uint32{0, 1},
			Index: []uint32{1}, Epoch: []uint32{1}, N: []uint32{1}}, ErrMalformed},
		"beat run too long": {grid.KindBeat, &pb.Attempts{Jobs: job, Runs: []uint32{math.MaxUint32}, Index: []uint32{1},
			Epoch: []uint32{1}, N: []uint32{1}}, ErrMalformed},
		"beat beyond the runs": {grid.KindBeat, &pb.Attempts{Jobs: job, Runs: []uint32{1}, Index: []uint32{1, 2},
			Epoch: []uint32{1, 2}, N: []uint32{1, 2}}, ErrMalformed},
		"beat of 2000": {grid.KindBeat, &pb.Attempts{Jobs: job, Runs: []uint32{2000}, Index: make([]uint32, 2000),
			Epoch: make([]uint32, 2000), N: make([]uint32, 2000)}, ErrBound},
		"accept of none": {grid.KindAccept, &pb.Attempts{}, ErrBound},
		"accept of two": {grid.KindAccept, &pb.Attempts{Jobs: job, Runs: []uint32{2}, Index: make([]uint32, 2),
			Epoch: make([]uint32, 2), N: make([]uint32, 2)}, ErrBound},
		"find left 256":    {grid.KindFind, &pb.Search{Find: &pb.Find{Asker: job[:32], Left: 256}}, ErrBound},
		"find hops 300":    {grid.KindFind, &pb.Search{Find: &pb.Find{Asker: job[:32], Hops: 300}}, ErrBound},
		"find asker short": {grid.KindFind, &pb.Search{Find: &pb.Find{Asker: job[:31]}}, ErrBound},
		"find visited odd": {grid.KindFind, &pb.Search{Find: &pb.Find{Asker: job[:32], Visited: job}}, ErrBound},
		"find visited 33": {grid.KindFind, &pb.Search{Find: &pb.Find{Asker: job[:32], Visited: make([]byte, 33*nodeSize)}},
			ErrBound},
		"find no asker": {grid.KindCall, &pb.Search{Find: &pb.Find{Needs: &pb.Needs{Cpu: 1}}}, ErrBound},
		"find no needs": {grid.KindFind, &pb.Search{Find: &pb.Find{Asker: job[:32]}}, ErrBound},
		"hit no ad":     {grid.KindHit, &pb.Search{}, ErrMalformed},
		"digest of 65":  {grid.KindDigest, &pb.Digest{Ads: make([]*pb.Entry, grid.MaxAds+1)}, ErrBound},
		"digest hops":   {grid.KindDigest, &pb.Digest{Ads: []*pb.Entry{{Hops: 256}}}, ErrBound},
		"digest long ad": {grid.KindDigest, &pb.Digest{Ads: []*pb.Entry{{Sealed: make([]byte, grid.MaxAdSize+1)}}},
			ErrBound},
		"digest of 20 KiB": {grid.KindDigest,
			&pb.Digest{Ads: []*pb.Entry{{Sealed: make([]byte, 4096)}, {Sealed: make([]byte, 4096)}, {Sealed: make([]byte, 4096)},
				{Sealed: make([]byte, 4096)}, {Sealed: []byte{1}}}}, ErrBound},
		"digest of 30 KiB": {grid.KindDigest, &pb.Digest{Ads: []*pb.Entry{{Sealed: make([]byte, 30<<10)}}}, ErrSize},
		"bye of two":       {grid.KindBye, &pb.Digest{Ads: make([]*pb.Entry, 2)}, ErrBound},
		"unknown kind":     {60, &pb.Poll{}, ErrKind},
	} {
		t.Run(name, func(t *testing.T) {
			var codec Codec
			var m grid.Message
			err := codec.Decode(frame(t, c.kind, c.body), &m, Open)
			if !errors.Is(err, c.want) || m.Kind != 0 {
				t.Errorf("kind %v, error %v, want %v", m.Kind, err, c.want)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}
