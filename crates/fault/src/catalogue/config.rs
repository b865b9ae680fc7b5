//! The operator's configuration.

crate::reasons! {
    pub(crate) static ROWS;

    CONFIG_INVALID = "config/INVALID" {
        Precondition, Configuration, Failwell,
        title: "the configuration is wrong",
        hint: "ask the operator to run `failwell check`",
        about: "The server was started with settings that it cannot use. `failwell check` lists all of them.",
    }
    CONFIG_PLUGIN = "config/PLUGIN" {
        Precondition, PluginLoad, Failwell,
        title: "an extension did not load",
        hint: "ask the operator to run `failwell check`",
        about: "A guard or an extension of the configuration could not be loaded. The server does not serve requests without it.",
    }
}
