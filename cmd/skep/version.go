package main

import (
	"runtime"
	"runtime/debug"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"skep/node/api/v1"
)

// version is set by the linker in a release.
var version = "dev"

func (a *app) versionCmd() *cobra.Command {
	var out format
	cmd := &cobra.Command{Use: "version", Short: "Say what runs", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := thisVersion()
			return out.print(a.out, v, func(w *tabwriter.Writer) {
				row(w, "skep "+v.Version, v.Revision, v.Go, v.OS+"/"+v.Arch)
			})
		}}
	outputFlag(cmd, &out)
	return cmd
}

func thisVersion() v1.Version {
	v := v1.Version{Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value[:min(len(s.Value), 12)]
			}
		}
	}
	return v
}
