package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"skep/cmd/skep/secrets"
)

const dataDirEnv = "SKEP_DATA_DIR"

// root returns the command tree.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "skep",
		Short: "A compute grid with no server",
		Long: "Skep turns a set of machines into one compute grid that has no server.\n\n" +
			"Run `skep up` on each, then `skep run -- CMD ARGS` on any of them.",
		SilenceErrors: true, SilenceUsage: true,
		Args: noVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.PersistentFlags().StringVar(&a.dataDir, "data-dir", "",
		"folder of the node; names the node on this machine (default "+dataHome()+")")
	root.PersistentFlags().StringVar(&a.remote, "remote", "",
		"file with what skep node token --api printed on another machine: ask the node there; or the variable "+remoteEnv)
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "show no progress on the error stream")
	root.Version = thisVersion().Version
	root.SetVersionTemplate("skep {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(a.upCmd(), a.runCmd(), a.execCmd(), a.jobCmd(), a.nodeCmd(), a.configCmd(), a.versionCmd(),
		a.completionCmd(), a.topCmd(), a.adviseCmd(), a.demoCmd(), a.demoTaskCmd(), a.simCmd(), a.testnetCmd(),
		a.isolationCmd(), a.slurmStepCmd(), a.auditCmd(), a.secretCmd(), a.members().Root())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w%s: see %s --help", flagError(err), nearFlag(cmd, err), cmd.CommandPath())
	})
	return root
}

// secretCmd has the verbs about secrets.
func (a *app) secretCmd() *cobra.Command {
	c := secrets.Command{In: a.in, Out: a.out, Client: a.client,
		Print: func(cmd *cobra.Command) func(any, func(*tabwriter.Writer)) error {
			out := new(format)
			outputFlag(cmd, out)
			return func(v any, table func(*tabwriter.Writer)) error { return out.print(a.out, v, table) }
		}}
	return parent("secret", "Secrets for tasks: set, list, remove", c.Verbs()...)
}

// flagError says which values a flag takes, in the style of the other messages.
func flagError(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	want := bad.Unwrap().Error()
	switch bad.GetFlag().Value.Type() {
	case "bool":
		want = "want true or false"
	case "duration":
		want = "want a length of time, as in 90s or 10m"
	case "int", "int64", "uint", "uint32", "uint64":
		want = "want a whole number"
	case "float64":
		want = "want a number"
	}
	return fmt.Errorf("--%s %.80q: %s", bad.GetFlag().Name, bad.GetValue(), want)
}

// nearFlag suggests the flag that an unknown one may have been meant for.
func nearFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return ""
	}
	// the distance between names is the library's, of commands
	flags := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	near := flags.SuggestionsFor(unknown.GetSpecifiedName())
	if len(near) == 0 {
		return ""
	}
	return " (did you mean --" + strings.Join(near, " or --") + "?)"
}

// folder returns the data folder: the flag's, else the environment's, else the user's.
func (a *app) folder() string {
	if a.dataDir != "" {
		return a.dataDir
	}
	if d := os.Getenv(dataDirEnv); d != "" {
		return d
	}
	return dataHome()
}

// dataHome returns the default data folder.
func dataHome() string {
	if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "skep")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "skep"
	}
	return filepath.Join(home, ".local", "share", "skep")
}

// parent returns a command that only has subcommands.
func parent(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: noVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(subs...)
	return c
}

// noVerb rejects an unknown subcommand.
func noVerb(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		meant := ""
		cmd.SuggestionsMinimumDistance = 2 // or it is 0 where nobody set it
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			meant = " (did you mean " + strings.Join(near, " or ") + "?)"
		}
		return fmt.Errorf("unknown command %q%s: see %s --help", args[0], meant, cmd.CommandPath())
	}
	return nil
}

// noArgs and oneArg check the number of arguments and name what is missing.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no argument, but got %.80q: see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}

func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s: want %s", cmd.Name(), what)
		}
		return nil
	}
}
