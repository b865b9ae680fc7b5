//! A tool: its definition, its schemas and its handler.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use failwell_fault::{Effect, Fault, OrFault, reason};
use failwell_rpc::Json;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::content::Content;
use crate::context::Context;
use crate::schema::portable::portable_value;
use crate::schema::{Schema, schema_of_arguments, schema_of_result};
use crate::tool_outcome::typed_outcome::TypedOutcome;
use crate::tool_outcome::{ToolOutcome, Verdict};

/// A boxed future that owns its data.
pub type Work<T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>;

type ToolHandler = Arc<dyn Fn(Value, Context) -> Work<ToolOutcome> + Send + Sync>;
type Refusal = Arc<dyn Fn(&Fault) -> Option<Json> + Send + Sync>;

/// A tool that a server offers.
#[derive(Clone)]
pub struct Tool {
    pub(crate) name: &'static str,
    description: &'static str,
    title: Option<&'static str>,
    annotations: Map<String, Value>,
    pub(crate) input: Arc<Schema>,
    output: Option<Arc<Schema>>,
    handler: ToolHandler,
    refusal: Option<Refusal>,
}

/// A parameter that a client must repeat in an HTTP header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderParam {
    /// The name of the member of `arguments`.
    pub member: String,
    /// The header name after `Mcp-Param-`.
    pub header: String,
}

impl Tool {
    /// Creates a tool with typed arguments that returns content.
    pub fn new<A, F, W>(name: &'static str, description: &'static str, handler: F) -> Result<Tool, Fault>
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(A, Context) -> W + Send + Sync + 'static,
        W: Future<Output = Result<ToolOutcome, Fault>> + Send + 'static,
    {
        let handler: ToolHandler = Arc::new(move |arguments, cx| match parse_arguments::<A>(arguments) {
            Ok(arguments) => Box::pin(handler(arguments, cx)),
            Err(fault) => Box::pin(std::future::ready(Err(fault))),
        });
        Tool::assemble(name, description, schema_of_arguments::<A>()?, None, handler)
    }

    /// Creates a tool with typed arguments and a typed result. Both have schemas.
    pub fn typed<A, O, F, W>(name: &'static str, description: &'static str, handler: F) -> Result<Tool, Fault>
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + 'static,
        F: Fn(A, Context) -> W + Send + Sync + 'static,
        W: Future<Output = Result<O, Fault>> + Send + 'static,
    {
        let handler: ToolHandler = Arc::new(move |arguments, cx| match parse_arguments::<A>(arguments) {
            Ok(arguments) => {
                let work = handler(arguments, cx);
                Box::pin(async move { describe(&work.await?) })
            }
            Err(fault) => Box::pin(std::future::ready(Err(fault))),
        });
        let output = schema_of_result::<O>()?;
        Tool::assemble(name, description, schema_of_arguments::<A>()?, Some(output), handler)
    }

    /// Creates a tool with typed arguments and a typed result that has a text of its own.
    pub fn typed_outcome<A, O, F, W>(
        name: &'static str,
        description: &'static str,
        handler: F,
    ) -> Result<Tool, Fault>
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + 'static,
        F: Fn(A, Context) -> W + Send + Sync + 'static,
        W: Future<Output = Result<TypedOutcome<O>, Fault>> + Send + 'static,
    {
        let tool = Tool::new(name, description, move |arguments: A, cx| {
            let work = handler(arguments, cx);
            async move { work.await?.into_outcome() }
        })?;
        tool.with_output_schema(schema_of_result::<O>()?)
    }

    /// Creates a tool with a hand-written schema.
    pub fn dynamic<F, W>(
        name: &'static str,
        description: &'static str,
        input_schema: Value,
        output_schema: Option<Value>,
        handler: F,
    ) -> Result<Tool, Fault>
    where
        F: Fn(Value, Context) -> W + Send + Sync + 'static,
        W: Future<Output = Result<ToolOutcome, Fault>> + Send + 'static,
    {
        let handler: ToolHandler = Arc::new(move |arguments, cx| Box::pin(handler(arguments, cx)));
        Tool::assemble(name, description, input_schema, output_schema, handler)
    }

    /// Sets the output schema. The schema is listed, and structured results are checked against it.
    pub fn with_output_schema(mut self, schema: Value) -> Result<Tool, Fault> {
        self.output = Some(compile(schema)?);
        Ok(self)
    }

    fn assemble(
        name: &'static str,
        description: &'static str,
        input: Value,
        output: Option<Value>,
        handler: ToolHandler,
    ) -> Result<Tool, Fault> {
        let (input, output) = (compile(input)?, output.map(compile).transpose()?);
        let annotations = Map::new();
        Ok(Tool { name, description, title: None, annotations, input, output, handler, refusal: None })
    }

    /// Sets the display name.
    #[must_use]
    pub fn titled(mut self, title: &'static str) -> Tool {
        self.title = Some(title);
        self
    }

    /// Declares that the tool changes nothing.
    #[must_use]
    pub fn read_only(self) -> Tool {
        self.annotated("readOnlyHint", true)
    }

    /// Declares that the tool may destroy data.
    #[must_use]
    pub fn destructive(self) -> Tool {
        self.annotated("destructiveHint", true)
    }

    /// Declares that repeating a call has no further effect.
    #[must_use]
    pub fn idempotent(self) -> Tool {
        self.annotated("idempotentHint", true)
    }

    /// Declares that the tool touches nothing outside this machine.
    #[must_use]
    pub fn closed_world(self) -> Tool {
        self.annotated("openWorldHint", false)
    }

    /// Adds the tool's own structured object to the result of a call with invalid arguments. The fault is
    /// returned as well.
    #[must_use]
    pub fn refusing<F>(mut self, object: F) -> Tool
    where
        F: Fn(&Fault) -> Option<Json> + Send + Sync + 'static,
    {
        self.refusal = Some(Arc::new(object));
        self
    }

    fn annotated(mut self, hint: &str, value: bool) -> Tool {
        self.annotations.insert(hint.to_owned(), Value::Bool(value));
        self
    }

    /// The definition that `tools/list` returns.
    pub(crate) fn definition(&self) -> Value {
        let mut members = Map::new();
        let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
        put("name", json!(self.name));
        if let Some(title) = self.title {
            put("title", json!(title));
        }
        put("description", json!(self.description));
        put("inputSchema", self.input.document().clone());
        if let Some(output) = &self.output {
            put("outputSchema", output.document().clone());
        }
        if !self.annotations.is_empty() {
            put("annotations", Value::Object(self.annotations.clone()));
        }
        Value::Object(members)
    }

    /// Parameters that must be repeated in HTTP headers.
    pub(crate) fn header_params(&self) -> Vec<HeaderParam> {
        let properties = self.input.document().get("properties").and_then(Value::as_object);
        let marked = properties.into_iter().flatten().filter_map(|(member, schema)| {
            let header = schema.get("x-mcp-header")?.as_str()?.to_owned();
            Some(HeaderParam { member: member.clone(), header })
        });
        marked.collect()
    }

    /// Checks the arguments, then runs the handler.
    pub(crate) fn call(&self, arguments: Value, cx: Context) -> Work<ToolOutcome> {
        if let Err(fault) = self.input.check(&arguments) {
            return Box::pin(std::future::ready(self.refuse(fault)));
        }
        let work = (self.handler)(arguments, cx);
        match self.output.clone() {
            Some(output) => Box::pin(async move { keep_promise(work.await?, &output) }),
            None => work,
        }
    }

    fn refuse(&self, fault: Fault) -> Result<ToolOutcome, Fault> {
        match self.refusal.as_ref().and_then(|object| object(&fault)) {
            Some(object) => Ok(ToolOutcome::default().structured(object).failed(fault)),
            None => Err(fault),
        }
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Compiles the schema exactly as it is listed.
fn compile(document: Value) -> Result<Arc<Schema>, Fault> {
    portable_value(document).and_then(Schema::new).map(Arc::new)
}

/// Gives every call of a handler the state that the tools of a server share.
///
/// ```
/// # use std::sync::Arc;
/// # use failwell_fault::Fault;
/// # use failwell_toolbox::{Context, Tool, ToolOutcome, with_state};
/// # struct Shop;
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Buy {}
/// async fn buy(shop: Arc<Shop>, given: Buy, cx: Context) -> Result<ToolOutcome, Fault> {
///     Ok(ToolOutcome::text("bought"))
/// }
///
/// let shop = Arc::new(Shop);
/// let tool = Tool::new("buy", "Buys one.", with_state(&shop, buy))?;
/// # Ok::<(), Fault>(())
/// ```
pub fn with_state<S, A, W>(
    state: &Arc<S>,
    handler: impl Fn(Arc<S>, A, Context) -> W + Send + Sync + 'static,
) -> impl Fn(A, Context) -> W + Send + Sync + 'static
where
    S: Send + Sync + 'static,
{
    let state = state.clone();
    move |arguments, cx| handler(state.clone(), arguments, cx)
}

/// Reads arguments that match their schema already. A deserialization error is therefore reported as one more
/// violation.
pub fn parse_arguments<A: DeserializeOwned>(arguments: Value) -> Result<A, Fault> {
    serde_json::from_value(arguments).map_err(|error| {
        let whole =
            failwell_fault::Violation::new(failwell_fault::Pointer::root(), failwell_fault::Rule::Schema);
        Fault::new(&reason::MCP_BAD_ARGUMENTS).violation(whole).because(error)
    })
}

fn describe<O: Serialize>(result: &O) -> Result<ToolOutcome, Fault> {
    let json = Json::of(result).or_fault(&reason::SERVER_BUG)?;
    Ok(ToolOutcome::default().with(Content::text(json.text())).structured(json))
}

/// Checks a structured result against the tool's output schema.
fn keep_promise(outcome: ToolOutcome, promised: &Schema) -> Result<ToolOutcome, Fault> {
    let Some(structured) = &outcome.structured else {
        return Ok(outcome);
    };
    let value: Value = structured.raw().parse().or_fault(&reason::SERVER_BUG)?;
    let failed = !matches!(outcome.verdict, Verdict::Done);
    if failed || promised.accepts(&value) {
        return Ok(outcome);
    }
    // The tool has done its work; only its result is withheld.
    Err(Fault::new(&reason::SERVER_OUTPUT).with_effect(Effect::Complete).note("result", structured.text()))
}
