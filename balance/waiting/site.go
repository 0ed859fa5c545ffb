package waiting

import "cmp"

// Site is what a site says of itself, and what is known of it besides.
type Site struct {
	Free    int     // processors, A
	Total   int     // processors, C
	Queued  int     // tasks, Q
	Wanted  int     // processors for which these wait; 0 = one for each
	Waiting float64 // estimated waiting time of a new task, seconds
	MeanRun float64 // of earlier tasks there, seconds; 0 = there were none
	Matched int     // tasks that were given to it since it said so, M
}

// mean is the mean run time of tasks at the site. Usual is that of all sites, for one without a history; a second where
// that is 0, too.
func (s *Site) mean(usual float64) float64 { return cmp.Or(s.MeanRun, usual, 1) }

// FreePart is the free part of the processors, less what waits for them [1, equations 3.1 and 3.2]: at most 1, and
// negative where more waits than is free. It evens out what is free as long as there is something.
func (s *Site) FreePart() float64 {
	return float64(s.Free-max(s.Wanted, s.Queued)) / float64(max(s.Total, 1))
}

// Penalty is by how many seconds one task more is expected to lengthen the wait at the site: [1] leaves it to whoever
// runs the matchmaker.
func (s *Site) Penalty(usual float64) float64 { return s.mean(usual) / float64(max(s.Total, 1)) }

// WaitRank is the higher the better a site is: how soon a task starts there, with a penalty in seconds for each task
// that the site does not know of yet [1, equation 3.3].
func (s *Site) WaitRank(penalty float64) float64 { return -s.Waiting - penalty*float64(s.Matched) }

// Rank is the higher the better a site is: the free part of its processors where there are any, else the waiting time
// over the mean run time [1, equation 3.4].
func (s *Site) Rank(penalty, usual float64) float64 {
	return max(s.FreePart(), 0) + min(0, s.WaitRank(penalty)/s.mean(usual))
}

// Admits reports whether a site may have one more task that waits: what waits there, and what it was given since it
// said so, is less than a part of its processors [1, equation 3.5]. One may always.
func (s *Site) Admits(part float64) bool {
	return float64(s.Queued+s.Matched) < max(part*float64(s.Total), 1)
}

// AdmitsBeyondFree is Admits where tasks that it was given since it said so, and for which processors were free, do not
// count as waiting. As [1] has it they do, and a site that seldom says anything gets next to nothing while most of it
// is free.
func (s *Site) AdmitsBeyondFree(part float64) bool {
	return float64(s.Queued+max(s.Matched-s.Free, 0)) < max(part*float64(s.Total), 1)
}
