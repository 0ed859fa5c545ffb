package p2p

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"time"

	"skep/grid"
	"skep/node/p2p/disk"
)

// What of the node's history counts.
const (
	uptimeFile         = "uptime"
	uptimeHalfLife     = 7 * 24 * time.Hour // an hour of so long ago counts half
	uptimePrior        = 6 * time.Hour      // for so long every node is taken to have been up before its first start
	uptimeSaveInterval = 5 * time.Minute    // between two writes: what a crash makes wrong
	uptimeChange       = 0.05               // by so much the share must change to be told
	sleepGap           = time.Minute        // who was not looked at for so long slept
)

// uptime is the history of a node's sessions: for how long it was up and away, with what is long ago counting less.
type uptime struct {
	Up   float64   `json:"up_seconds"`
	Away float64   `json:"away_seconds"`
	Seen time.Time `json:"seen"` // up to when that is known

	file     string
	at       grid.Time // of the last look
	saved    time.Time
	reported float64
}

// openUptime reads it from the data folder. That it was away since it was last seen is part of it.
func openUptime(dir string, wall time.Time) *uptime {
	u := &uptime{file: filepath.Join(dir, uptimeFile), reported: 1}
	b, err := os.ReadFile(u.file)
	if err != nil || json.Unmarshal(b, u) != nil || !(u.Up >= 0 && u.Away >= 0) || math.IsInf(u.Up+u.Away, 0) {
		u.Up, u.Away, u.Seen = 0, 0, wall
	}
	u.advance(wall.Sub(u.Seen), false)
	u.Seen = wall
	return u
}

// advance lets time go by: with c = half/ln 2, what there is fades to the part f = 2^(−d/half), and c·(1−f) comes.
func (u *uptime) advance(d time.Duration, up bool) {
	d = max(d, 0) // a clock that was set back
	c, f := uptimeHalfLife.Seconds()/math.Ln2, math.Exp2(-d.Seconds()/uptimeHalfLife.Seconds())
	u.Up, u.Away = u.Up*f, u.Away*f
	if up {
		u.Up += c * (1 - f)
	} else {
		u.Away += c * (1 - f)
	}
}

// share is the part of the time in which the node was up.
func (u *uptime) share() float64 {
	known := uptimePrior.Seconds()
	return (u.Up + known) / (u.Up + u.Away + known)
}

// update goes on until now, and reports the share and whether it has become something else than was told. A machine that slept
// in between was away.
func (u *uptime) update(at grid.Time, wall time.Time) (share float64, moved bool) {
	if u.at > 0 {
		d := at.Sub(u.at)
		u.advance(d, d < sleepGap)
	}
	u.at, u.Seen = at, wall
	if wall.Sub(u.saved) >= uptimeSaveInterval || wall.Before(u.saved) {
		u.save(wall)
	}
	share = u.share()
	if moved = math.Abs(share-u.reported) >= uptimeChange; moved {
		u.reported = share
	}
	return u.reported, moved
}

// save writes it down. That it cannot be written is no reason to stop: then the time until now will count as away.
func (u *uptime) save(wall time.Time) {
	u.saved = wall
	if b, err := json.Marshal(u); err == nil {
		disk.WriteFile(u.file, b)
	}
}
