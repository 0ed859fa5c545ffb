package v1

import "time"

// Submission submits a job. The caller draws the ID, so that repeating it after a lost answer is the same job.
type Submission struct {
	ID   string `json:"id" doc:"16 characters of a-z and 2-7 drawn by the caller, or the whole ID of a job of this node."`
	Spec Spec   `json:"spec"`
}

// States of a job. A job failed when a task of it did not exit with 0.
const (
	JobHeld      = "held"    // nothing of it has begun, since it waits for other jobs
	JobPending   = "pending" // no task has a node yet
	JobRunning   = "running" // a task is placed or has ended, and not all have ended
	JobDone      = "done"    // all ended with 0
	JobFailed    = "failed"
	JobCancelled = "cancelled"
)

// Job is a job as its origin or owner knows it.
type Job struct {
	ID        string     `json:"id"`
	Name      string     `json:"name,omitempty"`
	Class     string     `json:"class"`
	Origin    string     `json:"origin" doc:"The node it was submitted to."`
	Submitter *Submitter `json:"submitter,omitempty" doc:"Who submitted it, as its origin signed it; none: its origin is of an older version."`
	Access    string     `json:"access" enum:"members,owner" doc:"Who may see its spec, tasks, logs, outputs and explanation, and cancel it: any member, or who has its capability. To others it has no class, command, exit_code, done_at, members, owner, note and spec."`
	State     string     `json:"state" enum:"held,pending,running,done,failed,cancelled"`
	Command   []string   `json:"command"`
	Submitted time.Time  `json:"submitted_at"`
	Done      *time.Time `json:"done_at,omitempty" doc:"When its last task ended."`
	Count     int        `json:"count"`
	JobTasks
	Placed int `json:"placed" doc:"Tasks that have a node: queued and running."`
	Ended  int `json:"ended"`
	JobFailures
	Exit    int32      `json:"exit_code" doc:"Highest exit code of the ended tasks."`
	Members []string   `json:"members,omitempty" doc:"Nodes that keep its record, the origin first; none: the origin alone."`
	Owner   string     `json:"owner,omitempty" doc:"Of members, the one that brings it to its end, as far as is known here."`
	Since   *time.Time `json:"owner_since,omitempty"`
	Note    string     `json:"note,omitempty" doc:"What whoever submitted it should know."`
	Waits   string     `json:"waits,omitempty" doc:"Why nothing happens to the whole job."`
	Behind  bool       `json:"may_be_behind,omitempty" doc:"It is what the answering node heard last: it is not the job's owner, which cannot be asked now, or no majority lets it decide."`
	Spec    *Spec      `json:"spec,omitempty" doc:"Where one job was asked for."`
}

// Submitter is who submitted a job.
type Submitter struct {
	Node string `json:"node"`
	User string `json:"user,omitempty" doc:"Of the operating system there, as that node found."`
}

// Over reports whether nothing more will happen to the job.
func (j *Job) Over() bool { return j.Ended == j.Count }

// ListedJob is a job in a list.
type ListedJob struct {
	Job
	OriginName string `json:"origin_name,omitempty" doc:"Name of the node it was submitted to, if it is known."`
	ToldBy     string `json:"told_by,omitempty" doc:"The node whose word this is, where it is another than the one that was asked."`
}

// JobPage is a part of the jobs of a node or of the grid, newest first.
type JobPage struct {
	Jobs   []ListedJob `json:"jobs"`
	Next   string      `json:"next,omitempty" doc:"Of one node: ask again with after=NEXT for older ones."`
	More   bool        `json:"more,omitempty" doc:"Of the grid: there are older ones."`
	Asked  int         `json:"nodes_asked,omitempty" doc:"Of the grid: how many other nodes were asked."`
	Silent []string    `json:"nodes_silent,omitempty" doc:"Of these, the IDs of those that did not answer in time: jobs that only they know are missing."`
}

// Task is one task of a job.
type Task struct {
	Index uint32 `json:"index"`

	Values map[string]string `json:"values,omitempty" doc:"Of the array's variables; SKEP_LINE only in lists of tasks, and where the file is kept."`

	State   string     `json:"state" enum:"pending,offered,placed,ended"`
	Phase   string     `json:"phase,omitempty" enum:"queued,running,suspended" doc:"Of a task that has a node: it waits there, has started as far as that has said, or has and is stopped in place."`
	Attempt string     `json:"attempt" doc:"EPOCH.N"`
	Ranks   uint32     `json:"ranks,omitempty" doc:"Of a gang: how many ranks this attempt has."`
	Node    string     `json:"node,omitempty" doc:"Where it was placed last."`
	Name    string     `json:"node_name,omitempty"`
	Copy    string     `json:"copy_node,omitempty" doc:"Where a backup attempt is."`
	Lost    int32      `json:"lost_attempts"`
	Waits   *Refusal   `json:"waits,omitempty" doc:"Why it has no node yet, or why its end does not count yet."`
	Placed  *time.Time `json:"placed_at,omitempty"`
	Began   *time.Time `json:"began_at,omitempty"`
	Done    *time.Time `json:"done_at,omitempty"`
	Result  *Result    `json:"result,omitempty"`

	Progress *Progress `json:"progress,omitempty" doc:"What it says of itself while it runs."`

	Standing

	Failures []Failure  `json:"failures,omitempty" doc:"Ends after which it was run again, or is to be: the newest 8, oldest first."`
	RetryAt  *time.Time `json:"retry_at,omitempty" doc:"Its next attempt is not made before."`

	Checkpoint *Checkpoint `json:"checkpoint,omitempty" doc:"Of a task that goes on; of a gang, of its first rank."`
}

// Checkpoint is what there is to say of the checkpoints of a task or gang.
type Checkpoint struct {
	Step    uint64 `json:"step,omitempty" doc:"The newest that is kept: a restart begins from it."`
	From    uint64 `json:"from,omitempty" doc:"The one that the newest attempt began from."`
	Alone   bool   `json:"alone,omitempty" doc:"Fewer than a majority of the nodes that keep the job keep it."`
	Problem string `json:"problem,omitempty" doc:"Why a newer one was not kept."`
}

// TaskPage is a part of a job's tasks, by index.
type TaskPage struct {
	Job   string  `json:"job"`
	Tasks []Task  `json:"tasks"`
	Next  *uint32 `json:"next,omitempty" doc:"Ask again with from=NEXT for the others."`
}

// Result is how a task ended.
type Result struct {
	Cause   string  `json:"cause" doc:"exited, signaled, timed_out, memory_exceeded, cancelled, cannot_execute, not_found, lost, unplaceable, failed or missed"`
	Exit    int32   `json:"exit_code"`
	Error   string  `json:"error,omitempty"`
	Waited  float64 `json:"waited_seconds" doc:"From acceptance to start, at the node that ran it."`
	Wall    float64 `json:"wall_seconds" doc:"From start to end."`
	CPU     float64 `json:"cpu_seconds"`
	MaxRSS  int64   `json:"max_rss_bytes"`
	Stdout  Output  `json:"stdout"`
	Stderr  Output  `json:"stderr"`
	Outputs []File  `json:"outputs,omitempty"`
}

// Output is the size of a task's output on a stream.
type Output struct {
	Size    int64 `json:"size_bytes" doc:"What was kept."`
	Dropped int64 `json:"dropped_bytes" doc:"Printed beyond the bound."`
}

// Refusal is why a node did not take a task, or why a task waits.
type Refusal struct {
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// Explanation is the traces of a job's tasks.
type Explanation struct {
	Job   Job         `json:"job"`
	Tasks []TaskStory `json:"tasks"`
	Nodes []Fitness   `json:"nodes" doc:"The nodes known now, and whether they have what the job needs."`

	After []AfterStory `json:"waits_for,omitempty" doc:"The jobs that it waits for, or waited for."`

	Next *uint32 `json:"next,omitempty" doc:"Ask again with from=NEXT for the others."`
}

// TaskStory is a task's trace, oldest step first.
type TaskStory struct {
	Task    Task     `json:"task"`
	Steps   []Step   `json:"steps"`
	TooLate *TooLate `json:"too_late,omitempty" doc:"Its job's deadline cannot be met by it, as far as is known."`
}

// Step is one step of a trace.
type Step struct {
	At     time.Time `json:"at"`
	What   string    `json:"what" doc:"chosen, accepted, refused, waits, search, call, lost or ended"`
	Node   string    `json:"node,omitempty"`
	Name   string    `json:"node_name,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Detail string    `json:"detail,omitempty"`
	ECT    float64   `json:"ect_seconds,omitempty" doc:"Expected completion time that the choice rested on."`
	News   float64   `json:"news_age_seconds,omitempty" doc:"Age of the news it rested on."`
	Asked  int32     `json:"asked,omitempty" doc:"Nodes polled for the choice."`

	Why    string       `json:"why,omitempty" doc:"Why that node: earliest, near tie (drawn at random from Tied nodes), only, pulled or rule; kept: the policy keeps the task. Absent where the decision is no longer in the node's log."`
	Tied   int32        `json:"tied,omitempty"`
	Nodes  []Considered `json:"considered,omitempty" doc:"The nodes considered, the chosen one first, then by expected completion."`
	More   int32        `json:"more_considered,omitempty" doc:"Further nodes considered."`
	Prices *Prices      `json:"prices,omitempty" doc:"For which the node has refused it. Absent where that is no longer in the node's log."`
	Idle   *Considered  `json:"idle_instead,omitempty" doc:"The idle node that would be done soonest, where the task waits at the chosen one since it is expected to be done sooner there."`
}

// Considered is a node that a task could have gone to. Its expected completion is ready + run + move.
type Considered struct {
	Node    string           `json:"node"`
	Name    string           `json:"node_name,omitempty"`
	ECT     float64          `json:"ect_seconds"`
	Ready   float64          `json:"ready_seconds" doc:"Until the task would start."`
	Run     float64          `json:"run_seconds"`
	Move    float64          `json:"move_seconds"`
	Charged float64          `json:"charged_seconds,omitempty" doc:"Work placed there since, added to the completion where nodes are compared."`
	Basis   string           `json:"rests_on" doc:"What the run time rests on: own results, answer (to a poll), ad, typical (what other nodes tell), track record, unproven, given or default."`
	Results int32            `json:"results,omitempty" doc:"Of own results: how many."`
	News    float64          `json:"news_age_seconds"`
	Price   float64          `json:"price_asked,omitempty" doc:"Its reserve price, where the policy heeds it or its ad told it: lower bids were not to go there."`
	Option  *int             `json:"option,omitempty" doc:"The option of the job, from 0, by which it would end soonest for its value there."`
	Asked   bool             `json:"asked,omitempty" doc:"It was polled for this decision."`
	Chosen  bool             `json:"chosen,omitempty"`
	Options []OptionEstimate `json:"options,omitempty" doc:"What was expected of each option of the job that could run there."`
}

// Fitness says whether a node has what a job needs.
type Fitness struct {
	Node   string  `json:"node"`
	Name   string  `json:"node_name,omitempty"`
	Fits   bool    `json:"fits"`
	Reason string  `json:"reason,omitempty"`
	Detail string  `json:"detail,omitempty"`
	News   float64 `json:"news_age_seconds"`
}
