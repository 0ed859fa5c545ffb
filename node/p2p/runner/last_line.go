package runner

import (
	"io"
	"os"

	"skep/exec/process"
	"skep/grid"
)

// lastLine returns the last line that is not empty of what an attempt wrote to its standard error, as far as it stands
// in the last grid.MaxInline bytes; "" if there is none, or the file cannot be read.
func lastLine(dir string) string {
	f, err := os.Open(process.Output(dir, process.Stderr))
	if err != nil {
		return ""
	}
	defer f.Close()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	tail := make([]byte, min(end, int64(grid.MaxInline)))
	if _, err := f.ReadAt(tail, end-int64(len(tail))); err != nil && err != io.EOF {
		return ""
	}
	return grid.LastLine(tail)
}
