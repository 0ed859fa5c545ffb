package api

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"skep/grid"
	"skep/node/api/client"
	"skep/node/api/v1"
)

// The capability of a job under access owner is in a file of the data folder, readable by its owner alone, and its
// holder may refer to the job as to any other: by its whole ID, a part of it, or as the last.
func TestClientSavesCapabilities(t *testing.T) {
	f := newFake(t, 1, "alpha")
	f.print = [2]string{"out", ""}
	c, dir, _ := f.open(Options{})
	ctx := context.Background()
	j, err := c.Submit(ctx, client.Draw(), &v1.Spec{Command: []string{"sleep", "60"}, Access: "owner"})
	if err != nil || j.Access != "owner" {
		t.Fatalf("%+v, %v", j, err)
	}
	file := filepath.Join(dir, client.CapabilityFolder, j.ID)
	for path, mode := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v: want mode %o", path, st, err, mode)
		}
	}
	verbs := map[string]func(c *client.Client, ref string) error{
		"describe": func(c *client.Client, ref string) error {
			k, err := c.Job(ctx, ref)
			if err == nil && k.Spec == nil {
				err = errors.New("no spec")
			}
			return err
		},
		"tasks":   func(c *client.Client, ref string) error { _, err := c.Tasks(ctx, ref, 0, 0); return err },
		"explain": func(c *client.Client, ref string) error { _, err := c.Explain(ctx, ref, 0, 0); return err },
		"logs": func(c *client.Client, ref string) error {
			s, err := c.Logs(ctx, ref, 0, false, 0)
			if err == nil {
				s.Close()
			}
			return err
		},
		"wait": func(c *client.Client, ref string) error { _, err := c.Wait(ctx, ref, 0); return err },
	}
	for name, verb := range verbs {
		for _, ref := range []string{j.ID, j.ID[:8], "last"} {
			if err := verb(c, ref); err != nil {
				t.Errorf("%s %s: %v", name, ref, err)
			}
		}
	}
	shown, err := client.ReadCapability(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for name, verb := range verbs {
		if err := verb(c, "last"); (err == nil) != (name == "wait") {
			t.Errorf("%s without the file: %v", name, err)
		}
	}
	if _, err := c.Cancel(ctx, j.ID); err == nil {
		t.Error("cancelled without the file")
	}
	c.Use(shown, grid.JobID{})
	for name, verb := range verbs {
		if err := verb(c, j.ID[:8]); err != nil {
			t.Errorf("%s with it shown: %v", name, err)
		}
	}
	if _, err := c.Cancel(ctx, "last"); err != nil {
		t.Errorf("cancel with it shown: %v", err)
	}
}

// If the node's default is access owner, a submission need not state it, and needs only the file; following the job
// again, after a lost answer, is the same job. Jobs under access members leave no file.
func TestClientSubmitsWhereTheDefaultIsOwner(t *testing.T) {
	f := newFake(t, 1, "alpha")
	c, dir, _ := f.open(Options{Access: grid.AccessOwner})
	ctx := context.Background()
	id, spec := client.Draw(), &v1.Spec{Command: []string{"true"}}
	for range 2 {
		s, err := c.Run(ctx, id, spec, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, e, err := s.Next(); err != nil || e == nil || e.Job == nil || len(e.Job.Command) != 1 {
			t.Fatalf("%+v, %v: want the job, whole", e, err)
		}
		s.Close()
	}
	if p, err := c.List(ctx, new(client.ListQuery)); err != nil || len(p.Jobs) != 1 {
		t.Errorf("%d jobs, %v: want one", len(p.Jobs), err)
	}
	again, err := client.Open(dir) // another process, with the same ID and the spec as a person wrote it
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	s, err := again.Run(ctx, id, &v1.Spec{Command: []string{"true"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f.end(&grid.Result{Cause: grid.Exited, Stdout: grid.Output{Inline: []byte("out"), Size: 3}})
	for over := false; !over; {
		_, e, err := s.Next()
		if errors.Is(err, io.EOF) || err != nil {
			t.Fatal(err)
		}
		over = e != nil && e.Event == v1.EventEnd
	}
	if _, err := c.Submit(ctx, client.Draw(), &v1.Spec{Command: []string{"true"}, Access: "members"}); err != nil {
		t.Error(err)
	}
	if files, err := os.ReadDir(filepath.Join(dir, client.CapabilityFolder)); err != nil || len(files) != 1 {
		t.Errorf("%d files, %v: want one, of the job under access owner", len(files), err)
	}
}
