package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// ptyProgram is a program in a pseudo-terminal, with what its screen shows.
type ptyProgram struct {
	cmd  *exec.Cmd
	file *os.File
	done chan struct{} // closed when nothing more comes

	mu     sync.Mutex
	screen *vt.Emulator
	raw    bytes.Buffer // all that was written
}

// startTerminal runs a program in a pseudo-terminal.
func startTerminal(t *testing.T, cmd *exec.Cmd, width, height int) *ptyProgram {
	t.Helper()
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)})
	if err != nil {
		t.Fatal(err)
	}
	x := &ptyProgram{cmd: cmd, file: file, done: make(chan struct{}), screen: vt.NewEmulator(width, height)}
	replies := make(chan struct{})
	go func() { // what a terminal answers to questions about itself
		defer close(replies)
		_, _ = io.Copy(file, x.screen)
	}()
	go func() {
		defer close(x.done)
		buf := make([]byte, 32<<10)
		for {
			n, err := file.Read(buf)
			x.mu.Lock()
			x.raw.Write(buf[:n])
			_, _ = x.screen.Write(buf[:n])
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = file.Close()
		<-x.done
		_ = x.screen.Close()
		<-replies
	})
	return x
}

// text returns the lines of the screen.
func (x *ptyProgram) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.screen.String()
}

// shows waits until the screen has all texts.
func (x *ptyProgram) shows(t *testing.T, texts ...string) {
	t.Helper()
	until(t, "the screen has "+strings.Join(texts, ", "), func() bool {
		screen := x.text()
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

func (x *ptyProgram) keys(t *testing.T, keys string) {
	t.Helper()
	if _, err := x.file.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// written returns the bytes written so far.
func (x *ptyProgram) written() []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	return bytes.Clone(x.raw.Bytes())
}

func TestTopInATerminal(t *testing.T) {
	skep := buildSkep(t)
	m := startMember(t, skep, "", "--name", "alpha")
	m.run(t, "", "run", "--name", "short", "--", "echo", "done at once")
	m.run(t, "", "run", "--name", "long", "--detach", "--", "sh", "-c", "echo it has begun; sleep 300")
	cmd := exec.Command(skep, "--data-dir", m.dir, "top")
	x := startTerminal(t, cmd, 80, 24)
	x.shows(t, "at alpha: 1 nodes", "NODES", "CPUS FREE", "JOBS", " long ", " running ", " short ", " done ", "q quit")
	for _, line := range strings.Split(x.text(), "\n") {
		if n := len([]rune(strings.TrimRight(line, " "))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}

	// A second costs few bytes: what has not changed is not written again.
	from, clock := len(x.written()), x.text()[:len("skep top 12:00:00")]
	for range 3 {
		was := clock
		until(t, "a second passes", func() bool { clock = x.text()[:len(was)]; return clock != was })
	}
	if more := x.written()[from:]; len(more) > 2000 || bytes.Contains(more, []byte("\x1b[2J")) {
		t.Errorf("%d bytes in 3 seconds, %q…: want only what has changed", len(more), more[:min(len(more), 200)])
	}

	x.keys(t, "l")
	x.shows(t, "output of task 0 of job", "it has begun")
	x.keys(t, "q")
	x.shows(t, "JOBS")
	x.keys(t, "e")
	x.shows(t, "explanation of job", "chose alpha")
	x.keys(t, "q")

	if err := pty.Setsize(x.file, &pty.Winsize{Rows: 30, Cols: 110}); err != nil {
		t.Fatal(err)
	}
	x.mu.Lock()
	x.screen.Resize(110, 30)
	x.mu.Unlock()
	x.shows(t, "TAKES NO WORK") // a column for which 80 have no room

	x.keys(t, "c")
	x.shows(t, "cancel job", "(0 of 1 tasks ended)?", "long")
	x.keys(t, "n")
	x.shows(t, "not cancelled", " running ")
	x.keys(t, "c")
	x.shows(t, "cancel job")
	x.keys(t, "y")
	x.shows(t, " cancelled ")

	m.kill()
	x.shows(t, "the node does not answer, what is shown is", " cancelled ")
	m.start(t)
	until(t, "the node answers again", func() bool { return strings.Contains(x.text(), "at alpha") })

	x.keys(t, "q")
	if err := cmd.Wait(); err != nil {
		t.Errorf("top ends with %v", err)
	}
	<-x.done
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.screen.IsAltScreen() || x.screen.CursorHidden() {
		t.Error("the terminal is not as before: the other screen, or no cursor")
	}
}

// An interrupt leaves the terminal as it was.
func TestTopInterrupted(t *testing.T) {
	skep := buildSkep(t)
	m := startMember(t, skep, "", "--name", "alpha")
	cmd := exec.Command(skep, "--data-dir", m.dir, "top")
	x := startTerminal(t, cmd, 80, 24)
	x.shows(t, "at alpha")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	<-x.done
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.screen.IsAltScreen() || x.screen.CursorHidden() {
		t.Error("the terminal is not as before: the other screen, or no cursor")
	}
}
