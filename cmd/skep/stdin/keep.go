package stdin

import (
	"context"
	"fmt"
	"io"
	"os"
)

// Keep copies a standard input to a temporary file, which the caller removes.
func Keep(ctx context.Context, in io.Reader, most int64) (name string, err error) {
	f, err := os.CreateTemp("", "skep-stdin-")
	if err != nil {
		return "", fmt.Errorf("keep the standard input: %w", err)
	}
	copied := make(chan error, 1)
	go func() {
		n, err := io.Copy(f, io.LimitReader(in, most+1))
		if err == nil && n > most {
			err = fmt.Errorf("it has more than %d bytes", most)
		}
		copied <- err
	}()
	select {
	case err = <-copied:
		if err2 := f.Close(); err == nil {
			err = err2
		}
	case <-ctx.Done(): // a read may never end
		err = context.Cause(ctx)
	}
	if err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("keep the standard input: %w", err)
	}
	return f.Name(), nil
}
