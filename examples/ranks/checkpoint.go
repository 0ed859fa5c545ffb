package ranks

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Checkpoint writes checkpoint step of this rank: its rows, as bytes of one length. All ranks write the same steps.
// Skep takes it while the program goes on. Where nobody asks for checkpoints it does nothing.
func Checkpoint(step int, own Share, row func(r int) []byte) error {
	if os.Getenv("SKEP_PROGRESS") == "" {
		return nil
	}
	folder := filepath.Join(os.Getenv("SKEP_WORK"), "state", strconv.Itoa(step))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(folder, fmt.Sprintf("rows-%d-%d", own.From, own.To)))
	if err != nil {
		return err
	}
	for r := own.From; r < own.To && err == nil; r++ {
		_, err = f.Write(row(r))
	}
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err != nil {
		return fmt.Errorf("checkpoint %d: %w", step, err)
	}
	return say("checkpoint %d\n", step) // after the files are closed: before, they do not count
}

// Progress has rank 0 say that so many iterations of all are done, once a second at most. Where nobody asks for it, or
// it cannot be said, the program goes on all the same.
func (w *World) Progress(done, all int) {
	if w.Rank == 0 && time.Since(w.told) >= time.Second {
		w.told = time.Now()
		say("progress %d %d\n", done, all)
	}
}

// say writes a line to who asks how far this program is, if anybody does.
func say(format string, numbers ...any) error {
	ask := os.Getenv("SKEP_PROGRESS")
	if ask == "" {
		return nil
	}
	to, err := os.OpenFile(ask, os.O_WRONLY|syscall.O_NONBLOCK, 0) // it is a FIFO, and may have no reader
	if err != nil {
		return err
	}
	defer to.Close()
	_, err = fmt.Fprintf(to, format, numbers...)
	return err
}

// Restart returns the checkpoint that this program is to begin from, and its rows: those of all ranks, whatever shares
// they had. Step 0 is the beginning: there is none.
func Restart() (step int, rows map[int][]byte, err error) {
	folder := os.Getenv("SKEP_CHECKPOINT")
	if folder == "" {
		return 0, nil, nil
	}
	if step, err = number("SKEP_CHECKPOINT_STEP"); err != nil {
		return 0, nil, err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*", "rows-*-*"))
	if err != nil || len(files) == 0 {
		return 0, nil, fmt.Errorf("checkpoint %d: %s has no rows (%w)", step, folder, err)
	}
	rows = make(map[int][]byte)
	for _, path := range files {
		var s Share
		if _, err := fmt.Sscanf(filepath.Base(path), "rows-%d-%d", &s.From, &s.To); err != nil {
			return 0, nil, fmt.Errorf("checkpoint %d: %s: %w", step, path, err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return 0, nil, err
		}
		for r := s.From; r < s.To; r++ {
			size := len(b) / (s.To - s.From)
			rows[r] = b[(r-s.From)*size : (r-s.From+1)*size]
		}
	}
	return step, rows, nil
}
