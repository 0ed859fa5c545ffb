// Package units gives each running task its own units of the node's counted resources, and its own processors.
//
// The ledger (package exec) counts how many are free, and is where admission is decided; a [Table] says which, and
// holds them until nothing of the task runs any more. So two tasks never have the same one, whatever the ledger says.
// Units are numbered from 0. [Find] looks for the GPUs of the machine: those have device files, which package sandbox
// keeps from the boxes of all other tasks, and names that their libraries know, which a task is told in variables of
// its environment ([Grant.Env]).
//
// Sources:
//
//	[1] NVIDIA driver README, chapter "The /proc file system interface": /proc/driver/nvidia/gpus
//	[2] CUDA C Programming Guide, "CUDA environment variables": CUDA_VISIBLE_DEVICES by UUID or index
//	[3] ROCm documentation, "GPU isolation techniques": ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, device files
//	[4] OpenMP specification, OMP_NUM_THREADS; sched_setaffinity(2)
package units
