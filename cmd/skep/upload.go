package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"skep/cmd/skep/progress"
	"skep/cmd/skep/terminal"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// display returns a display of progress on the error stream. Close ends it.
func (a *app) display() *progress.Display { return progress.Open(a.err, a.quiet, os.Getenv("TERM")) }

// passingDisplay is display for a verb that a signal just ends: the bar goes first. done ends both.
func (a *app) passingDisplay() (line *progress.Display, done func()) {
	line = a.display()
	signals, over := make(chan os.Signal, 1), make(chan struct{})
	for _, s := range terminal.Ends {
		if isTerminal(a.err) && !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		select {
		case s := <-signals:
			line.Close()
			terminal.EndBy(s.(syscall.Signal))
		case <-over:
		}
	}()
	return line, func() {
		line.Close()
		signal.Stop(signals)
		close(over)
	}
}

// upload uploads the files that the node does not have, and adds them to the spec. Each is read for its hash and again
// to be sent: half of its bytes count each time.
func upload(ctx context.Context, c *client.Client, spec *v1.Spec, files []inputFile, d *progress.Display) error {
	total := int64(0)
	for i := range files {
		total += files[i].to.Size
	}
	moved := d.Transfer("upload", total)
	for _, f := range files {
		if f.content != nil {
			f.to.Blob = fmt.Sprintf("%x", sha256.Sum256(f.content))
		} else if f.source != "" {
			hash, size, err := hashFile(ctx, f.source, moved.Counter(0.5))
			if err != nil {
				return fmt.Errorf("input %w", err)
			}
			f.to.Blob, f.to.Size = hash, size
		}
		size, has, err := c.HasBlob(ctx, f.to.Blob)
		if err != nil {
			return err
		}
		switch {
		case f.source == "" && !has:
			return fmt.Errorf("input %s: the node has no blob of this hash", f.to.Blob)
		case f.source == "":
			f.to.Size = size
		case has:
			moved.Add(f.to.Size, 0.5)
		default:
			if err := send(ctx, c, &f, moved.Counter(0.5)); err != nil {
				return fmt.Errorf("input %s: %w", f.source, err)
			}
		}
		for _, only := range f.only {
			only.Input = uint32(len(spec.Inputs))
			spec.Array.Inputs = append(spec.Array.Inputs, only)
		}
		spec.Inputs = append(spec.Inputs, f.to)
	}
	return nil
}

// hashFile returns the hash and the size of a file. An interrupt ends it, however large the file.
func hashFile(ctx context.Context, name string, read io.Writer) (string, int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(h, read), untilDone{ctx, f})
	return hex.EncodeToString(h.Sum(nil)), n, err
}

// untilDone is a reader that fails once a context is over.
type untilDone struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (r untilDone) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

func send(ctx context.Context, c *client.Client, f *inputFile, sent io.Writer) error {
	if f.content != nil {
		return c.PutBlob(ctx, f.to.Blob, f.to.Size, bytes.NewReader(f.content))
	}
	r, err := os.Open(f.source)
	if err != nil {
		return err
	}
	defer r.Close()
	return c.PutBlob(ctx, f.to.Blob, f.to.Size, io.TeeReader(r, sent))
}
