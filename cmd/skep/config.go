package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	v1 "skep/node/api/v1"
)

func (a *app) configCmd() *cobra.Command {
	return parent("config", "Look at settings", a.configShowCmd())
}

func (a *app) configShowCmd() *cobra.Command {
	var out format
	cmd := &cobra.Command{Use: "show",
		Short: "Print the settings that a node in this folder starts with, and where each comes from", Args: noArgs,
		Long: "Print the settings that a node in this folder starts with, and where each comes from: the default, the " +
			"file\n" +
			configName + " in the folder, the environment (SKEP_NAME), or a flag, the last of these.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := loadSettings(a.folder(), cmd.Flags())
			if err != nil {
				return err
			}
			n, err := applySettings(m)
			if err != nil {
				return err
			}
			if len(n.obsolete) > 0 {
				fmt.Fprintln(a.err, "skep:", obsoleteWarning(n.obsolete))
			}
			c := v1.Config{Settings: listSettings(a.folder(), a.dirSource(cmd), m)}
			return out.print(a.out, c, func(w *tabwriter.Writer) {
				row(w, "SETTING", "VALUE", "SOURCE")
				for _, s := range c.Settings {
					row(w, s.Name, orDash(s.Value), s.Source)
				}
			})
		}}
	addSettings(cmd.Flags())
	outputFlag(cmd, &out)
	return cmd
}
