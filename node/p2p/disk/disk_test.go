package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skep/internal/crash"
)

func content(n int) string { return strings.Repeat(fmt.Sprint(n), 10_000) }

func script(dir string) error {
	dir = filepath.Join(dir, "a", "b")
	if err := MakeFolder(dir, 0o700); err != nil {
		return err
	}
	fmt.Println("folder")
	for n := range 3 {
		if err := WriteFile(filepath.Join(dir, "file"), []byte(content(n))); err != nil {
			return err
		}
		fmt.Println(n)
	}
	return nil
}

func TestMain(m *testing.M) {
	crash.Main(map[string]func(string) error{"write": script})
	os.Exit(m.Run())
}

// After any crash a file has the content of the last WriteFile that returned, or of the one under way.
func TestPowerLoss(t *testing.T) {
	crash.Recorded(t, "write").Survives(t, 1, func(dir string, acked []string) error {
		b, err := os.ReadFile(filepath.Join(dir, "a", "b", "file"))
		n := len(acked) - 1 // completed writes
		switch {
		case len(acked) > 0 && errors.Is(err, os.ErrNotExist):
			if _, err := os.Stat(filepath.Join(dir, "a", "b")); err != nil || n > 0 {
				return fmt.Errorf("the file or its folder is lost: %v", err)
			}
		case len(acked) > 0 && err != nil:
			return err
		case err == nil && (n < 1 || string(b) != content(n-1)) && string(b) != content(n):
			return fmt.Errorf("after %d writes it has %d bytes, %.10q …", n, len(b), b)
		}
		return nil
	})
}
