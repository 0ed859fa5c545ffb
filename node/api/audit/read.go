package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Read calls f with the acts in a data folder since a time, oldest first, also while a node appends to them. It returns
// the number of lines that are none, as one that a crash has cut short.
func Read(data string, since time.Time, f func(*Act) error) (bad int, err error) {
	files, err := openAll(filepath.Join(data, Folder))
	defer func() {
		for _, file := range files {
			file.Close()
		}
	}()
	for _, file := range slices.Backward(files) {
		if err == nil {
			err = read(file, since, &bad, f)
		}
	}
	if err != nil {
		return bad, fmt.Errorf("audit: %w", err)
	}
	return bad, nil
}

// openAll opens the files that there are, newest first: one that becomes a former one meanwhile is met twice, not
// missed.
func openAll(dir string) (files []*os.File, err error) {
	var last os.FileInfo
	for at := range Files {
		file, err := os.Open(name(dir, at))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return files, err
		}
		info, err := file.Stat()
		if err != nil || last != nil && os.SameFile(info, last) {
			file.Close()
			continue
		}
		last, files = info, append(files, file)
	}
	return files, nil
}

func read(file *os.File, since time.Time, bad *int, f func(*Act) error) error {
	lines := bufio.NewReaderSize(io.LimitReader(file, 2*MaxBytes), 2*maxLine)
	for {
		line, err := lines.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) { // longer than any that is written
			line = nil
			_, err = lines.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		ended := err != nil
		var a Act
		switch {
		case ended && len(line) == 0:
			return nil
		case json.Unmarshal(line, &a) != nil || a.Time.IsZero():
			*bad++
		case !a.Time.Before(since):
			if err := f(&a); err != nil {
				return err
			}
		}
		if ended {
			return nil
		}
	}
}
