package testnet

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"github.com/goccy/go-yaml"
)

// composeSubnet is the network of a compose file, which must say its nodes' addresses beforehand.
const composeSubnet = "10.213.77.0/24"

// ComposeFile is what Compose writes for the program that reads it.
const ComposeFile = "compose.yaml"

// Compose writes what Up would start as containers into a folder that does not exist: a compose file, what its image is
// built from, and the nodes' data folders.
func Compose(dir string, o Options) (err error) {
	if err := o.Spec.check(); err != nil {
		return err
	}
	for _, l := range o.Spec.Links {
		return fmt.Errorf("links: of %s: a compose file cannot say them", l.Of)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	t := &Net{dir: dir, state: state{Name: o.Name, Kind: Containers, Spec: o.Spec, Image: o.Image, Nodes: o.Spec.nodes()}}
	ip := netip.MustParsePrefix(composeSubnet).Addr().Next() // the gateway
	for i := range t.state.Nodes {
		ip = ip.Next()
		t.state.Nodes[i].IP, t.state.Nodes[i].Port = ip.String(), nodePort
	}
	if t.state.Image == "" {
		if err := t.unpack(filepath.Join(dir, "image"), o.Binary); err != nil {
			return err
		}
	}
	if err := t.found(o.Settings); err != nil {
		return err
	}
	b, err := yaml.Marshal(t.compose(o.Image == ""))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ComposeFile), b, 0o600)
}

// unpack writes what the image is built from into a folder.
func (t *Net) unpack(dir, binary string) error {
	root, err := newRoot(binary)
	if err != nil {
		return err
	}
	tag, err := root.hash()
	if err != nil {
		return err
	}
	t.state.Image = imageName + ":" + tag
	r, w := io.Pipe()
	defer r.Close()
	go func() { w.CloseWithError(root.write(w, imageRoot)) }()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(dockerfile), 0o600); err != nil {
		return err
	}
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = unpackOne(filepath.Join(dir, h.Name), h, in)
		}
		if err != nil {
			return fmt.Errorf("image: %w", err)
		}
	}
}

func unpackOne(name string, h *tar.Header, in io.Reader) error {
	switch h.Typeflag {
	case tar.TypeSymlink:
		return os.Symlink(h.Linkname, name)
	case tar.TypeDir:
		if err := os.MkdirAll(name, 0o755); err != nil {
			return err
		}
		return os.Chmod(name, h.FileInfo().Mode())
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, h.FileInfo().Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	return errors.Join(err, f.Close())
}

// compose is the content of the compose file.
func (t *Net) compose(build bool) yaml.MapSlice {
	var services yaml.MapSlice
	for i := range t.state.Nodes {
		n := &t.state.Nodes[i]
		s := yaml.MapSlice{{Key: "image", Value: t.state.Image}}
		if build {
			s = append(s, yaml.MapItem{Key: "build", Value: "./image"})
		}
		s = append(s,
			yaml.MapItem{Key: "hostname", Value: n.Name},
			yaml.MapItem{Key: "command", Value: []string{"--data-dir", nodeMount, "up"}},
			yaml.MapItem{Key: "user", Value: fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())},
			yaml.MapItem{Key: "init", Value: true},
			yaml.MapItem{Key: "cap_add", Value: capabilities},
			yaml.MapItem{Key: "security_opt", Value: append(slices.Clone(unconfined), "systempaths=unconfined")},
			yaml.MapItem{Key: "volumes", Value: t.volumes(n)},
			yaml.MapItem{Key: "networks", Value: yaml.MapSlice{{Key: "grid",
				Value: yaml.MapSlice{{Key: "ipv4_address", Value: n.IP}}}}})
		if n.MaxCPUs > 0 {
			s = append(s, yaml.MapItem{Key: "cpus", Value: n.MaxCPUs})
		}
		if n.MaxMemory > 0 {
			s = append(s, yaml.MapItem{Key: "mem_limit", Value: n.MaxMemory})
		}
		services = append(services, yaml.MapItem{Key: n.Name, Value: s})
	}
	grid := yaml.MapSlice{{Key: "ipam",
		Value: yaml.MapSlice{{Key: "config", Value: []yaml.MapSlice{{{Key: "subnet", Value: composeSubnet}}}}}}}
	return yaml.MapSlice{{Key: "services", Value: services},
		{Key: "networks", Value: yaml.MapSlice{{Key: "grid", Value: grid}}}}
}

func (t *Net) volumes(n *Node) []string {
	v := []string{"./nodes/" + n.Name + "/" + dataName + ":" + nodeMount}
	if s := t.state.Spec.Shared; s != "" {
		v = append(v, s+":"+s)
	}
	return v
}
