package utility

import "math"

// Facts are what is known of a task under one of its options. Times are in seconds.
type Facts struct {
	Value     float64 // that its owner gives to it, in credits
	Waited    float64 // time since its submission, t − s
	Length    float64 // the whole computation, on one processor of the reference speed, N
	Remaining float64 // time until its end from now, with this option, r
	Transfer  float64 // of Remaining, or before it: time that its inputs take to where the option is
	Cost      float64 // of running it, in credits or processor-seconds
	Risk      float64 // the probability that it fails, 0 to 1
}

// least is the time, cost or length below which a metric that divides by it grows no further. It keeps what is about to
// end from being worth more than everything else together.
const least = 1

// Metric is a figure of an option that is better where it is larger.
type Metric struct {
	Name string
	What string
	Of   func(f *Facts) float64
}

// Metrics are all there are.
var Metrics = []Metric{
	{"value", "the credits that the owner gives, v",
		func(f *Facts) float64 { return f.Value }},
	{"response_time", "the expected response time over the length, (t − s + r) / N: it grows while a task waits",
		func(f *Facts) float64 { return (f.Waited + f.Remaining) / max(f.Length, least) }},
	{"near_completion", "the length over the remaining time, N / r: it protects what is nearly done",
		func(f *Facts) float64 { return f.Length / max(f.Remaining, least) }},
	{"remaining_time", "1 / r: what ends soon is better",
		func(f *Facts) float64 { return 1 / max(f.Remaining, least) }},
	{"transfer_time", "1 over the time that the inputs take, B / d; at most 1, as of inputs that are there",
		func(f *Facts) float64 { return 1 / max(f.Transfer, least) }},
	{"cost", "1 over what it costs",
		func(f *Facts) float64 { return 1 / max(f.Cost, least) }},
	{"risk", "the probability that it does not fail, 1 − f",
		func(f *Facts) float64 { return 1 - min(f.Risk, 1) }},
}

// metric finds one by its name.
func metric(name string) *Metric {
	for k := range Metrics {
		if Metrics[k].Name == name {
			return &Metrics[k]
		}
	}
	return nil
}

// sane makes a figure that can be compared: what is no number, or below 0, is as bad as can be.
func sane(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, math.MaxFloat32)
}
