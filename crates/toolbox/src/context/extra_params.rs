use failwell_rpc::Json;

/// Request members that the pipeline does not read.
#[derive(Debug, Clone, Default)]
pub struct ExtraParams {
    /// Members of `params`. For prompts and completions they include the arguments, verbatim.
    pub params: Option<Json>,
    /// Members of `params._meta`, except those that apply to this session only.
    pub meta: Option<Json>,
}
