package testnet

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// taskKey names a task, runKey an attempt of it.
type taskKey struct {
	job   string
	index uint32
}

type runKey struct {
	taskKey
	attempt string // EPOCH.N
}

// runLog is what tasks themselves wrote down: where and when each attempt began and ended. Times are seconds of the
// machine's uptime, which all containers share.
type runLog struct {
	runs  map[runKey]*run
	tasks map[taskKey][]*run // as they began
	torn  int                // lines that cannot be read
}

// run is an attempt as it says itself.
type run struct {
	key         runKey
	node        string
	begun       float64
	ended       float64 // 0: it did not come to its end
	begins, end int     // how often it wrote so
}

// taskScript is what each task does: it says that it begins, waits a second or two, or for 10 to 40 if it is long, and
// says that it ends.
func taskScript(log string, long bool) string {
	wait := "1.$((SKEP_INDEX % 10))"
	if long {
		wait = "$((10 + SKEP_INDEX * 7 % 31))"
	}
	say := func(what string) string {
		return `read t x </proc/uptime; echo "` + what + ` $SKEP_JOB $SKEP_INDEX $SKEP_ATTEMPT $SKEP_NODE $t" >>` + log
	}
	return say("b") + `; echo "$SKEP_JOB $SKEP_INDEX $SKEP_ATTEMPT $SKEP_NODE"; sleep ` + wait + `; ` + say("e")
}

// readLog reads what tasks wrote.
func readLog(name string) (*runLog, error) {
	l := &runLog{runs: map[runKey]*run{}, tasks: map[taskKey][]*run{}}
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if err := l.line(s.Text()); err != nil {
			l.torn++
		}
	}
	return l, nil
}

func (l *runLog) line(text string) error {
	w := strings.Fields(text)
	if len(w) != 6 || w[0] != "b" && w[0] != "e" {
		return fmt.Errorf("%.80q is no line of a task", text)
	}
	index, err := strconv.ParseUint(w[2], 10, 32)
	if err != nil {
		return err
	}
	at, err := strconv.ParseFloat(w[5], 64)
	if err != nil {
		return err
	}
	key := runKey{taskKey{w[1], uint32(index)}, w[3]}
	r := l.runs[key]
	if r == nil {
		r = &run{key: key, node: w[4], begun: at}
		l.runs[key] = r
		l.tasks[key.taskKey] = append(l.tasks[key.taskKey], r)
	}
	if w[0] == "b" {
		r.begins++
	} else {
		r.end++
		r.ended = at
	}
	return nil
}

// uptime is the machine's, in seconds.
func uptime() float64 {
	b, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0
	}
	text, _, _ := strings.Cut(string(b), " ")
	t, _ := strconv.ParseFloat(text, 64)
	return t
}
