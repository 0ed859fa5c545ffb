package testnet

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/moby/moby/client"
)

// imageName is what images are called; the tag is a hash of what is in them.
const imageName = "skep-testnet"

// imageChanges is what the image says beside its files; dockerfile builds the same image. Nothing is pulled.
var imageChanges = []string{"LABEL " + imageLabel + "=1", "ENV PATH=/bin", `ENTRYPOINT ["/bin/skep"]`}

var dockerfile = "FROM scratch\nCOPY " + imageRoot + " /\n" + strings.Join(imageChanges, "\n") + "\n"

// imageRoot is the folder beside a Dockerfile that becomes the image.
const imageRoot = "root/"

// shells are where a static busybox may be: tasks want a shell and its tools.
var shells = []string{"/bin/busybox", "/usr/bin/busybox", "/usr/local/bin/busybox", "/bin/busybox.static",
	"/usr/bin/busybox-static"}

// busybox finds a static busybox.
func busybox() (string, error) {
	for _, name := range shells {
		if _, err := os.Stat(name); err == nil && static(name) == nil {
			return name, nil
		}
	}
	return "",
		fmt.Errorf("no static busybox in %s: the image needs one for the shell of tasks: install it (Debian: apt-get "+
			"install busybox-static; Alpine: apk add busybox-static), "+
			"or use --image with an image of your own, or --processes", strings.Join(shells, ", "))
}

// Imageable says why no image can be made here, whatever the program; nil means that it can.
func Imageable() error {
	_, err := busybox()
	return err
}

// static says why a program does not run in an image that has nothing else.
func static(name string) error {
	f, err := elf.Open(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("%s is linked with shared libraries, which the image does not have: build it with "+
				"CGO_ENABLED=0 (make build does), or use --processes", name)
		}
	}
	return nil
}

// madeImage reports whether the image is one that was made for testnets.
func (t *Net) madeImage() bool { return strings.HasPrefix(t.state.Image, imageName+":") }

// image makes the image where it is not there yet.
func (d *containers) image(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, buildTime)
	defer stop()
	if name := d.t.state.Image; name != "" && !d.t.madeImage() {
		if _, err := d.c.ImageInspect(ctx, name); err != nil {
			return fmt.Errorf("docker: image %s: %w: none is pulled", name, err)
		}
		return nil
	}
	root, err := newRoot(d.t.binary())
	if err != nil {
		return err
	}
	tag, err := root.hash()
	if err != nil {
		return err
	}
	if name := imageName + ":" + tag; d.t.state.Image != name {
		d.t.state.Image = name
		if err := d.t.save(); err != nil { // before it is there, so that Down knows of it
			return err
		}
	}
	if _, err := d.c.ImageInspect(ctx, d.t.state.Image); err == nil {
		return nil
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(root.write(w, "")) }()
	defer r.Close()
	// Imported in one piece: a build would leave parts behind when it is broken off.
	res, err := d.c.ImageImport(ctx, client.ImageImportSource{Source: r, SourceName: "-"}, d.t.state.Image,
		client.ImageImportOptions{Changes: imageChanges})
	if err != nil {
		return fmt.Errorf("docker: make image: %w", err)
	}
	defer res.Close()
	for dec := json.NewDecoder(res); ; {
		var line struct{ Error string }
		if err := dec.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("docker: make image: %w", err)
		}
		if line.Error != "" {
			return fmt.Errorf("docker: make image: %s", line.Error)
		}
	}
}

// root is what is in the image.
type root struct {
	programs map[string]string // what is in /bin, and which file here that is
	links    []string          // names in /bin for busybox
}

func newRoot(binary string) (*root, error) {
	if err := static(binary); err != nil {
		return nil, err
	}
	box, err := busybox()
	if err != nil {
		return nil, err
	}
	list, err := exec.Command(box, "--list").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --list: %w", box, err)
	}
	return &root{map[string]string{"skep": binary, "busybox": box}, strings.Fields(string(list))}, nil
}

// hash names what is in the image.
func (r *root) hash() (string, error) {
	h := sha256.New()
	io.WriteString(h, dockerfile)
	for _, name := range []string{"skep", "busybox"} {
		f, err := os.Open(r.programs[name])
		if err != nil {
			return "", err
		}
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:6]), nil
}

// write writes what is in the image, below a folder, as an archive.
func (r *root) write(w io.Writer, below string) error {
	t := tar.NewWriter(w)
	var errs []error
	put := func(h tar.Header, content string) {
		h.Size = int64(len(content))
		errs = append(errs, t.WriteHeader(&h))
		_, err := io.WriteString(t, content)
		errs = append(errs, err)
	}
	if below != "" {
		put(tar.Header{Name: below, Typeflag: tar.TypeDir, Mode: 0o755}, "")
	}
	for _, dir := range []string{"bin/", "etc/", "usr/", "var/", "root/"} {
		put(tar.Header{Name: below + dir, Typeflag: tar.TypeDir, Mode: 0o755}, "")
	}
	for _, dir := range []string{"tmp/", "var/tmp/"} {
		put(tar.Header{Name: below + dir, Typeflag: tar.TypeDir, Mode: 0o1777}, "")
	}
	put(tar.Header{Name: below + "etc/passwd", Mode: 0o644},
		"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n")
	put(tar.Header{Name: below + "etc/group", Mode: 0o644}, "root:x:0:\nnogroup:x:65534:\n")
	put(tar.Header{Name: below + "usr/bin", Typeflag: tar.TypeSymlink, Linkname: "../bin", Mode: 0o777}, "")
	for _, name := range []string{"skep", "busybox"} {
		errs = append(errs, r.program(t, below, name))
	}
	for _, name := range r.links {
		if name != "busybox" && name != "skep" && !strings.Contains(name, "/") {
			put(tar.Header{Name: below + "bin/" + name, Typeflag: tar.TypeSymlink, Linkname: "busybox", Mode: 0o777}, "")
		}
	}
	return errors.Join(append(errs, t.Close())...)
}

func (r *root) program(t *tar.Writer, below, name string) error {
	f, err := os.Open(r.programs[name])
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err == nil {
		err = t.WriteHeader(&tar.Header{Name: below + "bin/" + name, Size: st.Size(), Mode: 0o755})
	}
	if err == nil {
		_, err = io.Copy(t, f)
	}
	return err
}
