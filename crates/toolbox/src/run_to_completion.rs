use failwell_fault::{Fault, reason};

/// Runs work to completion even if its caller goes away. A change that has begun is therefore completed and
/// recorded.
pub async fn run_to_completion<T, E>(
    work: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<Fault> + Send + 'static,
{
    match tokio::spawn(work).await {
        Ok(done) => done,
        // The supervisor of the call reports the panic.
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(error) => Err(Fault::new(&reason::SERVER_BUG).because(error).into()),
    }
}
