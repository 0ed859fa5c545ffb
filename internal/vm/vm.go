package vm

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var kernel = flag.String("vm.kernel", "",
	"a bzImage of Linux 5.14 or newer: tests that want a virtual machine run in one with qemu-system-x86_64")

// limit bounds how long the machine may take, from its start to its end.
const limit = 10 * time.Minute

const (
	qemu    = "qemu-system-x86_64"
	busybox = "/bin/busybox" // a static one
	ended   = "the test has ended: "
)

var (
	//go:embed init.sh
	initScript []byte
	//go:embed tests.sh
	testScript string
)

// Run runs tests of the calling test's own binary in a machine, by these arguments, and fails the calling test if they
// fail there. It returns what they print, and skips the calling test without -vm.kernel. The binary must be static.
func Run(t testing.TB, args ...string) string {
	t.Helper()
	if *kernel == "" {
		t.Skip("no -vm.kernel")
	}
	for _, program := range []string{qemu, busybox} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	image := filepath.Join(dir, "image")
	if err := makeImage(t.Context(), filepath.Join(dir, "root"), image, args); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, qemu, "-accel", "tcg", "-cpu", "max", "-smp", "2", "-m", "512",
		"-nographic", "-no-reboot", "-nic", "none", "-kernel", *kernel, "-initrd", image,
		"-append", "console=ttyS0 quiet panic=-1").CombinedOutput()
	text := strings.ReplaceAll(string(out), "\r", "")
	if err != nil || !strings.Contains(text, ended+"0\n") {
		t.Fatalf("in a virtual machine: %v\n%s", err, text)
	}
	return text
}

// makeImage makes an initial root file system whose first process runs the tests.
func makeImage(ctx context.Context, root, image string, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"init": initScript, "etc/passwd": []byte("root:x:0:0:root:/root:/bin/sh\n"), "etc/group": []byte("root:x:0:\n"),
		"tests": fmt.Appendf(nil, "%s/test %s\necho '%s'$?\npoweroff -f\n", testScript, strings.Join(args, " "), ended),
	}
	for path, from := range map[string]string{"bin/busybox": busybox, "test": self} {
		if files[path], err = os.ReadFile(from); err != nil {
			return err
		}
	}
	for path, b := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, b, 0o755); err != nil {
			return err
		}
	}
	pack := exec.CommandContext(ctx, busybox, "sh", "-c", `find . | `+busybox+` cpio -o -H newc > "$0"`, image)
	pack.Dir = root
	if out, err := pack.CombinedOutput(); err != nil {
		return fmt.Errorf("pack %s: %w: %s", image, err, out)
	}
	return nil
}
