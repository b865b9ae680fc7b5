use failwell_fault::{Fault, reason};

/// Follows work to its end even when its caller does not: a change that was begun is seen through, and written down.
pub async fn see_through<T, E>(work: impl Future<Output = Result<T, E>> + Send + 'static) -> Result<T, E>
where
    T: Send + 'static,
    E: From<Fault> + Send + 'static,
{
    match tokio::spawn(work).await {
        Ok(done) => done,
        // A panic is told by whoever supervises the call.
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(error) => Err(Fault::new(&reason::SERVER_BUG).because(error).into()),
    }
}
