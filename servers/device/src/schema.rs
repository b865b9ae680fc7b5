//! Schemas of arguments and answers, from their types.

use failwell_fault::{Fault, OrFault, reason};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

pub(crate) fn of_arguments<T: JsonSchema>() -> Result<Value, Fault> {
    schema::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

pub(crate) fn of_answer<T: JsonSchema>() -> Result<Value, Fault> {
    schema::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn schema<T: JsonSchema>(settings: SchemaSettings) -> Result<Value, Fault> {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    let object = schema.ensure_object();
    // Clients insist on an object, and a type without fields says nothing about it.
    object.entry("type").or_insert_with(|| json!("object"));
    object.remove("title");
    serde_json::to_value(schema).or_fault(&reason::SERVER_BUG)
}
