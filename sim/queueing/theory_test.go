package queueing

import "testing"

func TestSmoke(t *testing.T) {
	r := mustRun(t, simple(0.5, 1, 1), Options{Policies: []string{"mct", "fcfs"}, Time: 500000})
	for _, x := range r.Results {
		t.Logf("%+v", x)
	}
	r = mustRun(t, system4A(false), Options{Policies: []string{"mct", "kpb:3", "lpas_dec", "lpas_dec_2k", "lp_static", "gcmu", "lpas_dg"}, Time: 5000})
	for _, x := range r.Results {
		t.Logf("%s Q %.3f±%.3f W %.4f msg %.3f %.3f stable %v little %.4f %.3gM/s", x.Policy, x.Q.Mean, x.Q.Half, x.W.Mean, x.Messages.Remote, x.Messages.All, x.Stable, x.Little, x.TasksPerSecond/1e6)
	}
}
