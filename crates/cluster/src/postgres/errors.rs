//! Translates database errors into text that an operator can act on. The original error is the cause.

use std::time::Duration;

use failwell_fault::{Fault, reason};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

pub(crate) fn because(error: Error) -> Fault {
    let why = error.code().map_or_else(|| unreachable(&error), |code| words(code));
    failed(why).because(error)
}

fn unreachable(error: &Error) -> &'static str {
    if error.is_closed() { "the connection to PostgreSQL was lost" } else { "PostgreSQL cannot be reached" }
}

fn words(code: &SqlState) -> &'static str {
    match code.code() {
        "28P01" => "PostgreSQL does not take the password",
        "28000" => "PostgreSQL does not let this user in",
        "3D000" => "the database does not exist",
        "42501" => "the user may not do this with the tables",
        "25006" => "the database is read-only",
        "42P01" | "42703" | "42804" => "the tables are not as this program makes them",
        "53100" => "the disk of PostgreSQL is full",
        "53300" => "PostgreSQL has too many connections",
        "57P01" | "57P02" => "PostgreSQL is shutting down",
        "57P03" => "PostgreSQL is starting up or shutting down",
        "57014" => "PostgreSQL took too long",
        _ => "PostgreSQL refuses",
    }
}

pub(crate) fn late(limit: Duration) -> Fault {
    failed(format!("PostgreSQL did not answer within {} s", limit.as_secs_f64()))
}

pub(crate) fn failed(why: impl Into<String>) -> Fault {
    Fault::new(&reason::AUDIT_NOT_CARRIED).note("why", why.into())
}
