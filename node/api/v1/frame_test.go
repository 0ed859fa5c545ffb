package v1

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

func TestFramesComeAsTheyWereWritten(t *testing.T) {
	var b bytes.Buffer
	w := NewFrameWriter(&b, func() error { return nil })
	long := bytes.Repeat([]byte("x"), MaxFrame+1)
	w.Stream(FrameStdout, 7).Write(long)
	w.Write(FrameStderr, 8, nil)
	if err := w.Event(9, &Event{Event: EventError, Error: string(long)}); err == nil {
		t.Error("an event that no reader takes was written")
	}
	r := NewFrameReader(&b)
	for _, want := range []struct {
		kind FrameKind
		task uint32
		size int
	}{{FrameStdout, 7, MaxFrame}, {FrameStdout, 7, 1}, {FrameStderr, 8, 0}} {
		f, err := r.Next()
		if err != nil || f.Kind != want.kind || f.Task != want.task || len(f.Data) != want.size {
			t.Errorf("kind %d of task %d with %d bytes, %v: want %+v", f.Kind, f.Task, len(f.Data), err, want)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

// FuzzFrames reads arbitrary bytes: every frame is one that the bytes contain, and a regular end is distinguished
// from a truncated one.
func FuzzFrames(f *testing.F) {
	var b bytes.Buffer
	w := NewFrameWriter(&b, func() error { return nil })
	w.Write(FrameStdout, 1, []byte("hello"))
	w.Event(1, &Event{Event: EventEnd})
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()-1])
	f.Add(binary.BigEndian.AppendUint32([]byte{1, 0, 0, 0, 0}, MaxFrame+1))
	f.Fuzz(func(t *testing.T, data []byte) {
		var again bytes.Buffer
		w := NewFrameWriter(&again, func() error { return nil })
		r := NewFrameReader(bytes.NewReader(data))
		for {
			frame, err := r.Next()
			if err != nil {
				if (err == io.EOF) != (again.Len() == len(data)) || errors.Is(err, io.ErrUnexpectedEOF) &&
					again.Len() == len(data) {
					t.Errorf("%v after %d of %d bytes", err, again.Len(), len(data))
				}
				break
			}
			w.Write(frame.Kind, frame.Task, frame.Data)
		}
		if !bytes.HasPrefix(data, again.Bytes()) {
			t.Errorf("read %q from %q", again.Bytes(), data)
		}
	})
}
