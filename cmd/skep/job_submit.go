package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"skep/cmd/skep/arrays"
	"skep/cmd/skep/order"
	"skep/cmd/skep/progress"
	"skep/document"
	"skep/node/api/client"
	"skep/node/api/v1"
)

// printSubmitted prints the ID of a submitted job, or all of what was made; what and how many for people.
func (a *app) printSubmitted(j *v1.Job, values *arrays.Values, out format) error {
	a.printNote(j)
	s := arrays.Summarize(j, values)
	if out.isTable() && j.Count > 1 {
		fmt.Fprintf(a.err, "skep: job %s: %s\n", v1.Short(j.ID), s.Text())
	}
	return out.print(a.out, s, func(w *tabwriter.Writer) { row(w, j.ID) })
}

// printNote prints the node's note about a submitted job.
func (a *app) printNote(j *v1.Job) {
	if j.Note != "" {
		fmt.Fprintf(a.err, "skep: job %s: %s\n", v1.Short(j.ID), j.Note)
	}
}

func (a *app) jobSubmitCmd() *cobra.Command {
	var access string
	var out format
	var after order.Refs
	cmd := &cobra.Command{
		Use: "submit FILE|-", Short: "Submit a job file and print the job's ID",
		Long: "Submit a job file, or one from the standard input, and print the job's ID; of several tasks also, as a " +
			"message, how many\nthere are and the values of the first and the last.\n\n" +
			"A file with the key jobs has several jobs, each under its name, by which the others refer to it in after, " +
			"after_ok,\nafter_each and inputs. They are submitted in an order in which each comes after those that it waits " +
			"for; their IDs are\nprinted in that order, each with its name.\n\n" +
			"Paths in it are relative to the file's own folder.",
		Args: oneArg("a job file, or - for the standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := a.readFile(args[0])
			if err != nil {
				return err
			}
			p := submission{app: a, name: args[0], dir: filepath.Dir(args[0]), known: map[string]*v1.Job{}}
			if p.name == "-" {
				p.name, p.dir = "standard input", "."
			}
			if p.jobs, err = readJobs(p.name, b); err != nil {
				return err
			}
			if err := cmp.Or(after.Parse(), prefixed("--access ", checkAccess(access))); err != nil {
				return err
			}
			for _, j := range p.jobs {
				if err := j.order.Add(&after); err != nil {
					return fmt.Errorf("--%w", err)
				}
				j.spec.Access = cmp.Or(access, j.spec.Access)
			}
			if err := p.collect(); err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			line, done := a.passingDisplay()
			defer done()
			made, err := p.submit(cmd.Context(), c, line)
			if err != nil {
				return err
			}
			return p.print(made, out)
		}}
	outputFlag(cmd, &out)
	accessFlag(cmd, &access)
	after.AddFlags(cmd)
	return cmd
}

// prefixed puts a flag before an error, if it is one.
func prefixed(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%w", flag, err)
}

// submission is the jobs of a file on their way.
type submission struct {
	*app
	name, dir string // of the file
	jobs      []*jobFile
	files     [][]inputFile
	known     map[string]*v1.Job // those that were submitted, by name
}

// readJobs parses a job file with one job, or with several under the key jobs. These are in the order of their
// submission.
func readJobs(name string, b []byte) ([]*jobFile, error) {
	f := &document.Reader{Name: name}
	body, err := f.Parse(b)
	if err != nil {
		return nil, err
	}
	list := order.Jobs(f, body)
	if list == nil {
		j, err := readJob(name, b)
		return []*jobFile{j}, err
	}
	jobs, names, refs := make([]*jobFile, len(list)), make([]string, len(list)), make([]order.Refs, len(list))
	for i, e := range list {
		jobs[i], names[i] = &jobFile{lines: map[string]int{}}, e.Key
		jobs[i].read(f, e.Value)
		jobs[i].spec.Name = cmp.Or(jobs[i].spec.Name, e.Key)
		jobs[i].as, refs[i] = e.Key, jobs[i].order
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	var problems []error
	for _, j := range jobs {
		if _, err := j.checked(name); err != nil {
			problems = append(problems, fmt.Errorf("job %s: %w", j.as, err))
		}
	}
	sorted, err := order.Sort(names, refs)
	if err != nil {
		problems = append(problems, fmt.Errorf("%s: %w", name, err))
	}
	inOrder := make([]*jobFile, 0, len(jobs))
	for _, i := range sorted {
		inOrder = append(inOrder, jobs[i])
	}
	return inOrder, errors.Join(problems...)
}

// collect finds all input files before anything is sent.
func (p *submission) collect() error {
	for _, j := range p.jobs {
		if err := j.readLines(p.name, p.dir, p.in); err != nil {
			return err
		}
		files, err := collectInputs(&j.spec, j.inputs, p.dir, j.values)
		if err != nil {
			return err
		}
		p.files = append(p.files, files)
	}
	return nil
}

// submit submits the jobs. If one cannot be, those that were are cancelled.
func (p *submission) submit(ctx context.Context, c *client.Client, line *progress.Display) (made []*v1.Job,
	err error) {
	defer line.Close()
	for i, j := range p.jobs {
		job, err := p.submitOne(ctx, c, j, p.files[i], line)
		if err != nil {
			for _, done := range made {
				if _, failed := c.Cancel(ctx, done.ID); failed == nil {
					fmt.Fprintf(p.err, "skep: job %s (%s) is cancelled again\n", v1.Short(done.ID), done.Name)
				}
			}
			if j.as != "" {
				err = fmt.Errorf("job %s: %w", j.as, err)
			}
			return nil, err
		}
		made = append(made, job)
		p.known[cmp.Or(j.as, job.ID)] = job
	}
	return made, nil
}

func (p *submission) submitOne(ctx context.Context, c *client.Client, j *jobFile, files []inputFile,
	line *progress.Display) (*v1.Job, error) {
	if err := j.order.Resolve(ctx, c, p.known, &j.spec); err != nil {
		return nil, err
	}
	if err := upload(ctx, c, &j.spec, files, line); err != nil {
		return nil, err
	}
	if j.stdin != "" {
		var err error
		if j.spec.Stdin, err = uploadStdin(ctx, c, absolute(p.dir, j.stdin), line); err != nil {
			return nil, err
		}
	}
	job, err := c.Submit(ctx, client.Draw(), &j.spec)
	return &job, err
}

// print prints the IDs, or all of what was made.
func (p *submission) print(made []*v1.Job, out format) error {
	if p.jobs[0].as == "" {
		return p.printSubmitted(made[0], p.jobs[0].values, out)
	}
	all := struct {
		Jobs []*arrays.Summary `json:"jobs"`
	}{}
	for i, j := range made {
		p.printNote(j)
		all.Jobs = append(all.Jobs, arrays.Summarize(j, p.jobs[i].values))
	}
	return out.print(p.out, all, func(w *tabwriter.Writer) {
		for i, s := range all.Jobs {
			row(w, s.ID, p.jobs[i].as)
		}
	})
}

// uploadStdin uploads a file that tasks read as their standard input.
func uploadStdin(ctx context.Context, c *client.Client, name string, line *progress.Display) (*v1.Stdin, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("stdin: %w", err)
	}
	var s v1.Spec
	file := inputFile{source: name, to: v1.File{Size: info.Size()}}
	if err := upload(ctx, c, &s, []inputFile{file}, line); err != nil {
		return nil, fmt.Errorf("stdin: %w", err)
	}
	return &v1.Stdin{Blob: s.Inputs[0].Blob, Size: s.Inputs[0].Size}, nil
}
