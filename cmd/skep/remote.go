package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"skep/grid"
	"skep/node/api/client"
)

// remoteEnv is the environment variable with the URL of a node's API on another machine, or a file that has it.
const remoteEnv = "SKEP_REMOTE"

// maxRemote bounds the file of --remote in bytes.
const maxRemote = 4 << 10

// client returns a client of the selected node, which uses the capability of --capability.
func (a *app) client() (*client.Client, error) {
	c, err := a.open()
	if err != nil {
		return nil, err
	}
	c.Tell(func(s string) { fmt.Fprintln(a.err, "skep:", s) })
	if a.capabilityFile == "" {
		return c, nil
	}
	capability, err := client.ReadCapability(a.capabilityFile)
	if err != nil {
		return nil, fmt.Errorf("--capability: %w", err)
	}
	if info, err := os.Stat(a.capabilityFile); err == nil && readableByOthers(info) {
		fmt.Fprintf(a.err,
			"skep: %s can be read by others (mode %#o): whoever reads it can see and cancel the job: want mode 0600\n",
			a.capabilityFile, info.Mode().Perm())
	}
	of, _ := grid.ParseJobID(filepath.Base(a.capabilityFile)) // under another name it is used for any job
	c.Use(capability, of)
	return c, nil
}

// open returns a client of the node that --data-dir names, else of the remote one of --remote or the environment, else
// of that in the default folder.
func (a *app) open() (*client.Client, error) {
	if a.remote != "" && a.dataDir != "" {
		return nil, errors.New("--remote and --data-dir: name two nodes: want one of them")
	}
	name, from := a.remote, "--remote"
	if name == "" && a.dataDir == "" {
		name, from = os.Getenv(remoteEnv), remoteEnv
	}
	if name == "" {
		return client.Open(a.folder())
	}
	text := name
	switch {
	case !isURL(name):
		b, err := readRemote(name)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", from, name, err)
		}
		text = b
	case from != remoteEnv:
		return nil, fmt.Errorf("--remote: want the name of a file that holds it, since others can see "+
			"what stands on a command line; or the variable %s", remoteEnv)
	}
	r, err := client.ParseRemote(text)
	if err != nil {
		return nil, err
	}
	return client.OpenRemote(r, a.folder()), nil
}

func isURL(s string) bool { return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") }

// readRemote reads the file of --remote: the URL alone, or the line that skep node token --api prints.
func readRemote(name string) (string, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("is not there: want a file with what skep node token --api prints")
	}
	if err != nil {
		return "", errors.Unwrap(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRemote))
	text := strings.TrimSpace(string(b))
	text = strings.TrimPrefix(text, "export ")
	text = strings.TrimPrefix(text, remoteEnv+"=")
	return strings.Trim(text, `'"`), err
}

// remoteLine returns a shell command with which another machine's shell uses the API of the node in a folder.
func remoteLine(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, client.RemoteName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the node in %s does not run, or listens at its socket alone: "+
			"start it with skep up --api ADDRESS:PORT", dir)
	}
	return fmt.Sprintf("export %s='%s'", remoteEnv, strings.TrimSpace(string(b))), err
}

// credentials matches what is before the host in a URL.
var credentials = regexp.MustCompile(`(https?://)[^@/\s"']+@`)
