package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// completeTime bounds the query to the node while a user waits at a prompt.
const completeTime = 500 * time.Millisecond

func (a *app) completionCmd() *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell", Short: "Print a completion script for a shell",
		Long: "Print a completion script for a shell. It completes IDs of jobs and nodes too.\n\n" +
			"  bash:  source <(skep completion bash)\n  zsh:   source <(skep completion zsh)\n  fish:  skep completion " +
			"fish | source",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(cmd.ValidArgs, args[0]) {
				return fmt.Errorf("completion %q: want bash, zsh, fish or powershell", strings.Join(args, " "))
			}
			return nil
		},
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.out)
			}
			return root.GenBashCompletionV2(a.out, true)
		}}
}

// completeJobs completes IDs of jobs.
func (a *app) completeJobs(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.complete(cmd, args, func(ctx context.Context, c *client.Client) (ids []string) {
		p, _ := c.List(ctx, &client.ListQuery{Limit: 50})
		for _, j := range p.Jobs {
			ids = append(ids, cobra.CompletionWithDesc(v1.Short(j.ID), j.State+" "+j.Name))
		}
		if len(ids) > 0 {
			ids = append(ids, cobra.CompletionWithDesc("last", "the newest"))
		}
		return ids
	})
}

// completeNodes completes IDs of nodes.
func (a *app) completeNodes(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.complete(cmd, args, func(ctx context.Context, c *client.Client) (ids []string) {
		l, _ := c.Nodes(ctx)
		for _, n := range l.Nodes {
			ids = append(ids, cobra.CompletionWithDesc(v1.Short(n.ID), n.State+" "+n.Name))
		}
		return ids
	})
}

func (a *app) complete(cmd *cobra.Command, args []string, f func(context.Context, *client.Client) []string) ([]string,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, err := a.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
	defer cancel()
	return f(ctx, c), cobra.ShellCompDirectiveNoFileComp
}
