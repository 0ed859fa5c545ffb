package attack

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// imageName is the image of the containers. It holds the three programs and nothing else.
const imageName = "skep-attack"

// kinds of containers: as the engine makes them, and with what docs/trust.md says that boxes need.
var kinds = []struct {
	name string
	args []string
}{
	{"container, root", nil},
	{"container, user", []string{"--user", "1000:1000"}},
	{"container that may mount, root", mayMount},
	{"container that may mount, user", append(slices.Clone(mayMount), "--user", "1000:1000")},
}

var mayMount = []string{"--cap-add", "SYS_ADMIN", "--cap-add", "SYS_PTRACE", "--cap-add", "NET_ADMIN", "--security-opt",
	"seccomp=unconfined", "--security-opt", "apparmor=unconfined",
	"--security-opt", "systempaths=unconfined"}

// containers are places in containers of a Docker engine, whose client is the program docker, and what removes their
// image.
func containers(ctx context.Context, dir string) (all []place, remove func()) {
	image, err := makeImage(ctx, dir)
	for _, k := range kinds {
		all = append(all, place{name: k.name, skip: err, start: func(ctx context.Context, args ...string) *exec.Cmd {
			line := append([]string{"run", "--rm", "--init", "--network", "none", "--tmpfs", "/srv:exec,mode=1777"}, k.args...)
			line = append(line, image, "/bin/skep-attack", "-skep", "/bin/skep", "-intruder", "/bin/skep-intruder", "-dir",
				"/srv")
			return exec.CommandContext(ctx, "docker", append(line, args...)...)
		}})
	}
	return all, func() {
		if err == nil {
			exec.Command("docker", "image", "rm", "--force", image).Run()
		}
	}
}

// makeImage makes it of the programs in a folder, and returns its name.
func makeImage(ctx context.Context, dir string) (string, error) {
	name := fmt.Sprintf("%s:%d", imageName, os.Getpid())
	r, w := io.Pipe()
	go func() { w.CloseWithError(writeImage(w, dir)) }()
	defer r.Close()
	cmd := exec.CommandContext(ctx, "docker", "import", "--change", "ENV PATH=/bin", "-", name)
	cmd.Stdin = r
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("there are no containers here: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return name, nil
}

func writeImage(w io.Writer, dir string) error {
	t := tar.NewWriter(w)
	var errs []error
	for name, mode := range map[string]int64{"bin/": 0o755, "etc/": 0o755, "usr/": 0o755, "var/": 0o755, "run/": 0o755,
		"home/": 0o755, "root/": 0o700,
		"tmp/": 0o1777, "srv/": 0o1777} {
		errs = append(errs, t.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: mode}))
	}
	errs = append(errs, t.WriteHeader(&tar.Header{Name: "var/tmp/", Typeflag: tar.TypeDir, Mode: 0o1777}))
	const users = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
	errs = append(errs, t.WriteHeader(&tar.Header{Name: "etc/passwd", Mode: 0o644, Size: int64(len(users))}))
	_, err := io.WriteString(t, users)
	errs = append(errs, err)
	for _, name := range []string{"skep", "skep-attack", "skep-intruder"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = t.WriteHeader(&tar.Header{Name: "bin/" + name, Mode: 0o755, Size: int64(len(b))})
		}
		if err == nil {
			_, err = t.Write(b)
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, t.Close())...)
}
