//! Child processes.

crate::reasons! {
    pub(crate) static ROWS;

    PROCESS_SPAWN = "process/SPAWN" {
        Precondition, ToolFailed, Failwell,
        title: "a program could not be started",
        detail: "a program could not be started: {what} {why}",
        hint: "make sure that the program is installed and its folder exists; `failwell doctor` shows what is missing",
        about: "The program, its folder or its supervisor is missing or not accessible. The program was not started. Names and paths are in the operator's log.",
    }
    PROCESS_UNCONTAINED = "process/UNCONTAINED" {
        Precondition, ToolFailed, Failwell,
        title: "the sandbox is not available on this machine",
        hint: "ask the operator to run `failwell doctor`, which lists the missing kernel features",
        about: "The program runs only in a sandbox, and the kernel does not support it. The program was not started.",
    }
    PROCESS_ENDED = "process/ENDED" {
        Precondition, ToolFailed, Failwell,
        title: "the program has already exited",
        hint: "start the program again",
        about: "A signal was sent to a program that is no longer running.",
    }
}
