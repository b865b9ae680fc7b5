//! The operator's own settings.

reasons! {
    CONFIG_INVALID = "config/INVALID" {
        Precondition, Configuration, Failwell,
        title: "the configuration is wrong",
        hint: "ask the operator to run `failwell check`",
        about: "The server was started with settings it cannot work with. `failwell check` names every one of them.",
    }
    CONFIG_PLUGIN = "config/PLUGIN" {
        Precondition, PluginLoad, Failwell,
        title: "an extension did not load",
        hint: "ask the operator to run `failwell check`",
        about: "A guard or an extension named in the configuration could not be loaded, so requests are not served without it.",
    }
}
