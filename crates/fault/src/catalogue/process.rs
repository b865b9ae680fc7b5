//! The workshop, where children are started.

reasons! {
    PROCESS_SPAWN = "process/SPAWN" {
        Precondition, ToolFailed, Failwell,
        title: "a program could not be started",
        detail: "a program could not be started: {what} {why}",
        hint: "make sure that the program is installed and its folder exists; `failwell doctor` shows what is missing",
        about: "The program, its folder or its supervisor is not there or may not be used. Nothing was run. Names and paths are in the operator's log.",
    }
    PROCESS_UNCONTAINED = "process/UNCONTAINED" {
        Precondition, ToolFailed, Failwell,
        title: "this machine cannot keep the program inside its sandbox",
        hint: "ask the operator to run `failwell doctor`; it names what the kernel lacks",
        about: "The program runs only inside a sandbox, and the kernel does not offer one. Nothing was run.",
    }
    PROCESS_ENDED = "process/ENDED" {
        Precondition, ToolFailed, Failwell,
        title: "the program has ended already",
        hint: "start it again",
        about: "A signal was meant for a program that is not running any more.",
    }
}
