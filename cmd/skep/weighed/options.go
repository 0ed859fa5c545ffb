package weighed

import (
	"fmt"
	"io"

	v1 "skep/node/api/v1"
)

// Options prints how many further nodes a decision weighed, and what was expected of each option of a job at those that
// are known: when the task would end and start so, what the policy found that worth, and what it costs by the prices of
// a node that has refused one. Node names a node in a column, and wait says a time in seconds.
func Options(w io.Writer, s *v1.Step, node func(*v1.Considered) string, wait func(float64) string) {
	if s.More > 0 {
		fmt.Fprintf(w, "\t  and %d more\n", s.More)
	}
	judged, priced, some := columns(s)
	if !some {
		return
	}
	head := "\t  each option\toption\tend\tstart"
	if judged {
		head += "\tutility"
	}
	if priced {
		head += "\tprice\tworth"
	}
	fmt.Fprintln(w, head)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for k := range n.Options {
			o := &n.Options[k]
			mark := " "
			if n.Chosen && n.Option != nil && *n.Option == o.Option {
				mark = "*"
			}
			fmt.Fprintf(w, "\t%s %s\t%d\t%s\t%s", mark, node(n), o.Option, wait(o.ECT+n.Charged), wait(o.Ready+n.Charged))
			if judged {
				fmt.Fprintf(w, "\t%s", number(o.Utility))
			}
			if priced {
				fmt.Fprintf(w, "\t%s\t%s", number(o.Price), number(o.Worth))
			}
			fmt.Fprintln(w)
		}
	}
}

// columns says which columns have something in them, and whether some node had several options.
func columns(s *v1.Step) (judged, priced, some bool) {
	for i := range s.Nodes {
		all := s.Nodes[i].Options
		some = some || len(all) > 1
		for k := range all {
			judged, priced = judged || all[k].Utility != nil, priced || all[k].Price != nil
		}
	}
	return judged, priced, some || judged || priced
}

func number(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.3g", *x)
}

// Prices prints what the options of a job cost at a node that has refused one for prices.
func Prices(w io.Writer, s *v1.Step) {
	if s.Prices == nil {
		return
	}
	for _, o := range s.Prices.Options {
		verdict := "worth its price"
		if o.Price > o.Worth {
			verdict = "too dear"
		}
		fmt.Fprintf(w, "\t  option %d costs %.3g credits there and is worth %.3g: %s\n", o.Option, o.Price, o.Worth, verdict)
	}
}
