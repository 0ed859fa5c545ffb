package machine

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"time"

	"skep/grid"
	"skep/node/p2p/disk"
)

// Parameters of the node's uptime.
const (
	uptimeFile         = "uptime"
	uptimeHalfLife     = 7 * 24 * time.Hour // half-life of the history
	uptimePrior        = 6 * time.Hour      // prior: every node counts as up for so long before its first start
	uptimeSaveInterval = 5 * time.Minute    // between two writes: bounds the error of a crash
	uptimeChange       = 0.05               // change of the share that is reported
	sleepGap           = time.Minute        // a longer pause between two updates counts as sleep
)

// uptime is the history of a node's sessions: for how long it was up and away, with exponential decay.
type uptime struct {
	Up   float64   `json:"up_seconds"`
	Away float64   `json:"away_seconds"`
	Seen time.Time `json:"seen"` // up to when the history is known

	file     string
	at       grid.Time // time of the last update
	saved    time.Time
	reported float64
}

// openUptime reads the history from the data folder. The time since it was last written counts as away.
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

// advance adds time d: with c = half/ln 2, the history decays to the part f = 2^(−d/half), and c·(1−f) is added.
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

// update advances the history to now, and returns the share and whether the reported value has changed. A machine
// that slept in between was away.
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

// save writes the history. A write error is ignored: the time until now will count as away.
func (u *uptime) save(wall time.Time) {
	u.saved = wall
	if b, err := json.Marshal(u); err == nil {
		disk.WriteFile(u.file, b)
	}
}
