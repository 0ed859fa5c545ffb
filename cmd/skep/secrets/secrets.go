package secrets

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// Command is what the verbs need of the program. Print adds the flag of the format to a listing, and returns what
// prints it.
type Command struct {
	In     io.Reader
	Out    io.Writer
	Client func() (*client.Client, error)
	Print  func(*cobra.Command) func(v any, table func(*tabwriter.Writer)) error
}

// Verbs returns set, list and remove.
func (c *Command) Verbs() []*cobra.Command { return []*cobra.Command{c.set(), c.list(), c.remove()} }

func name(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || !grid.ValidSecretName(args[0]) {
		return fmt.Errorf("%s: want the name of one secret: at most %d letters, digits and \"._-\", the first a letter or a "+
			"digit", cmd.CommandPath(), grid.MaxSecretName)
	}
	return nil
}

func (c *Command) set() *cobra.Command {
	var on, workers, origins []string
	cmd := &cobra.Command{Use: "set NAME", Short: "Set a secret to what comes on the standard input", Args: name,
		Long: "Set a secret to what comes on the standard input, all of it, 64 KiB at most; or set it anew.\n\n" +
			"The nodes of --on hold it, encrypted on disk. They hand it to a node of --workers that shows that a task was\n" +
			"given to it, of a job that names the secret and was submitted at one of --origins. The task finds it in\n" +
			"$SKEP_SECRETS/NAME, in the memory of its box: see skep run --secret. While none of the nodes that hold it is\n" +
			"connected, such tasks wait.\n\n" +
			"Nodes are IDs, 4 characters or more of their beginnings, names, or self; they must be connected now.",
		Example: "  skep secret set db-password --on store1,store2 --workers gpu1,gpu2 < password.txt",
		RunE: func(cmd *cobra.Command, args []string) error {
			v := v1.SecretValue{On: on, Workers: workers}
			if len(workers) == 1 && workers[0] == "all" {
				v.Workers, v.Anyone = nil, true
			}
			for _, o := range origins {
				user, node, found := strings.Cut(o, "@")
				if !found {
					user, node = "", o
				}
				v.Origins = append(v.Origins, v1.SecretOrigin{Node: node, User: user})
			}
			var err error
			if v.Value, err = c.read(); err != nil {
				return err
			}
			defer clear(v.Value)
			cl, err := c.Client()
			if err != nil {
				return err
			}
			defer cl.Close()
			_, err = cl.SetSecret(cmd.Context(), args[0], &v)
			return err
		}}
	fl := cmd.Flags()
	fl.StringSliceVar(&on, "on", nil, "nodes that hold it (default this one)")
	fl.StringSliceVar(&workers, "workers", nil, "nodes whose tasks may get it, or all (default those of --on)")
	fl.StringSliceVar(&origins, "origins", nil,
		"nodes whose jobs may use it, or USER@NODE: the jobs of that user there (default this node)")
	return cmd
}

// read reads a value. It is never an argument: others of the machine see those.
func (c *Command) read() ([]byte, error) {
	if f, ok := c.In.(*os.File); ok {
		if _, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
			return nil, errors.New("secret: the standard input is a terminal, which would show the value: want a file or a " +
				"pipe, as in skep secret set NAME < FILE")
		}
	}
	b, err := io.ReadAll(io.LimitReader(c.In, int64(grid.MaxSecret)+1))
	if err != nil {
		return nil, fmt.Errorf("secret: read the standard input: %w", err)
	}
	switch {
	case len(b) == 0:
		return nil, fmt.Errorf("secret: the standard input is empty: want a value of 1 to %d bytes", int(grid.MaxSecret))
	case len(b) > int(grid.MaxSecret):
		clear(b)
		return nil, fmt.Errorf("secret: the standard input has more than %d bytes: want a value of at most that",
			int(grid.MaxSecret))
	}
	return b, nil
}

func (c *Command) list() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the secrets that the node has set or holds, without their values",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%s takes no argument, but got %.80q: see %s --help", cmd.CommandPath(), args[0],
					cmd.CommandPath())
			}
			return nil
		}}
	printed := c.Print(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cl, err := c.Client()
		if err != nil {
			return err
		}
		defer cl.Close()
		l, err := cl.Secrets(cmd.Context())
		if err != nil {
			return err
		}
		return printed(&l, func(w *tabwriter.Writer) {
			fmt.Fprintln(w, "NAME\tOWNER\tHELD HERE\tON\tWORKERS\tORIGINS")
			for i := range l.Secrets {
				s := &l.Secrets[i]
				workers, here, on := short(s.Workers), "no", short(s.On)
				if len(s.Former) > 0 {
					on += ", before that " + short(s.Former)
				}
				if s.Anyone {
					workers = "all"
				}
				if s.Held {
					here = "yes"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", s.Name, v1.Short(s.Owner), here, on, workers,
					originsText(s.Origins))
			}
		})
	}
	return cmd
}

func (c *Command) remove() *cobra.Command {
	var anyway bool
	cmd := &cobra.Command{Use: "remove NAME", Short: "Have all nodes that hold a secret forget it", Args: name,
		Long: "Have all nodes that hold a secret of this node forget it. Those that are not connected still have it: the\n" +
			"error names them, and the verb can be repeated. A worker that has got it may have kept it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Client()
			if err != nil {
				return err
			}
			defer cl.Close()
			_, err = cl.RemoveSecret(cmd.Context(), args[0], anyway)
			return err
		}}
	cmd.Flags().BoolVar(&anyway, "anyway", false,
		"forget it here although nodes that hold it cannot be told, as where one does not come back")
	return cmd
}

func short(ids []string) string {
	var all []string
	for _, id := range ids {
		all = append(all, v1.Short(id))
	}
	return strings.Join(all, ",")
}

func originsText(origins []v1.SecretOrigin) string {
	var all []string
	for _, o := range origins {
		text := v1.Short(o.Node)
		if o.User != "" {
			text = o.User + "@" + text
		}
		all = append(all, text)
	}
	return strings.Join(all, ",")
}
