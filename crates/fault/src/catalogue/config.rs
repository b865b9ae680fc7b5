//! The operator's configuration.

crate::reasons! {
    pub(crate) static ROWS;

    CONFIG_INVALID = "config/INVALID" {
        Precondition, Configuration, Failwell,
        title: "the configuration is wrong",
        hint: "ask the operator to run `failwell check`",
        about: "The server was started with settings that it cannot use. `failwell check` lists all of them.",
    }
    CONFIG_UNREADABLE = "config/UNREADABLE" {
        Denied, NotAllowed, Failwell,
        title: "the configuration may not be read",
        hint: "ask the operator to let the user who starts the server read the file",
        about: "The operating system does not let the server read its configuration. The server does not serve requests without it.",
    }
    CONFIG_PLUGIN = "config/PLUGIN" {
        Precondition, PluginLoad, Failwell,
        title: "an extension did not load",
        hint: "ask the operator to run `failwell check`",
        about: "A guard or an extension of the configuration could not be loaded or started. The server does not serve requests without it.",
    }
}
