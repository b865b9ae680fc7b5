//! A socket to the examined server, with TLS for `https`.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::address::ServerAddress;

pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// The trusted certificate authorities, read when the first `https` connection is opened.
#[derive(Clone, Default)]
pub(crate) struct Trust {
    /// A PEM file that replaces the authorities of the operating system.
    file: Option<PathBuf>,
    connector: Arc<OnceCell<TlsConnector>>,
}

impl Trust {
    pub(crate) fn new(file: Option<PathBuf>) -> Self {
        Self { file, connector: Arc::default() }
    }

    async fn connector(&self) -> io::Result<&TlsConnector> {
        let file = self.file.clone();
        let make = async move { tokio::task::spawn_blocking(move || connector(file)).await? };
        self.connector.get_or_try_init(|| make).await
    }
}

/// Opens a connection; the error is worded for the report.
pub(crate) async fn dial(address: &ServerAddress, trust: &Trust) -> Result<Box<dyn Stream>, String> {
    let host = address.host_name();
    let socket = TcpStream::connect((host, address.port)).await.map_err(|error| error.kind().to_string())?;
    if !address.is_secure {
        return Ok(Box::new(socket));
    }
    let name = ServerName::try_from(host.to_owned()).map_err(|_| "the host is no name for TLS".to_owned())?;
    let tls = trust.connector().await.map_err(|error| format!("the certificate authorities: {error}"))?;
    let secure = tls.connect(name, socket).await.map_err(|error| format!("TLS: {error}"))?;
    Ok(Box::new(secure))
}

fn connector(file: Option<PathBuf>) -> io::Result<TlsConnector> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(file) => {
            for certificate in CertificateDer::pem_file_iter(file).map_err(io::Error::other)? {
                roots.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
            }
        }
        None => {
            // Unreadable certificates of the system are left out.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
