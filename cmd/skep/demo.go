package main
import "github.com/spf13/cobra"
func (a *app) demoCmd() *cobra.Command { return &cobra.Command{Use:"demo"} }
func (a *app) demoTaskCmd() *cobra.Command { return &cobra.Command{Use:"demo-task", Hidden:true} }
